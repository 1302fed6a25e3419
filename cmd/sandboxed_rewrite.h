/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SANDBOXED_REWRITE_H
#define WEFT_CMD_SANDBOXED_REWRITE_H

#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/input.h"

struct fail;
struct form;
struct trace;

enum { FORM_WORD = 80, FORM_FILES_MAX = 10000, FORM_SPARES_MAX = 128 };

/*
 * Makes files from files without rights. The reader process works in the sandbox. For each file that it wants to write,
 * it asks this process, which keeps its rights: for a temporary file, or for one for form->output, which gets its name
 * when the reader process has said that it is complete, and has ended. It can only get files without a name, and files
 * with names made by form_path(): one, or with form->divides one for each word, which replaces no existing file. The
 * number of files and their sizes are limited.
 */
struct form_door {
	int socket;
	struct temporaries temporaries;
	int spares[FORM_SPARES_MAX]; /* temporary files that were given back */
	size_t nr_spares;
};

/*
 * Calls `make` in the reader process and returns its exit status. With form->reading.no_sandbox it calls `make` in this
 * process, and form->door stays NULL.
 */
int must_check form_apart(struct form *form, int (*make)(void *arg), void *arg);

/* Opens the inputs, gives up all rights unless form->reading.no_sandbox, and then reads the beginning of each input. */
int must_check form_open(const struct form *form, const char *const *paths, size_t nr, struct trace **ret,
			 struct fail *fail);

/*
 * Limits what this process can write to a file by the size of all that it reads, as lib/pages/trace limits what it
 * takes from a file. A reader process calls it before it reads.
 */
int must_check form_limit(const struct form *form, uint64_t input_size, struct fail *fail);

/*
 * Calls `write` with a new file, and gives the file its name (that for `word`) when it is complete, so that the output
 * may also be an input. For standard output and devices, the complete file is copied there; without a door, `write`
 * writes to them directly.
 */
int must_check form_write(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
			  void *arg, struct fail *fail);

#endif
