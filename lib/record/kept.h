/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_KEPT_H
#define WEFT_RECORD_KEPT_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct spool;

struct kept {
	uint64_t events;
	uint64_t lost;                  /* in the gaps that pages tell of, as far as they had room for how many */
};

/*
 * Counts the events of the pages that a spool holds. Recorders decode nothing, and the kernel's counts tell what they took; this
 * is for spools that gave pages up for a maximal size, for buffers that somebody cleared, and for an extraction, of whose pages no
 * counts tell: a snapshot has none, and those of a buffer that goes on are of another moment.
 */
int must_check kept_count(const struct spool *spool, struct kept *ret, struct fail *fail);

#endif
