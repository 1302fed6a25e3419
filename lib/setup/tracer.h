/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_TRACER_H
#define WEFT_SETUP_TRACER_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;

/*
 * The current tracer of an instance, the functions that it looks at, and the options of an instance.
 * Which tracers an instance may use is in its own available_tracers (function_graph since 6.11; mmiotrace, blk never).
 */

/* Whether it is in available_tracers. */
bool tracer_offered(const struct instance *instance, const char *tracer);

/*
 * Whether only the top instance can do this: a tracer that this one does not offer but the top one does, or the lists and
 * the depth of function_graph, which are files of the top one even where an instance has the tracer (6.12).
 */
bool tracer_needs_top(const struct instance *instance, const char *tracer, bool graph_functions, bool graph_depth);

/* irqsoff, preemptoff, preemptirqsoff, wakeup, wakeup_rt, wakeup_dl: their `trace` is a snapshot of the worst case. */
bool tracer_is_max_latency(const char *tracer);

/*
 * irqsoff, preemptoff, preemptirqsoff: in every instance these heed tracing_on of the top one alone (trace_irqsoff.c). Off there, they
 * find nothing; off by a trigger in their own instance, they go on and lose the worst case, for their buffer takes no events.
 */
bool tracer_heeds_top(const char *tracer);

/*
 * Whether an option is a flag of its tracer, not of an instance: one set in any instance is set in all of them (struct tracer_flags
 * in trace.h).
 */
bool tracer_owns_option(const char *option);

/* function, function_graph and others that make set_ftrace_pid matter. */
bool tracer_is_function(const char *tracer);
/*
 * While kernel.ftrace_enabled is 0 the kernel takes function tracers, its function profile and its stack tracer without a word, and never
 * calls them: -EPERM. A plan is for a kernel where that may be otherwise.
 */
int must_check tracer_functions_on(const struct instance *instance, struct fail *fail);

/* -ENOENT with near names; -EOPNOTSUPP when only the top instance has it. Changing the tracer empties the buffer. */
int must_check tracer_set(struct instance *instance, const char *tracer, struct fail *fail);

enum function_list {
	FUNCTIONS_TRACE,   /* set_ftrace_filter */
	FUNCTIONS_NOTRACE, /* set_ftrace_notrace */
	FUNCTIONS_GRAPH,   /* set_graph_function: must be set before the tracer is */
	FUNCTIONS_GRAPH_NOTRACE,
};

/*
 * Replaces the list by these names or globs. Many of them are given to the kernel by their places in available_filter_functions,
 * because it compares each name with all its functions. -ENOENT with near names for a function that the kernel does not know.
 */
int must_check tracer_functions(struct instance *instance, enum function_list list, const char *const *functions,
				size_t nr, struct fail *fail);
/* A probe of functions, "FUNCTION:COMMAND[:ARGUMENTS]", or, with '!' in front, one that shall go. */
int must_check tracer_function_command(struct instance *instance, const char *command, struct fail *fail);
/* Whether this is such a command, and no name: "vfs_*:mod:ext4" is a name. */
bool tracer_is_function_command(const char *text);

/* fail_set(): only the top instance has the file, or the kernel was built without (kconfig.h). Returns -EOPNOTSUPP. */
int tracer_no_file(const struct instance *instance, const char *file, struct fail *fail);

int must_check tracer_graph_depth(struct instance *instance, unsigned depth, struct fail *fail);

/*
 * An option of the instance, "NAME" or "noNAME"; -ENOENT with near names. An option of a tracer exists only while that
 * tracer is current: set the tracer first. option_exists() tells whether it is known right now.
 */
int must_check option_set(struct instance *instance, const char *option, struct fail *fail);
bool option_exists(const struct instance *instance, const char *option);
/* 1, 0, or -errno. */
int option_get(const struct instance *instance, const char *option);

#endif
