/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_LOCK_FILE_H
#define WEFT_TRACEFS_LOCK_FILE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;

/*
 * A lock file in the directory of the journals: a process reads and writes it only under its lock. The file exists only
 * while it has a content: a process that leaves it empty removes it before it unlocks it. The kernel drops the lock
 * when the process ends, for whatever reason. A file is trusted only if root or this user owns it and no other user can
 * write it.
 */

/*
 * Opens and locks the file, and makes it if needed. -EWOULDBLOCK without a text in `fail`: another process holds the
 * lock, and `wait` is false.
 */
int must_check lock_file_open(const char *path, bool wait, int *ret_fd, struct fail *fail);
/* Removes the locked file and unlocks it. */
void lock_file_remove(const char *path, int *fd);

#endif
