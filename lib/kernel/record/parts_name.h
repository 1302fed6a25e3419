/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_PARTS_NAME_H
#define WEFT_KERNEL_RECORD_PARTS_NAME_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

/*
 * Names of parts directories: "OUTPUT.weft-PID-RANDOM.parts". The PID names the process that made the directory. The
 * random part prevents that another user makes the directory first.
 */

/*
 * parts_leaf(): the last component of a path. parts_directory_of(): the directory that contains it; the caller frees
 * it.
 */
const char *parts_leaf(const char *path);
char *parts_directory_of(const char *path);

/*
 * Makes a new name: in `temp_dir`, or if that is NULL beside `output`, or in /var/tmp if the output is no file, but
 * "-", a device or a FIFO. The caller frees it.
 */
char *parts_name_new(const char *output, const char *temp_dir);

/* The process that made a directory of that name. 0: the name has another form. */
pid_t parts_owner(const char *path);

/* "OUTPUT" of such a path; the caller frees it. NULL: the name has another form. */
char *parts_output(const char *path);

enum { PARTS_SECRET = 17 }; /* the digits of a recording's secret (parts.h), and a NUL */

/*
 * Calls `each` with the path of every parts directory of `output`, or of any if it ends with a slash, in the order of
 * their names. Returns 0, or the first non-zero
 * value of `each`.
 */
int must_check parts_each(const char *output, int (*each)(const char *path, void *data), void *data);

/* How a message names the disk where the parts are: as the user has named it. */
const char *parts_name_place(const char *output, const char *temp_dir);

#endif
