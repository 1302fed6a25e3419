/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_RECORD_H
#define WEFT_CMD_ANALYSE_RECORD_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis_ops;
struct fail;
struct reading;
struct record_options;
struct trace;

struct analyse_command {
	char **argv;
	bool only; /* records only the command and its children */
	const struct reading *reading;
};

struct analyse_recorded {
	int status;       /* the exit status of the command; after an error, weft's */
	uint64_t time_ns; /* how long the recording took */
};

/* Describes a recording of what these analyses want. `only`: of the command and its children alone. */
int must_check analyse_record_describe(const struct analysis_ops *const *ops, size_t nr, bool only,
				       struct record_options *ret, struct fail *fail);
/* Makes a directory for the file of a recording. */
int must_check analyse_record_dir(char **ret, struct fail *fail);
/* Removes the file and the directory. Both may be NULL. */
void analyse_record_remove(const char *file, const char *dir);

/* Records what the analysis wants while the command runs, then opens the recording and removes its file. */
int must_check analyse_record(const struct analyse_command *command, const struct analysis_ops *ops, struct trace **ret,
			      struct analyse_recorded *recorded, struct fail *fail);

#endif
