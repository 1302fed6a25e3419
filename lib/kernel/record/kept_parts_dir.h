/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_KEPT_PARTS_DIR_H
#define WEFT_KERNEL_RECORD_KEPT_PARTS_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

/*
 * The directory where a flight recording keeps its parts (parts.h), by a name, so that one of the same name finds them
 * after a kill: in a filesystem that lies in memory, /run/weft or /dev/shm. If neither has room for what the recording
 * may hold, the parts in /run/weft have only its metadata: then a kill leaves what the kernel holds.
 */
struct kept_parts_dir {
	char output[96]; /* parts_new() makes the parts beside it; no file of that name is ever made */
	bool holds;      /* the spools may lie there, too */
};

/* `need`: the bytes that the spools may take. Call it after undo_new(), which makes /run/weft. */
struct kept_parts_dir kept_parts_dir_find(const char *name, uint64_t need);

/* Whether parts lie in such a directory: their file is made elsewhere. *ret: the name of the file, in `parts`. */
bool kept_parts_dir_has(const char *parts, char **ret);

/*
 * Calls `each` with the path of every parts directory that a killed recording of this name left; NULL: of any name.
 * Returns 0, or the first non-zero value of `each`.
 */
int must_check kept_parts_dir_each(const char *name, int (*each)(const char *parts, void *data), void *data);

#endif
