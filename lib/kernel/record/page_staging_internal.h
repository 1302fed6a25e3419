/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_PAGE_STAGING_INTERNAL_H
#define WEFT_KERNEL_RECORD_PAGE_STAGING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/ring/page.h"

struct fail;
struct spool;

/*
 * A staging is the memory in which pages lie from the moment they leave the kernel until they are a chunk of the spool.
 * It is shared with a file beside the spool, so that a kill leaves them.
 *
 * Invariant: the pages that have landed begin at `pages`, and the page behind them begins with a time stamp of 0. What
 * a kill leaves is found by that, and by the spool's last page: nobody counts. What is in the kernel's pipe between the
 * two calls of splice() is lost with the process: `fetching` tells that there may be something.
 */
struct page_staging {
	char *pages;
	size_t size; /* bytes of pages that have room */
	size_t used; /* bytes that may have a page */
	uint32_t page_size;
	struct page_staging_head *head; /* before the pages, in the same memory */
	bool shared;
};

/* `dir`: of the parts, or -1: nothing can be left, the memory belongs to this process. `size`: whole pages. */
int must_check page_staging_new(int dir, uint32_t buffer, uint32_t cpu, uint32_t page_size, size_t size,
				struct page_staging **ret, struct fail *fail);
void page_staging_free(struct page_staging *staging);

/* Before pages are fetched: none has landed. */
void page_staging_clear(struct page_staging *staging);

/* Whether pages may be on their way, in a pipe of this process. */
void page_staging_fetching(struct page_staging *staging, bool fetching);

/* What a killed recorder left. The caller frees `pages`. */
struct landed {
	char *pages;
	size_t len;    /* bytes of whole pages that the spool does not have */
	bool fetching; /* pages that were on their way behind these are lost, if there were any */
};

/* No staging, or one without a sense, leaves nothing. `spool` is complete: spool_open(). */
int must_check page_staging_left(int dir, uint32_t buffer, uint32_t cpu, const struct spool *spool, struct landed *ret,
				 struct fail *fail);

#endif
