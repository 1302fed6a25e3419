/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_FORM_APART_H
#define WEFT_CMD_FORM_APART_H

#include "lib/base/cleanup.h"
#include "lib/trace/input.h"

struct fail;
struct form;
struct trace;

enum { FORM_WORD = 80 };

/*
 * Makes files of files without rights. A process of its own reads, in the sandbox; it asks this one, which keeps its
 * rights, for each file: a temporary one, or one for form->output, which gets its name once the process says that it is
 * whole. What it can ask for are files without a name, and files of the names that form_path() makes.
 */
struct form_door {
	int socket;
	struct temporaries temporaries;
};

/*
 * Returns the exit status, that of `make`. With form->no_sandbox it is called in this process, and form->door stays
 * NULL.
 */
int must_check form_apart(struct form *form, int (*make)(void *arg), void *arg);

/* Opens the inputs, then gives up all rights, unless form->no_sandbox, then reads what the inputs begin with. */
int must_check form_open(const struct form *form, const char *const *paths, size_t nr, struct trace **ret,
			 struct fail *fail);

/* An empty file for form->output and `word`, and its name at the end; -errno as the other process has it. */
int must_check form_door_file(struct form_door *door, const char *word, int *ret_fd, struct fail *fail);
int must_check form_door_name(struct form_door *door, struct fail *fail);

#endif
