// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/setup/setup.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/buffer/ring_buffer.h"
#include "lib/setup/late.h"
#include "lib/setup/setup_events_internal.h"
#include "lib/setup/tasks.h"
#include "lib/setup/tracer.h"
#include "lib/tracefs/kconfig.h"
#include "lib/undo/change.h"
#include "lib/undo/instance_open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int set_sizes(const struct setup_instance *wanted, struct instance *instance, struct fail *fail)
{
	int err = 0;

	/* The size of sub-buffers comes first, because a change of it makes the kernel round the buffer sizes again. */
	if (wanted->subbuf_size)
		err = ring_buffer_set_subbuf(instance, wanted->subbuf_size, fail);
	if (!err && wanted->size)
		err = ring_buffer_resize(instance, wanted->size, fail);
	for (size_t i = 0; !err && i < wanted->nr_cpu_sizes; i++)
		err = ring_buffer_resize_cpus(instance, &wanted->cpu_sizes[i].cpus, wanted->cpu_sizes[i].size, fail);
	if (!err && wanted->has_percent)
		err = ring_buffer_set_percent(instance, wanted->percent, fail);
	return err;
}

/* A kernel without this file cannot limit the copied user data, so the setting is refused instead of ignored. */
static int set_user_size(const struct setup_instance *wanted, struct instance *instance, struct fail *fail)
{
	char value[16];

	if (!wanted->has_user_size)
		return 0;
	if (!instance_has(instance, "syscall_user_buf_size"))
		return kconfig_no_file("syscall_user_buf_size", fail);
	snprintf(value, sizeof(value), "%u", wanted->user_size);
	return instance_set(instance, "syscall_user_buf_size", value, fail);
}

static int set_number(struct instance *instance, const char *file, uint64_t number, struct fail *fail)
{
	char value[24];

	if (!instance_has(instance, file))
		return tracer_no_file(instance, file, fail);
	snprintf(value, sizeof(value), "%" PRIu64, number);
	return instance_set(instance, file, value, fail);
}

static int set_buffer(const struct setup_instance *wanted, struct instance *instance, struct fail *fail)
{
	int err = set_sizes(wanted, instance, fail);

	if (!err && wanted->clock)
		err = ring_buffer_set_clock(instance, wanted->clock, fail);
	if (!err && wanted->absolute_time)
		err = ring_buffer_absolute_time(instance, fail);
	if (!err && wanted->has_cpus)
		err = ring_buffer_set_cpus(instance, &wanted->cpus, fail);
	return err ? err : set_user_size(wanted, instance, fail);
}

static int set_functions(const struct setup_context *context, struct instance *instance, enum function_list list,
			 const struct setup_list *names, struct fail *fail)
{
	bool chooses = list == FUNCTIONS_TRACE || list == FUNCTIONS_GRAPH;
	bool had = names->nr_gone && names->keeps && chooses && !tracer_functions_empty(instance, list);
	int err = names->nr ? tracer_functions(instance, list, names->items, names->nr, names->keeps, fail) : 0;
	struct fail told;

	if (!err && names->nr_gone)
		err = tracer_functions_remove(instance, list, names->gone, names->nr_gone, fail);
	if (err || !had || !tracer_functions_empty(instance, list))
		return err;
	fail_set(&told, 0, "the last function was removed from '%s': now all functions are traced",
		 list == FUNCTIONS_TRACE ? "set_ftrace_filter" : "set_graph_function");
	setup_warn(context->setup, &told);
	return 0;
}

static int set_lists(const struct setup_context *context, const struct setup_instance *wanted,
		     struct instance *instance, struct fail *fail)
{
	int err = set_functions(context, instance, FUNCTIONS_TRACE, &wanted->functions, fail);

	if (!err)
		err = set_functions(context, instance, FUNCTIONS_NOTRACE, &wanted->notrace, fail);
	if (!err)
		err = set_functions(context, instance, FUNCTIONS_GRAPH, &wanted->graph, fail);
	if (!err)
		err = set_functions(context, instance, FUNCTIONS_GRAPH_NOTRACE, &wanted->graph_notrace, fail);
	if (!err && wanted->graph_depth)
		err = tracer_graph_depth(instance, wanted->graph_depth, fail);
	return err;
}

static int set_tracer(const struct setup_context *context, const struct setup_instance *wanted,
		      struct instance *instance, struct fail *fail)
{
	/* Without the tracer there are no lists for it, either: the tracer is what is missing. */
	int err = wanted->tracer ? tracer_check(instance, wanted->tracer, fail) : 0;

	if (!err)
		err = set_lists(context, wanted, instance, fail);
	if (!err && wanted->tracer)
		err = tracer_set(instance, wanted->tracer, fail);
	if (!err && wanted->reset_max_latency)
		err = set_number(instance, "tracing_max_latency", 0, fail);
	/* An option of a tracer exists only while that tracer is the current one. */
	for (size_t i = 0; !err && i < wanted->options.nr; i++)
		err = option_set(instance, wanted->options.items[i], fail);
	for (size_t i = 0; !err && i < wanted->wishes.nr; i++)
		if (option_exists(instance, wanted->wishes.items[i]))
			err = option_set(instance, wanted->wishes.items[i], fail);
	if (!err && wanted->stacks)
		err = option_set(instance, "stacktrace", fail);
	if (!err && wanted->function_stacks)
		err = option_set(instance, "func_stack_trace", fail);
	return err;
}

/* Some sysctls take a write and keep their value. */
static int check_sysctl(const struct instance *top, const struct setup_file *file, struct fail *fail)
{
	const char *name = strrchr(file->file, '/') + 1;
	char now[256];

	if (top->tracing->plan || instance_read_word(top, file->file, now, sizeof(now), NULL) ||
	    !strcmp(now, file->value))
		return 0;
	return fail_set(fail, -EOPNOTSUPP, "the sysctl kernel.%s stays '%s'%s", name, now,
			!strcmp(name, "tracepoint_printk") ? ": the kernel must be booted with tp_printk" : "");
}

static int set_file(struct instance *top, const struct setup_file *file, struct fail *fail)
{
	int err;

	if (!file->value)
		return set_number(top, file->file, file->number, fail);
	if (!instance_has(top, file->file))
		return tracer_no_file(top, file->file, fail);
	err = instance_set(top, file->file, file->value, fail);
	if (err == -EOPNOTSUPP && !strcmp(file->file, "/proc/sys/kernel/ftrace_enabled"))
		return fail_set(fail, err,
				"this kernel lets nobody forbid function tracing: "
				"since Linux 7.3 the sysctl kernel.ftrace_enabled stays 1");
	return err || *file->file != '/' ? err : check_sysctl(top, file, fail);
}

/*
 * Writes the files of the top directory that apply to all instances. Some values limit each other (a width must not
 * exceed the window), so values that were refused are written again after the others.
 */
static int set_files(const struct setup_context *context, const struct setup_instance *wanted, struct fail *fail)
{
	cleanup_free bool *done = calloc(wanted->nr_files + 1, sizeof(*done));
	struct instance *top;
	int err;

	if (!wanted->nr_files)
		return 0;
	if (!done)
		return fail_memory(fail);
	err = instance_open_top(context->tracing, context->undo, &top, fail);
	if (err)
		return err;
	for (unsigned round = 0; !err && round < 2; round++)
		for (size_t i = 0; !err && i < wanted->nr_files; i++) {
			int failed = done[i] ? 0 : set_file(top, &wanted->files[i], fail);

			done[i] = !failed;
			if (failed && (round || failed != -EINVAL))
				err = failed;
		}
	instance_close(top, NULL);
	return err;
}

static bool traces_functions(const struct setup_instance *wanted, const struct instance *instance)
{
	char now[64];

	if (wanted->tracer)
		return tracer_is_function(wanted->tracer);
	return !instance_read_word(instance, "current_tracer", now, sizeof(now), NULL) && tracer_is_function(now);
}

/* Changes the lists of tasks that the kernel has: those that are traced, or those that are left out. */
static int remove_tasks(const struct setup_context *context, struct instance *instance, bool notrace, struct fail *fail)
{
	const struct setup *setup = context->setup;
	const char *empty = NULL;
	struct fail told;
	int err = 0;

	if (notrace && setup->nr_gone_notrace_pids)
		err = kernel_tasks_remove(instance, setup->gone_notrace_pids, setup->nr_gone_notrace_pids, true, &empty,
					  fail);
	else if (!notrace && setup->nr_gone_pids)
		err = kernel_tasks_remove(instance, setup->gone_pids, setup->nr_gone_pids, false, &empty, fail);
	if (err || notrace || !empty)
		return err;
	fail_set(&told, 0, "the last task was removed from '%s': now all tasks are traced", empty);
	setup_warn(context->setup, &told);
	return 0;
}

static int set_tasks(const struct setup_context *context, const struct setup_instance *wanted,
		     struct instance *instance, struct fail *fail)
{
	const struct setup *setup = context->setup;
	bool functions = traces_functions(wanted, instance);
	cleanup_free pid_t *pids = calloc(setup->nr_pids + 1, sizeof(*pids));
	size_t nr = setup->nr_pids;
	int err = 0;

	if (!pids)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		pids[i] = setup->pids[i];
	if (setup->only_command && context->command)
		pids[nr++] = context->command;
	if (setup->all_pids)
		err = kernel_tasks_all(instance, false, fail);
	if (!err && setup->no_notrace_pids)
		err = kernel_tasks_all(instance, true, fail);
	if (err)
		return err;
	if (nr && !setup->keep_pids)
		err = kernel_tasks_only(instance, pids, nr, functions, setup->follow, fail);
	else if (setup->follow)
		err = kernel_tasks_follow(instance, functions, fail);
	if (!err && nr && setup->keep_pids)
		err = kernel_tasks_add(instance, pids, nr, functions, fail);
	if (!err && setup->nr_notrace_pids)
		err = kernel_tasks_exclude(instance, setup->notrace_pids, setup->nr_notrace_pids, functions,
					   setup->keep_notrace_pids, fail);
	if (!err)
		err = remove_tasks(context, instance, false, fail);
	return err ? err : remove_tasks(context, instance, true, fail);
}

/* The kernel removes a command that counts only by a text with a count, and one that does not only by one without. */
static int remove_command(struct instance *instance, const char *command, struct fail *fail)
{
	static const char *const ends[] = { "", ":0" };
	int err = 0;

	for (size_t i = 0; i < array_size(ends) && (!i || err == -ENODEV); i++) {
		cleanup_free char *text = NULL;

		if (asprintf(&text, "!%s%s", command, ends[i]) < 0) {
			text = NULL;
			return fail_memory(fail);
		}
		err = tracer_function_command(instance, text, fail);
	}
	return err;
}

/*
 * Function commands act as soon as they are set, so they are set last. Those that are kept for later (late.h) are tried
 * before the events are enabled, because one may disable an event.
 */
static int set_commands(const struct setup_context *context, const struct setup_instance *wanted,
			struct instance *instance, bool for_later, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && for_later && i < wanted->commands.nr_gone; i++)
		err = remove_command(instance, wanted->commands.gone[i], fail);
	for (size_t i = 0; !err && i < wanted->commands.nr; i++) {
		const char *command = wanted->commands.items[i];

		if ((context->late && *command != '!' && late_is_counted(command)) != for_later)
			continue;
		err = setup_remember_action(context, instance, command + strcspn(command, ":") + 1, fail);
		if (!err && !late_is_untried(context->late, instance, command))
			err = tracer_function_command(instance, command, fail);
		if (!err && for_later)
			err = late_add(context->late, instance, "set_ftrace_filter", command, fail);
	}
	return err;
}

int setup_apply(const struct setup_context *context, const struct setup_instance *wanted, struct instance *instance,
		struct event_set *events, struct fail *fail)
{
	int err = set_buffer(wanted, instance, fail);

	if (!err)
		err = set_tasks(context, wanted, instance, fail);
	if (!err)
		err = set_files(context, wanted, fail);
	if (!err)
		err = set_tracer(context, wanted, instance, fail);
	if (!err)
		err = set_commands(context, wanted, instance, true, fail);
	if (!err)
		err = setup_events(context, wanted, instance, events, fail);
	return err ? err : set_commands(context, wanted, instance, false, fail);
}
