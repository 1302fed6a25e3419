/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_SHARED_H
#define WEFT_KERNEL_UNDO_SHARED_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/tracing.h"

struct fail;

/*
 * Shares saved_cmdlines_size between recordings. All instances have one value, and a change empties the cache of names,
 * which others may need. So the first recording notes the size that it found; later recordings only raise it; the last
 * one to end restores it, unless somebody else has changed it. A locked file in `dir` lists the recordings. If a
 * process has ended without leaving the list, the next user removes its line.
 */
struct shared;

/*
 * Raises saved_cmdlines_size to at least `entries` and joins the list. dir NULL: UNDO_DIR. shared_cmdlines_leave()
 * frees *ret.
 */
int must_check shared_cmdlines_raise(const struct tracing *tracing, const char *dir, uint32_t entries,
				     struct shared **ret, struct fail *fail);
/* Leaves the list and frees `shared`, which may be NULL. Read saved_cmdlines before this call. */
int shared_cmdlines_leave(struct shared *shared, struct fail *fail);

/*
 * Removes users that have ended, and restores the size if no user is left. Part of `weft recover`. Returns 1 if the
 * size was restored.
 */
int must_check shared_cmdlines_recover(const struct tracing *tracing, const char *dir, struct fail *fail);

#endif
