/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_COMMAND_PATH_H
#define WEFT_RECORD_COMMAND_PATH_H

#include "lib/base/cleanup.h"

/*
 * Where a command is found, looked for as execvp() does, but before it shall be executed: then that is one system call.
 */
struct command_path {
	char *path;
};

/* -ENOENT: nowhere; -EACCES: it is there, and we may not execute it. */
int must_check command_path_find(struct command_path *ret, const char *name);

/* Returns only when it fails, -errno. A file without a head that says what it is goes to the shell. */
int must_check command_path_exec(const struct command_path *path, char *const *argv);

#endif
