/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_LIST_H
#define WEFT_CMD_LIST_H

#include "cmd/listed.h"
#include "cmd/options/kernel.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;

/* weft list: what was asked for, and what it is asked of. */
enum { GLOBS_MAX = 256 };

struct list {
	const char *what; /* what to list; NULL: the overview */
	const char *globs[GLOBS_MAX];
	bool matched[GLOBS_MAX];
	size_t nr_globs;
	bool full;
	const char *input; /* a file; NULL: the running kernel */
	struct kernel kernel;
	struct listed listed;
};

/* Returns whether a name was asked for, and notes which globs have matched. */
bool list_wanted(struct list *list, const char *name);

/* The lists of system calls and of plugins, and the overview. */
int must_check list_calls(struct list *list, struct fail *fail);
int must_check list_plugins(struct list *list, struct fail *fail);
int must_check list_overview(struct list *list, struct fail *fail);

#endif
