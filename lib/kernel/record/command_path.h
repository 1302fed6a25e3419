/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_COMMAND_PATH_H
#define WEFT_KERNEL_RECORD_COMMAND_PATH_H

#include "lib/ground/base/cleanup.h"

/*
 * The path of a command, found as execvp() finds it, but before the command is executed. Then executing it is a single
 * system call.
 */
struct command_path {
	char *path;
};

/*
 * Searches a name without a slash in the directories of `list`, which are separated by colons as in PATH; NULL: in
 * those of the system. -ENOENT: not found. -EACCES: found, but this user may not execute it.
 */
int must_check command_path_find(struct command_path *ret, const char *name, const char *list);

/* Returns only after an error, -errno. A file that the kernel cannot execute (ENOEXEC) is executed by the shell. */
int must_check command_path_exec(const struct command_path *path, char *const *argv);

#endif
