/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_CHECK_H
#define WEFT_PAGES_TRACE_CHECK_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct trace;

/*
 * Verifies the container of an opened trace.dat: that every section and every chunk of pages can be decompressed, that
 * nothing overlaps and that no bytes are left over. Damage that opening found (trace_damage()) is not reported again.
 * The content of the pages is not part of the container: lib/meaning/event walks it.
 */
struct check_summary {
	uint64_t sections, chunks;
	uint64_t pages; /* bytes, uncompressed */
};

/* `found` is called for each problem: a text without a full stop, and the offset it is about. */
int must_check trace_check(struct trace *trace, void (*found)(void *arg, uint64_t offset, const char *text), void *arg,
			   struct check_summary *ret, struct fail *fail);

#endif
