/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_BERTH_H
#define WEFT_RECORD_BERTH_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A berth is where a cruise keeps its parts (parts.h), by a name, so that a cruise of the same name finds them after a
 * kill: in a filesystem that lies in memory, /run/weft or /dev/shm. If neither has room for what the cruise may hold,
 * the parts in /run/weft have only its metadata: then a kill leaves what the kernel holds.
 */
struct berth {
	char output[96]; /* parts_new() makes the parts beside it; no file of that name is ever made */
	bool holds;      /* the spools may lie there, too */
};

/* `need`: the bytes that the spools may take. Call it after undo_new(), which makes /run/weft. */
struct berth berth_find(const char *name, uint64_t need);

/* Whether parts lie in a berth: the file of these is made elsewhere. *ret: the name of the file, in `parts`. */
bool berth_has(const char *parts, char **ret);

/*
 * Calls `each` with the path of every parts directory that a killed cruise of this name left. Returns 0, or the first
 * non-zero value of `each`.
 */
int must_check berth_each(const char *name, int (*each)(const char *parts, void *data), void *data);

#endif
