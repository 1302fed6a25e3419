/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_SETUP_FILES_H
#define WEFT_KERNEL_SETUP_SETUP_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct setup;

/*
 * What has to be traced so that a file tells which files, sockets and pipes are behind descriptors, and which names the
 * calls of programs had (lib/meaning/follow/files.h): probes of the functions of the kernel that give a descriptor its
 * file and that copy a name from the memory of a program, at their return, when the name is there in any case. They go
 * to an instance of weft's own, so the recorded text stays as it is.
 */
enum { SETUP_FILES_PROBES = 16, SETUP_FILES_LEVELS = 8, SETUP_FILES_LEVELS_NESTED = 6 };

struct setup_files {
	char *probes[SETUP_FILES_PROBES]; /* the setup borrows them */
	size_t nr_probes;
	unsigned levels; /* how many parts of a path are read, from the last one on */
	bool names;      /* the names that calls have are read */
};

/*
 * Adds the instance to the setup, with the clock of the first one. -EOPNOTSUPP: this kernel cannot tell; the text says
 * what it lacks.
 */
int must_check setup_files_add(struct setup *setup, struct setup_files *ret, struct fail *fail);
/* After setup_release(). */
void setup_files_release(struct setup_files *files);

#endif
