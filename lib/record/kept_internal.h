/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_KEPT_INTERNAL_H
#define WEFT_RECORD_KEPT_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct spool;

struct kept {
	uint64_t events;
	uint64_t lost; /* lost events, as far as the pages have their number */
};

/*
 * Counts the events in the pages that a spool kept. A recorder does not decode pages, and usually the kernel's counters
 * tell how many events it took. They do not in three cases: the spool dropped old pages because of a maximum size;
 * another program cleared the buffer; or the pages were extracted (a snapshot has no counters, and those of a live
 * buffer are of another moment).
 */
int must_check kept_count(const struct spool *spool, struct kept *ret, struct fail *fail);

#endif
