/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_PUSH_H
#define WEFT_KERNEL_REMOTE_PUSH_H

#include <signal.h>
#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Brings a program to a machine that does not have it, by the program that leads there (elsewhere_options.rsh, without
 * words behind it) and mktemp, dd, chmod and rm of that machine. The words that are added have nothing that a shell
 * there would take apart.
 */
struct push {
	char *const *rsh;     /* a NULL behind its words */
	const sigset_t *mask; /* of the programs; NULL: that of the caller */
};

/*
 * *ret_path: where it lies there, a file of a new name that only that user can write, in memory or in /tmp. The caller
 * frees it, and calls push_remove() unless the program has removed itself (push_is_own()).
 */
int must_check push_bring(const struct push *push, const char *program, char **ret_path, struct fail *fail);
void push_remove(const struct push *push, const char *path);

/* On that machine: whether a path is one of push_bring(). */
bool push_is_own(const char *path);

#endif
