// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/kernel/borrow.h"
#include "lib/kernel/tasks.h"
#include "lib/kernel/tracer.h"
#include "lib/record/parts.h"

enum { WAKE_PERCENT = 50 };

static void warn(const struct target_context *context, const struct fail *fail)
{
	if (context->options->warn)
		context->options->warn(fail->text, context->options->warn_data);
}

static int open_main(struct target *target, const struct target_context *context, struct fail *fail)
{
	const struct record_buffer *wanted = target->wanted;
	const char *tracer = wanted->tracer;
	struct fail told;
	int err = instance_new_private(context->tracing, context->undo, &target->instance, fail);

	if (err || !tracer ||
	    !tracer_needs_top(target->instance, tracer, wanted->graph.nr != 0, wanted->graph_depth != 0))
		return err;
	err = instance_close(target->instance, fail);
	target->instance = NULL;
	if (err)
		return err;
	err = instance_open_top(context->tracing, context->undo, &target->instance, fail);
	if (err)
		return err;
	fail_set(&told, 0, "tracer '%s'%s exists only in the top instance: it is used, its settings are put back, what its "
		 "buffer held is gone", tracer, wanted->graph.nr || wanted->graph_depth ? " with -g or --max-graph-depth" : "");
	warn(context, &told);
	return 0;
}

static void warn_borrowed(const struct target_context *context, const char *what)
{
	struct fail told;

	fail_set(&told, 0, "somebody had %s in the top instance: they are off until this recording ends", what);
	warn(context, &told);
}

static int open_instance(struct target *target, const struct target_context *context, struct fail *fail)
{
	bool found = false;
	int err;

	if (target->wanted->instance)
		err = instance_open(context->tracing, target->wanted->instance, true, context->undo, &target->instance,
				    fail);
	else
		err = open_main(target, context, fail);
	if (err)
		return err;
	err = instance_turn(target->instance, false, fail);
	/* What is in somebody's instance is saved, not thrown away; the top one cannot keep it under another tracer. */
	if (!err && target->instance->kind == INSTANCE_TOP)
		err = instance_clear(target->instance, fail);
	if (!err && target->instance->kind != INSTANCE_EXISTING)
		err = instance_borrow(target->instance, &found, fail);
	if (found && target->instance->kind == INSTANCE_TOP)
		warn_borrowed(context, "settings");
	return err;
}

static int set_buffer(struct target *target, struct fail *fail)
{
	const struct record_buffer *wanted = target->wanted;
	struct instance *instance = target->instance;
	int err = 0;

	if (wanted->size)
		err = ring_buffer_resize(instance, wanted->size, fail);
	if (!err)
		err = ring_buffer_set_percent(instance, WAKE_PERCENT, fail);
	if (!err && wanted->clock)
		err = ring_buffer_set_clock(instance, wanted->clock, fail);
	if (!err && wanted->has_cpus)
		err = ring_buffer_set_cpus(instance, &wanted->cpus, fail);
	if (!err)
		err = ring_buffer_clock(instance, target->clock, fail);
	return err ? err : ring_buffer_page_size(instance, &target->page_size, fail);
}

static int set_functions(struct instance *instance, enum function_list list, const struct record_list *names,
			 struct fail *fail)
{
	return names->nr ? tracer_functions(instance, list, names->items, names->nr, fail) : 0;
}

static int set_tracer(struct target *target, struct fail *fail)
{
	const struct record_buffer *wanted = target->wanted;
	struct instance *instance = target->instance;
	int err = set_functions(instance, FUNCTIONS_TRACE, &wanted->functions, fail);

	if (!err)
		err = set_functions(instance, FUNCTIONS_NOTRACE, &wanted->notrace, fail);
	if (!err)
		err = set_functions(instance, FUNCTIONS_GRAPH, &wanted->graph, fail);
	if (!err && wanted->graph_depth)
		err = tracer_graph_depth(instance, wanted->graph_depth, fail);
	if (!err && wanted->tracer)
		err = tracer_set(instance, wanted->tracer, fail);
	/* Options of a tracer exist only once it is the current one. */
	for (size_t i = 0; !err && i < wanted->options.nr; i++)
		err = option_set(instance, wanted->options.items[i], fail);
	if (!err && wanted->stacks)
		err = option_set(instance, "stacktrace", fail);
	if (!err && wanted->function_stacks)
		err = option_set(instance, "func_stack_trace", fail);
	return err;
}

static int set_tasks(struct target *target, const struct target_context *context, struct fail *fail)
{
	const struct record_options *options = context->options;
	bool functions = target->wanted->tracer && tracer_is_function(target->wanted->tracer);
	cleanup_free pid_t *pids = calloc(options->nr_pids + 1, sizeof(*pids));
	size_t nr = options->nr_pids;

	if (!pids)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		pids[i] = options->pids[i];
	if (options->only_command && context->command)
		pids[nr++] = context->command;
	return nr ? kernel_tasks_only(target->instance, pids, nr, functions, options->follow, fail) : 0;
}

/* The filter and the triggers of one -e, and the event's place in the set. */
static int add_event(struct target *target, const struct target_context *context, const struct record_event *event,
		     struct event_set *off, struct fail *fail)
{
	struct event_set set = { .catalog = context->catalog };
	bool found = false;
	int err = event_set_add(&set, context->catalog, event->pattern, fail);

	if (err == -ENOENT && context->options->ignore_missing) {
		warn(context, fail);
		return 0;
	}
	if (!err && event->off) {
		event_set_subtract(&target->events, &set);
		err = event_set_add(off, context->catalog, event->pattern, fail);
	} else if (!err) {
		if (event->filter)
			err = event_set_filter(&set, target->instance, event->filter, fail);
		else if (target->instance->kind == INSTANCE_TOP)
			err = event_set_unfilter(&set, target->instance, &found, fail);
		if (found)
			warn_borrowed(context, "filters");
		for (size_t i = 0; !err && i < event->triggers.nr; i++)
			err = event_set_trigger(&set, target->instance, event->triggers.items[i], fail);
		if (!err)
			err = event_set_add(&target->events, context->catalog, event->pattern, fail);
	}
	event_set_release(&set);
	return err;
}

static bool is_one_event(const char *pattern)
{
	return !text_is_glob(pattern) && strpbrk(pattern, ":/");
}

static int set_events(struct target *target, const struct target_context *context, struct fail *fail)
{
	const struct record_buffer *wanted = target->wanted;
	struct event_set off = { .catalog = context->catalog };
	bool named = true;
	int err = 0;

	target->events.catalog = context->catalog;
	for (size_t i = 0; !err && i < wanted->nr_events; i++) {
		named &= is_one_event(wanted->events[i].pattern);
		err = add_event(target, context, &wanted->events[i], &off, fail);
	}
	if (!err && target->instance->kind != INSTANCE_PRIVATE && off.has)
		err = event_set_enable(&off, target->instance, false, fail);
	if (!err && target->events.has) {
		err = event_set_enable(&target->events, target->instance, true, fail);
		/* Of "all" or of a system a kernel may refuse some; the others are worth recording. */
		if (err && !named && err != -EPERM && err != -EACCES) {
			warn(context, fail);
			err = 0;
		}
	}
	event_set_release(&off);
	return err;
}

static int count_start(struct target *target, struct fail *fail)
{
	target->nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	target->start = calloc(target->nr_cpus, sizeof(*target->start));
	target->stop = calloc(target->nr_cpus, sizeof(*target->stop));
	if (!target->start || !target->stop)
		return fail_memory(fail);
	return target_count(target, target->start, fail);
}

int target_open(struct target *target, const struct target_context *context, struct fail *fail)
{
	int err = open_instance(target, context, fail);

	if (!err)
		err = count_start(target, fail);
	if (!err)
		err = set_buffer(target, fail);
	if (!err)
		err = set_tasks(target, context, fail);
	if (!err)
		err = set_tracer(target, fail);
	return err ? err : set_events(target, context, fail);
}

/* The recorder keeps its pipe and its spool; they are released with it. */
static int record_cpu(struct target *target, struct parts *parts, uint32_t cpu, const struct spool_options *spool,
		      const struct recorder_options *options, struct fail *fail)
{
	struct recorder **grown = reallocarray(target->recorders, target->nr_recorders + 1, sizeof(struct recorder *));
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct spool_options with_page = *spool;
	int err;

	if (grown)
		target->recorders = grown;
	if (!grown || !recorder) {
		free(recorder);
		return fail_memory(fail);
	}
	*recorder = (struct recorder){ .buffer = target->index, .cpu = cpu, .options = *options,
				       .pipe = CPU_PIPE_INIT, .spool = { .fd = -1 } };
	target->recorders[target->nr_recorders++] = recorder;
	with_page.page_size = target->page_size;
	err = cpu_pipe_open(target->instance, cpu, target->page_size, &recorder->pipe, fail);
	if (!err)
		err = spool_new(parts->dir, target->index, cpu, &with_page, &recorder->spool, fail);
	return err ? err : recorder_start(recorder, fail);
}

int target_record(struct target *target, struct parts *parts, const struct cpus *cpus, const struct spool_options *spool,
		  const struct recorder_options *options, struct fail *fail)
{
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1)) {
		int err = record_cpu(target, parts, (uint32_t)cpu, spool, options, fail);

		if (err)
			return err;
	}
	return 0;
}

static bool is_recorded(const struct target *target, uint32_t cpu)
{
	for (size_t i = 0; i < target->nr_recorders; i++)
		if (target->recorders[i]->cpu == cpu)
			return true;
	return false;
}

int target_record_rest(struct target *target, struct parts *parts, const struct spool_options *spool,
		       const struct recorder_options *options, struct fail *fail)
{
	for (uint32_t cpu = 0; cpu < target->nr_cpus; cpu++) {
		int err = 0;

		if (target->stop[cpu].entries && !is_recorded(target, cpu))
			err = record_cpu(target, parts, cpu, spool, options, fail);
		if (err)
			return err;
	}
	return 0;
}

int target_exclude(struct target *target, const pid_t *tids, size_t nr, struct fail *fail)
{
	cleanup_buf struct buf list = BUF_INIT;
	const char *tracer = target->wanted->tracer;
	int err;

	for (size_t i = 0; i < nr; i++)
		if (!buf_addf(&list, "%d ", tids[i]))
			return fail_memory(fail);
	if (instance_has(target->instance, "set_event_notrace_pid")) {
		err = instance_add(target->instance, "set_event_notrace_pid", buf_str(&list), fail);
		if (err)
			return err;
	}
	if (tracer && tracer_is_function(tracer) && instance_has(target->instance, "set_ftrace_notrace_pid"))
		return instance_add(target->instance, "set_ftrace_notrace_pid", buf_str(&list), fail);
	return 0;
}

int target_turn(struct target *target, bool on, struct fail *fail)
{
	return instance_turn(target->instance, on, fail);
}

int target_count(struct target *target, struct ring_buffer_stats *into, struct fail *fail)
{
	char file[64];

	for (uint32_t cpu = 0; cpu < target->nr_cpus; cpu++) {
		int err;

		snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
		if (!instance_has(target->instance, file))
			continue;
		err = ring_buffer_stats(target->instance, cpu, &into[cpu], fail);
		if (err)
			return err;
	}
	return 0;
}

void target_close_pipes(struct target *target)
{
	for (size_t i = 0; i < target->nr_recorders; i++)
		cpu_pipe_close(&target->recorders[i]->pipe);
}

void target_release(struct target *target)
{
	for (size_t i = 0; i < target->nr_recorders; i++) {
		recorder_release(target->recorders[i]);
		free(target->recorders[i]);
	}
	free(target->recorders);
	free(target->start);
	free(target->stop);
	event_set_release(&target->events);
}
