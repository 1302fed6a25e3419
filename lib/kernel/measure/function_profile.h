/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_FUNCTION_PROFILE_H
#define WEFT_KERNEL_MEASURE_FUNCTION_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/labels.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;

/*
 * The kernel's function profiler (function_profile_enabled; kernel/trace/ftrace.c, function_stat_show()): how often
 * each function was called on each CPU and, on kernels with function_graph, how long it took. The CPUs are merged here.
 * The kernel cuts names at 30 letters: functions of a CPU with the same cut name are counted as one, and `cut` is set.
 */
enum { PROFILE_NAME_SIZE = 31 };

struct profiled_function {
	char name[PROFILE_NAME_SIZE];
	bool cut; /* the name has 30 letters, and may have been longer */
	uint64_t hits;
	uint64_t time_ns; /* the time in the function, over all hits */
	double squares;   /* the sum of squared deviations from the mean, in us^2 */
};

struct function_profile {
	struct profiled_function *functions; /* may be sorted once nothing more is added */
	size_t nr;
	struct labels names; /* of the functions, in their order before they are sorted */
	bool timed;          /* this kernel also measures times */
};

#define FUNCTION_PROFILE_INIT                              \
	{                                                  \
		.functions = NULL, .nr = 0, .timed = false \
	}

void function_profile_release(struct function_profile *profile);

/*
 * Starts the profiler, which resets its counts. -EOPNOTSUPP: this kernel has no profiler; -EBUSY: another program is
 * profiling.
 */
int must_check function_profile_start(struct instance *top, struct fail *fail);
int must_check function_profile_stop(struct instance *top, struct fail *fail);

/* Reads trace_stat/functionN of every CPU. */
int must_check function_profile_read(const struct instance *top, struct function_profile *ret, struct fail *fail);

/* Adds the text of one such file. -EBADMSG: a line is invalid; the message has it. */
int must_check function_profile_parse(struct function_profile *profile, const char *text, size_t len,
				      struct fail *fail);

/* Returns the standard deviation of the time of one call, in us; 0 with less than two calls. */
double profiled_function_deviation(const struct profiled_function *function);

#endif
