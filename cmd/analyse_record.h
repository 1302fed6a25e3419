/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_RECORD_H
#define WEFT_CMD_ANALYSE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct analysis_ops;
struct fail;
struct record_options;
struct trace;

struct analyse_command {
	char **argv;
	bool only; /* records only the command and its children */
};

struct analyse_recorded {
	int status;       /* the exit status of the command; after an error, weft's */
	uint64_t time_ns; /* how long the recording took */
};

/* Describes a recording of what these analyses want. `only`: of the command and its children alone. */
int must_check analyse_record_describe(const struct analysis_ops *const *ops, size_t nr, bool only,
				       struct record_options *ret, struct fail *fail);
/* A directory for the file of a recording, of random name and mode 0700, in one where others may write. */
struct analyse_dir {
	char *path;
	char *leaf;    /* its name in `above` */
	int above, fd; /* both are held: what another user gives the name later is not touched */
};
#define ANALYSE_DIR_INIT              \
	{                             \
		.above = -1, .fd = -1 \
	}
int must_check analyse_dir_make(struct analyse_dir *ret, struct fail *fail);
/* Removes the recordings in it, and then the directory, unless parts are left in it. */
void analyse_dir_remove(struct analyse_dir *dir);

/* Records what the analysis wants while the command runs, opens its file for reading_load(), and removes it. */
int must_check analyse_record(const struct analyse_command *command, const struct analysis_ops *ops, struct trace **ret,
			      struct analyse_recorded *recorded, struct fail *fail);

#endif
