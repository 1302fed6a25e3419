/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_SHARED_H
#define WEFT_UNDO_SHARED_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/tracing.h"

#include <stdint.h>

struct fail;

/*
 * saved_cmdlines_size exists once for all instances, and changing it empties the cache that others rely on. So recordings
 * share it: the first remembers the size it found, a later one only raises it, the last to leave puts it back, unless
 * somebody else changed it meanwhile. Who shares is written in a locked file in `dir`; users that died are dropped by
 * whoever looks next.
 */
struct shared;

/* dir NULL: UNDO_DIR. Raises saved_cmdlines_size to at least `entries`. */
int must_check shared_cmdlines_raise(const struct tracing *tracing, const char *dir, uint32_t entries,
				     struct shared **ret, struct fail *fail);
/* Leaves, and frees. NULL is a no-op. Read saved_cmdlines before. */
int shared_cmdlines_leave(struct shared *shared, struct fail *fail);

/* Drops users that died and puts the size back when none is left: part of `weft recover`. 1: something was put back. */
int must_check shared_cmdlines_recover(const struct tracing *tracing, const char *dir, struct fail *fail);

#endif
