/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_KEPT_H
#define WEFT_RECORD_KEPT_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct spool;

/*
 * Counts the events of the pages that a spool kept. Recorders decode nothing; this is for the few spools that gave pages up
 * for a maximal size, and so hold no more than that: without it nobody could say how many events are gone.
 */
int must_check kept_count(const struct spool *spool, uint64_t *ret, struct fail *fail);

#endif
