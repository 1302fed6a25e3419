/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_RECORD_H
#define WEFT_CMD_ANALYSE_RECORD_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis_ops;
struct fail;
struct reading;
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

/* Records what the analysis wants while the command runs, then opens the recording and removes its file. */
int must_check analyse_record(const struct analyse_command *command, const struct analysis_ops *ops, struct trace **ret,
			      struct analyse_recorded *recorded, struct fail *fail);

#endif
