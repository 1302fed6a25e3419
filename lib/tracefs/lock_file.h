/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_LOCK_FILE_H
#define WEFT_TRACEFS_LOCK_FILE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;

/*
 * A file in the journals' directory that is read and written under its lock, and is there only as long as it says something: whoever leaves
 * nothing in it removes it while he has the lock. The kernel drops the lock when its process ends, however it ends.
 * Only files that root or this user owns and nobody else can write are believed.
 */

/* Opens it, making it if needed, and locks it. -EWOULDBLOCK without words: it is locked, and not waited for. */
int must_check lock_file_open(const char *path, bool wait, int *ret_fd, struct fail *fail);
/* Removes it, while it is locked, and unlocks it. */
void lock_file_remove(const char *path, int *fd);

#endif
