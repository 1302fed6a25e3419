/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_LOCK_FILE_H
#define WEFT_KERNEL_TRACEFS_LOCK_FILE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

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

/*
 * A sign of life is a lock on one byte of a file that its process keeps open. Others ask for it without taking it, so
 * that asking disturbs nobody; and unlike a PID it means the same in every PID and time namespace. lock_file_open()
 * gives the file a sign of life at place 0. The first function returns false if another process has that place,
 * unless it waits.
 */
bool lock_file_live(int fd, unsigned place, bool wait);
bool lock_file_lives(int fd, unsigned place);
/* The sign of life at place 0 of the file `path`. */
bool lock_file_lives_at(const char *path);

#endif
