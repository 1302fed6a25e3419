/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_PARTS_NAME_H
#define WEFT_RECORD_PARTS_NAME_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Names of parts directories: "OUTPUT.weft-PID-RANDOM.parts". The process id keeps recordings apart and tells whose they are;
 * nobody can be there before us under a random name.
 */

/* The last part of a path, and the directory that it is in, to be freed. */
const char *parts_leaf(const char *path);
char *parts_directory_of(const char *path);

/* A new name: beside `output` unless `temp_dir` is given; of output "-" in /var/tmp by default. To be freed. */
char *parts_name_new(const char *output, const char *temp_dir);

/* The process that made a directory of that name; 0 for any other name: it is nobody's parts. */
pid_t parts_owner(const char *path);

/* "OUTPUT" of such a path, beside the parts; NULL for any other name. To be freed. */
char *parts_output(const char *path);

/* Calls `each` with the path of every such directory beside `output`, oldest name first; 0 or what `each` returned. */
int must_check parts_each(const char *output, int (*each)(const char *path, void *data), void *data);

#endif
