/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_TIMING_H
#define WEFT_KERNEL_RECORD_TIMING_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/workload.h"

struct fail;

/*
 * A run of a command that is timed but not recorded. Signals are handled as in a recording: a SIGINT of the terminal is
 * left to the command, any other one is sent on to it.
 */
struct timing {
	struct workload_times times;
	int status;       /* the exit status as a shell gives it */
	bool interrupted; /* struct wake */
};

/* `options` need no mask. -EINTR: a signal has ended it; the command has ended, too. */
int must_check timing_run(const struct workload_options *options, struct timing *ret, struct fail *fail);

#endif
