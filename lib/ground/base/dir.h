/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_DIR_H
#define WEFT_GROUND_BASE_DIR_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Directories in which other users may write. They may exchange a name at any moment, also between two calls of weft.
 * So a path is walked once and becomes a descriptor. All that follows uses the descriptor and names without a slash,
 * follows no symbolic link, and before a name is used again, it is compared with the descriptor of what it should be.
 * The lint `names` keeps calls that take a path out of the rest of weft.
 */

/*
 * Opens a directory (O_PATH), relative to `at`, which is not looked at if `path` is absolute. A symbolic link on the
 * way is followed if it belongs to this user or to root, or if it leads to a directory of the user who made the link.
 * -EPERM: it leads elsewhere. `path` may be "". `named` is for the error text: the file in the directory, as the user
 * wrote it.
 */
int must_check dir_open(int at, const char *path, const char *named, int *ret_fd, struct fail *fail);

/* Opens the directory of a path and copies the last word of it, which is "" behind a slash. */
int must_check dir_above(int at, const char *path, const char *named, int *ret_fd, char **ret_leaf, struct fail *fail);

/* Whether the directory is below /proc: links there stand for open files, which the kernel knows without a name. */
bool dir_is_in_proc(int fd);

/*
 * Opens what an O_PATH descriptor stands for. No name is used if the kernel has /proc; without it the file is opened by
 * `name` in `dir` and compared (-ESTALE: another file has the name now).
 */
int must_check dir_reopen(int dir, const char *name, int path_fd, int flags, int *ret_fd);

/* Whether the name in the directory is the open file. A symbolic link is not followed. */
bool dir_has(int dir, const char *name, int fd);

/*
 * Makes a directory of mode 0700 and opens it. -EEXIST: the name is taken. -ESTALE: what has the name now is not the
 * directory that was made: it is not empty, or it belongs to another user.
 */
int must_check dir_make(int dir, const char *name, int *ret_fd);

/*
 * Returns the entries of an open directory (also O_PATH), from the first one on, for readdir() and closedir(); `fd`
 * stays open, and its position as it is. NULL, and errno: it cannot be read.
 */
DIR *dir_entries(int fd);

/* Whether an open directory has no entries: 1, 0, or an error. */
int dir_is_empty(int fd);

/* Removes an entry if it still is the open file or directory. -ESTALE: it is another one. `flags` as of unlinkat(2). */
int must_check dir_remove(int dir, const char *name, int fd, int flags);

/*
 * Removes all entries of an open directory for which `chosen` returns true (NULL: all), and the entries of its
 * subdirectories down to `depth`. The directory must be one in which no other user can write.
 */
int must_check dir_clear(int fd, bool (*chosen)(const char *name), unsigned depth);

/* The text of an error number; for -ESTALE that it was replaced. */
const char *dir_error(int err);

#endif
