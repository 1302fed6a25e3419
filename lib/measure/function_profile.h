/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_MEASURE_FUNCTION_PROFILE_H
#define WEFT_MEASURE_FUNCTION_PROFILE_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * The kernel's function profiler (function_profile_enabled; kernel/trace/ftrace.c, function_stat_show()): per CPU and
 * function how often it was called and, on kernels with function_graph, how long it took. Merged here over CPUs.
 * The kernel cuts names to 30 letters: functions of a CPU with the same cut name are counted as one, and `cut` is set.
 */
enum { PROFILE_NAME_SIZE = 31 };

struct profiled_function {
	char name[PROFILE_NAME_SIZE];
	bool cut; /* the name has 30 letters: it may have had more */
	uint64_t hits;
	uint64_t time_ns; /* in it, over all hits */
	double squares;   /* the sum of squared deviations from the mean, in us^2 */
};

struct function_profile {
	struct profiled_function *functions; /* may be sorted once nothing more is added */
	size_t nr, size;
	uint32_t *index; /* of `slots`, a power of two: 1 + the place of a function, by the hash of its name; 0: none */
	size_t slots;
	bool timed; /* this kernel measures time, too */
};

#define FUNCTION_PROFILE_INIT                                                                    \
	{                                                                                        \
		.functions = NULL, .nr = 0, .size = 0, .index = NULL, .slots = 0, .timed = false \
	}

void function_profile_release(struct function_profile *profile);

/* -EOPNOTSUPP: this kernel has no profiler; -EBUSY: another program is profiling. Starting resets the counts. */
int must_check function_profile_start(struct instance *top, struct fail *fail);
int must_check function_profile_stop(struct instance *top, struct fail *fail);

/* Reads trace_stat/functionN of every CPU. */
int must_check function_profile_read(const struct instance *top, struct function_profile *ret, struct fail *fail);

/* Adds the text of one such file. -EBADMSG names a line that is none. */
int must_check function_profile_parse(struct function_profile *profile, const char *text, size_t len,
				      struct fail *fail);

/* Of the time of one call, in us; 0 with less than two. */
double profiled_function_deviation(const struct profiled_function *function);

#endif
