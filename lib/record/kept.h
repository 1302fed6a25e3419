/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_KEPT_H
#define WEFT_RECORD_KEPT_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct spool;

struct kept {
	uint64_t events;
	uint64_t lost; /* in the gaps that pages tell of, as far as they had room for how many */
};

/*
 * Counts the events of the pages that a spool kept. A recorder decodes nothing, and usually the kernel's counters say how many events
 * it took. They do not say it in three cases: the spool dropped old pages (a maximal size), somebody cleared the buffer meanwhile, or the
 * pages were extracted (a snapshot has no counters, and the counters of a buffer that is written to are of another moment).
 */
int must_check kept_count(const struct spool *spool, struct kept *ret, struct fail *fail);

#endif
