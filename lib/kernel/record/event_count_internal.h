/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_EVENT_COUNT_INTERNAL_H
#define WEFT_KERNEL_RECORD_EVENT_COUNT_INTERNAL_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct spool;

struct event_count {
	uint64_t events;
	uint64_t lost;  /* lost events, as far as the pages have their number */
	uint64_t first; /* those of them before the first page */
};

/*
 * Counts the events in the pages that a spool kept. A recorder does not decode pages, and usually the kernel's counters
 * tell how many events it took. They do not in three cases: the spool dropped old pages because of a maximum size;
 * another program cleared the buffer; or the pages were extracted (a snapshot has no counters, and those of a live
 * buffer are of another moment).
 */
int must_check event_count_count(const struct spool *spool, struct event_count *ret, struct fail *fail);

#endif
