/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_TRACER_H
#define WEFT_KERNEL_SETUP_TRACER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;
struct late;
struct undo;

/*
 * The current tracer of an instance, its lists of functions, and the options of an instance. available_tracers of the
 * instance lists the tracers that it may use (other instances than the top one: function_graph since 6.11; mmiotrace
 * and blk never).
 */

/* Whether available_tracers lists the tracer. */
bool tracer_offered(const struct instance *instance, const char *tracer);

/*
 * Whether only the top instance can do this. That holds for a tracer that only the top instance offers. It also holds
 * for the lists and the depth of function_graph, which are files of the top instance even if another instance has the
 * tracer (6.12).
 */
bool tracer_needs_top(const struct instance *instance, const char *tracer, bool graph_functions, bool graph_depth);

/*
 * irqsoff, preemptoff, preemptirqsoff, wakeup, wakeup_rt, wakeup_dl: their `trace` is a snapshot of the longest
 * latency.
 */
bool tracer_is_max_latency(const char *tracer);

/*
 * irqsoff, preemptoff, preemptirqsoff: in every instance these obey only tracing_on of the top instance
 * (trace_irqsoff.c). If that is off, they measure nothing. If a trigger turns off only their own instance, they
 * continue to measure, and the longest latency is lost because their buffer accepts no events.
 */
bool tracer_heeds_top(const char *tracer);

/*
 * Whether an option is a flag of its tracer (struct tracer_flags in trace.h) and not of an instance: setting it in one
 * instance sets it in all.
 */
bool tracer_owns_option(const char *option);

/* function, function_graph and the other tracers that obey set_ftrace_pid. */
bool tracer_is_function(const char *tracer);
/*
 * Fails with -EPERM if kernel.ftrace_enabled is 0: the kernel then accepts function tracers, the function profiler and
 * the stack tracer without an error, and never calls them. A plan always passes, because it may be for another kernel.
 */
int must_check tracer_functions_on(const struct instance *instance, struct fail *fail);

/*
 * Journals what the kernel itself changes for all instances while the tracer runs: the thread of hwlat sets
 * hwlat_detector/mode to "none" if it is not on the CPUs that hwlat chose for it (move_to_next_cpu() in trace_hwlat.c).
 * That is so where kthread_affine_node() moves each new thread: on 7.2 and 7.3, not on 6.12. Must be called before the
 * instance is made or opened: an undo restores the last entry first, and the thread must have ended before the mode is
 * restored.
 */
int must_check tracer_remember_common(const struct tracing *tracing, struct undo *undo, const char *tracer,
				      struct fail *fail);

/* Whether the instance has the tracer: the errors are as for tracer_set(). */
int must_check tracer_check(const struct instance *instance, const char *tracer, struct fail *fail);
/*
 * Sets the current tracer, which empties the buffer. -ENOENT with similar names: no such tracer. -EOPNOTSUPP: only the
 * top instance has the tracer. Journals tracing_max_latency too if the tracer writes it.
 */
int must_check tracer_set(struct instance *instance, const char *tracer, struct fail *fail);

/*
 * -EBUSY: another instance than `own` (NULL: any) has this tracer or one that shares its resource. For osnoise and
 * timerlat, whose bounds stop tracing in every instance that has them (osnoise_stop_tracing() in trace_osnoise.c).
 */
int must_check tracer_check_alone(const struct tracing *tracing, const char *own, const char *tracer,
				  struct fail *fail);

enum function_list {
	FUNCTIONS_TRACE,   /* set_ftrace_filter */
	FUNCTIONS_NOTRACE, /* set_ftrace_notrace */
	FUNCTIONS_GRAPH,   /* set_graph_function: must be set before the tracer */
	FUNCTIONS_GRAPH_NOTRACE,
};

/*
 * Replaces the list by these names or globs; with `keeps` adds them to the list.
 * If many names replace the list, it writes their indexes in available_filter_functions, because for each name the
 * kernel compares all its functions. -ENOENT with similar names: the kernel does not know a function.
 */
int must_check tracer_functions(struct instance *instance, enum function_list list, const char *const *functions,
				size_t nr, bool keeps, struct fail *fail);
/* Removes names or globs from the list. What the list does not have is no error. */
int must_check tracer_functions_remove(struct instance *instance, enum function_list list, const char *const *functions,
				       size_t nr, struct fail *fail);
/*
 * Whether the list names no function: then all functions are traced, or none is left out. A planned list is not known.
 */
bool tracer_functions_empty(const struct instance *instance, enum function_list list);
/*
 * Sets a function command, "FUNCTION:COMMAND[:ARGUMENTS]", at once or, if `late` is not NULL, later (late.h). With a
 * leading '!' it removes one at once.
 */
int must_check tracer_function_command(struct instance *instance, const char *command, struct late *late,
				       struct fail *fail);
/* Whether the text is a function command and not a name. "vfs_*:mod:ext4" is a name. */
bool tracer_is_function_command(const char *text);

/*
 * Calls fail_set(): only the top instance has the file, or the kernel was built without it (kconfig.h). Returns
 * -EOPNOTSUPP.
 */
int tracer_no_file(const struct instance *instance, const char *file, struct fail *fail);

int must_check tracer_graph_depth(struct instance *instance, unsigned depth, struct fail *fail);

/*
 * Sets an option of the instance by "NAME", or clears it by "noNAME". -ENOENT with similar names. An option of a tracer
 * exists only while that tracer is the current one, so set the tracer first; but the kernel heeds the options for which
 * option_precedes_tracer() returns true only when a tracer begins. option_exists() shows whether it exists now.
 */
int must_check option_set(struct instance *instance, const char *option, struct fail *fail);
bool option_exists(const struct instance *instance, const char *option);
bool option_precedes_tracer(const char *option);
/* 1: on; 0: off; or -errno. */
int option_get(const struct instance *instance, const char *option);

#endif
