/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_KEPT_H
#define WEFT_RECORD_KEPT_H

#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct spool;

/*
 * Counts the events of the pages that a spool holds. Recorders decode nothing, and the kernel's counts tell what they took; this
 * is for spools that gave pages up for a maximal size, and for an extraction, of whose pages no counts tell: a snapshot has
 * none, and those of a buffer that goes on are of another moment.
 */
int must_check kept_count(const struct spool *spool, uint64_t *ret, struct fail *fail);

#endif
