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
 * Makes files from files without rights. The reader process works in the sandbox. For each file that it wants to write,
 * it asks this process, which keeps its rights: for a temporary file, or for one for form->output, which gets its name
 * when the reader process says that it is complete. It can only get files without a name, and files with names made by
 * form_path().
 */
struct form_door {
	int socket;
	struct temporaries temporaries;
};

/*
 * Calls `make` in the reader process and returns its exit status. With form->no_sandbox it calls `make` in this
 * process, and form->door stays NULL.
 */
int must_check form_apart(struct form *form, int (*make)(void *arg), void *arg);

/* Opens the inputs, gives up all rights unless form->no_sandbox, and then reads the beginning of each input. */
int must_check form_open(const struct form *form, const char *const *paths, size_t nr, struct trace **ret,
			 struct fail *fail);

/*
 * form_door_file() gets an empty file for form->output and `word`; form_door_name() gives it its name at the end. Both
 * return -errno from the other process.
 */
int must_check form_door_file(struct form_door *door, const char *word, int *ret_fd, struct fail *fail);
int must_check form_door_name(struct form_door *door, struct fail *fail);

#endif
