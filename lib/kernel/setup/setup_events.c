// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/setup/borrow_internal.h"
#include "lib/kernel/setup/event_enable.h"
#include "lib/kernel/setup/filter_hint_internal.h"
#include "lib/kernel/setup/kernel_pids.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/setup/setup_probes.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"

#define MODULE_EVENTS ":mod:"

/*
 * Sets a filter on the events of a system or a glob. Like the kernel, it ignores the events that lack a field of the
 * filter.
 */
static int filter_many(const struct setup_context *context, const struct event_set *set,
		       const struct setup_event *event, struct instance *instance, struct fail *fail)
{
	enum { NAMED = 4 };
	struct event_set left = { 0 };
	cleanup_buf struct buf names = BUF_INIT;
	char stay[64] = "are traced without a filter";
	struct fail told;
	size_t nr = 0, filtered;
	int err = event_set_filter_fitting(set, instance, event->filter, &left, fail);

	if (err || !left.nr) {
		event_set_release(&left);
		return err;
	}
	for (size_t i = 0; i < set->catalog->nr && nr < NAMED; i++)
		if (left.has[i] && buf_addf(&names, "%s%s", nr ? ", " : "", set->catalog->events[i].name))
			nr++;
	filtered = event_set_filtered(&left, instance);
	if (filtered)
		snprintf(stay, sizeof(stay), "stay as they are, %zu with a filter of before", filtered);
	fail_set(&told, 0, "the filter '%s' is valid for %zu of the %zu events of '%s'; these %s: %s%s", event->filter,
		 set->nr - left.nr, set->nr, event->pattern, stay, buf_str(&names), left.nr > nr ? "..." : "");
	setup_warn(context->setup, &told);
	event_set_release(&left);
	return 0;
}

/* Warns of a filter that the kernel takes, and that matches nothing. One event of the set is enough to know. */
static void warn_of_filter(const struct setup_context *context, const struct event_set *set,
			   const struct instance *instance, const char *filter)
{
	cleanup_buf struct buf instead = BUF_INIT;
	bool found = false;
	struct fail told;

	for (size_t i = 0; strchr(filter, '~') && !found && i < set->catalog->nr; i++) {
		const struct catalog_event *event = &set->catalog->events[i];
		struct event_fields fields;

		if (!set->has[i] || event_fields_read(instance, event->system, event->name, &fields, NULL))
			continue;
		found = filter_hint(filter, &fields, &instead);
		event_fields_release(&fields);
	}
	if (!found)
		return;
	fail_set(&told, 0,
		 "the kernel compares '*TEXT' with the end of a field of a fixed size, not of its string, and so the "
		 "filter '%s' matches nothing: write %s",
		 filter, buf_str(&instead));
	setup_warn(context->setup, &told);
}

static int set_filter(const struct setup_context *context, const struct event_set *set, const struct setup_event *event,
		      struct instance *instance, struct fail *fail)
{
	struct fail told;
	bool found = false;
	int err;

	if (event->filter)
		warn_of_filter(context, set, instance, event->filter);
	if (event->filter && set->nr > 1)
		return filter_many(context, set, event, instance, fail);
	if (event->filter)
		return event_set_filter(set, instance, event->filter, fail);
	if (instance->kind != INSTANCE_TOP || context->manner == SETUP_CHANGE)
		return 0;
	err = event_set_unfilter(set, instance, context->manner == SETUP_TOP, &found, fail);
	if (found) {
		fail_set(&told, 0, "the top instance had filters that weft did not set: they are off until %s",
			 context->manner == SETUP_TOP ? "'weft reset'" : "this recording ends");
		setup_warn(context->setup, &told);
	}
	return err;
}

/* Journals whether the event of "enable_event:SYSTEM:EVENT" is enabled: once the kernel has done that, it stays. */
static int remember_switched(struct instance *instance, const char *action, struct fail *fail)
{
	const char *system, *event;
	cleanup_free char *file = NULL;
	size_t len;

	if (strncmp(action, "enable_event:", 13) && strncmp(action, "disable_event:", 14))
		return 0;
	system = strchr(action, ':') + 1;
	len = strcspn(system, ":");
	event = system[len] ? system + len + 1 : "";
	if (asprintf(&file, "events/%.*s/%.*s/enable", (int)len, system, (int)strcspn(event, ": "), event) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	return !len || !strcspn(event, ": ") || !instance_has(instance, file) ? 0 :
										instance_remember(instance, file, fail);
}

/*
 * Journals what the trigger or function command changes besides its own file: a snapshot allocates the snapshot buffer,
 * a histogram of times sets the clock, and events are switched. -EOPNOTSUPP: what it does would be lost with the
 * recording.
 */
static int setup_remember_action(const struct setup_context *context, struct instance *instance, const char *action,
				 struct fail *fail)
{
	bool hist = !strncmp(action, "hist:", strlen("hist:"));
	bool shot = hist ? strstr(action, "snapshot(") != NULL : !strncmp(action, "snapshot", strlen("snapshot"));
	const struct {
		bool is;
		const char *file;
	} changes[] = {
		{ !strncmp(action, "traceo", strlen("traceo")), "tracing_on" },
		{ hist && strstr(action, "common_timestamp"), "trace_clock" },
		{ shot, "snapshot" },
	};
	int err = remember_switched(instance, action, fail);

	/* In an instance that existed before, the snapshot is freed or emptied at the end. */
	if (!err && shot && context->manner == SETUP_PRIVATE && instance_has(instance, "snapshot"))
		return fail_set(fail, -EOPNOTSUPP,
				"'%s': when this ends, the snapshot would be gone, and in no file: 'weft start' with "
				"this sets it, 'weft extract -s' then saves the snapshot",
				action);
	for (size_t i = 0; !err && i < array_size(changes); i++)
		if (changes[i].is && instance_has(instance, changes[i].file))
			err = instance_remember(instance, changes[i].file, fail);
	return err;
}

static int set_trigger(const struct setup_context *context, const struct event_set *set, struct instance *instance,
		       const char *trigger, struct fail *fail)
{
	int err = setup_remember_action(context, instance, trigger, fail);

	return err ? err : event_set_trigger(set, instance, trigger, context->late, fail);
}

/*
 * Plans the event of a probe that is only planned. The catalog does not have this event, so its files are written by
 * name.
 */
static int plan_event(const struct setup_context *context, const struct setup_event *event, const char *pattern,
		      struct instance *instance, struct fail *fail)
{
	const char *colon = strchr(pattern, ':');
	int err = 0;

	for (size_t i = 0; !err && colon && i < event->triggers.nr + 2; i++) {
		bool last = i == event->triggers.nr + 1;
		cleanup_free char *file = NULL;

		if (!i && !event->filter)
			continue;
		if (asprintf(&file, "events/%.*s/%s/%s", (int)(colon - pattern), pattern, colon + 1,
			     !i   ? "filter" :
			     last ? "enable" :
				    "trigger") < 0) {
			file = NULL;
			return fail_memory(fail);
		}
		if (!i || last)
			err = instance_write(instance, file, last ? "1" : event->filter, fail);
		else if (context->late)
			err = late_try(context->late, instance, file, event->triggers.items[i - 1], fail);
		else
			err = instance_append(instance, file, event->triggers.items[i - 1], fail);
	}
	return err;
}

/*
 * Adds the events of a list of names. With ignore_missing, a missing name causes a warning and the other names are
 * added.
 */
static int add_known(const struct setup *setup, struct event_set *set, const char *pattern, struct fail *fail)
{
	struct text_word word;
	int err = pattern[strspn(pattern, ",")] ? 0 : event_set_add(set, set->catalog, pattern, fail);

	while (!err && text_next_word(&pattern, ",", &word)) {
		cleanup_free char *part = strndup(word.at, word.len);

		err = part ? event_set_add(set, set->catalog, part, fail) : fail_memory(fail);
		if (err == -ENOENT && setup->ignore_missing) {
			setup_warn(setup, fail);
			err = 0;
		}
	}
	return err;
}

/* Adds the events that an analysis needs: the events of `pattern` that exist, or else the events of `instead`. */
static int add_wanted(const struct setup *setup, struct event_set *set, const struct setup_event *event,
		      struct fail *fail)
{
	const char *lists[] = { event->pattern, event->instead };
	struct text_word word;
	int err;

	for (size_t i = 0; i < array_size(lists) && !set->nr; i++) {
		while (lists[i] && text_next_word(&lists[i], ",", &word)) {
			cleanup_free char *part = strndup(word.at, word.len);

			err = part ? event_set_add(set, set->catalog, part, fail) : fail_memory(fail);
			if (err && err != -ENOENT)
				return err;
		}
	}
	if (set->nr)
		return 0;
	err = fail_set(fail, -ENOENT, "this kernel has no event '%s', which is needed to know: %s", event->pattern,
		       event->what_for);
	if (!event->optional)
		return err;
	setup_warn(setup, fail);
	return 0;
}

int setup_choose(const struct setup *setup, const struct setup_event *event, struct event_set *set, struct fail *fail)
{
	return event->what_for ? add_wanted(setup, set, event, fail) : add_known(setup, set, event->pattern, fail);
}

/*
 * Adds "EVENTS:mod:MODULE". If the module is not loaded, the kernel keeps the text until it is. The catalog does not
 * have these events, so the text is written unchanged.
 */
static int add_module(const struct setup_event *event, struct instance *instance, struct fail *fail)
{
	const char *module = strstr(event->pattern, MODULE_EVENTS) + strlen(MODULE_EVENTS);
	int err;

	if (strchr(event->pattern, ','))
		return fail_set(fail, -EOPNOTSUPP, "'%s': events of a module need an -e of their own", event->pattern);
	if (event->off || event->filter || event->triggers.nr)
		return fail_set(
			fail, -EOPNOTSUPP,
			"'%s': a filter, a trigger or -v needs events that are there; load the module '%s' first and "
			"name its events",
			event->pattern, module);
	err = instance_add(instance, "set_event", event->pattern, fail);
	if (err != -EINVAL)
		return err;
	return fail_set(fail, -ENOENT,
			"the kernel refuses the events '%s': ':mod:' needs Linux 6.14 or later with CONFIG_MODULES, "
			"and a module that is loaded must have these events",
			event->pattern);
}

/*
 * ftrace:print is what programs write to trace_marker. It is no event that can be enabled, and the only one of ftrace
 * that takes triggers (event_create_dir() of trace_events.c). --for takes what is written to the instance's own.
 */
static int add_marker(const struct setup_context *context, const struct setup_event *event, struct instance *instance,
		      struct fail *fail)
{
	static const char file[] = "events/ftrace/print/trigger";
	bool copied;
	int err = 0;

	if (!instance_has(instance, file))
		return fail_set(fail, -EOPNOTSUPP, "this kernel has no triggers on '%s' (Linux 4.17 has)",
				event->pattern);
	copied = instance->kind != INSTANCE_TOP && option_get(instance, "copy_trace_marker") > 0;
	if (event->off || event->filter || (!event->triggers.nr && !copied && !event->what_for))
		return fail_set(fail, -EOPNOTSUPP,
				"'%s': what is written to an instance's own trace_marker is always recorded, without a "
				"filter; it only takes triggers (-R)%s",
				event->pattern,
				instance->kind == INSTANCE_TOP || copied ?
					"" :
				option_exists(instance, "copy_trace_marker") ?
					". -O copy_trace_marker adds what is written to that of the top instance" :
					". That of the top instance is recorded by 'weft start' and 'weft extract'; "
					"Linux 6.16 and later copy what is written there to every recording");
	for (size_t i = 0; !err && i < event->triggers.nr; i++) {
		const char *trigger = event->triggers.items[i];

		err = setup_remember_action(context, instance, trigger, fail);
		if (!err && context->late)
			err = late_try(context->late, instance, file, trigger, fail);
		else if (!err)
			err = instance_add(instance, file, trigger, fail);
	}
	return err;
}

bool setup_is_marker(const char *pattern)
{
	return !strcmp(pattern, "ftrace:print") || !strcmp(pattern, "ftrace/print");
}

/* Adds the events of one -e to the sets, and sets their filter and triggers. */
static int add_event(const struct setup_context *context, const struct setup_event *event, struct instance *instance,
		     struct event_set *on, struct event_set *off, struct fail *fail)
{
	struct event_set set = { .catalog = context->catalog };
	const char *pattern = setup_probes_pattern(context->probes, event);
	int err;

	if (!pattern && event->optional)
		return 0;
	if (!pattern)
		return fail_set(fail, -EOPNOTSUPP, "the probe '%s' was not made: this command makes none",
				event->probe);
	if (event->probe && context->tracing->plan)
		return plan_event(context, event, pattern, instance, fail);
	if (strstr(pattern, MODULE_EVENTS))
		return add_module(event, instance, fail);
	if (setup_is_marker(pattern))
		return add_marker(context, event, instance, fail);
	err = event->what_for ? add_wanted(context->setup, &set, event, fail) :
				add_known(context->setup, &set, pattern, fail);
	if (!set.nr) {
		event_set_release(&set);
		return err;
	}
	if (!err && event->off) {
		event_set_subtract(on, &set);
		err = event_set_union(off, &set, fail);
	} else if (!err) {
		err = set_filter(context, &set, event, instance, fail);
		for (size_t i = 0; !err && i < event->triggers.nr; i++)
			err = set_trigger(context, &set, instance, event->triggers.items[i], fail);
		if (!err)
			err = event_set_union(on, &set, fail);
	}
	event_set_release(&set);
	return err;
}

bool setup_is_by_name(const char *pattern)
{
	struct text_word word;

	if (text_is_glob(pattern))
		return false;
	while (text_next_word(&pattern, ",", &word))
		if (strcspn(word.at, ":/") >= word.len)
			return false;
	return true;
}

/*
 * Sets up the events of an instance with their filters and triggers. This is the last step of setup_apply(), which
 * alone calls it. Filters and triggers are set before an event is enabled. If the kernel refuses an event of a whole
 * system, the result is a warning.
 */
static int setup_events(const struct setup_context *context, const struct setup_instance *wanted,
			struct instance *instance, struct event_set *on, struct fail *fail)
{
	struct event_set off = { .catalog = context->catalog };
	bool named = true;
	int err = 0;

	on->catalog = context->catalog;
	for (size_t i = 0; !err && i < wanted->nr_events; i++) {
		named &= wanted->events[i].probe || setup_is_by_name(wanted->events[i].pattern);
		err = add_event(context, &wanted->events[i], instance, on, &off, fail);
	}
	if (!err && instance->kind != INSTANCE_PRIVATE && off.has)
		err = event_set_enable(&off, instance, false, fail);
	if (!err && on->has) {
		err = event_set_enable(on, instance, true, fail);
		/*
		 * The kernel may refuse some events of "all" or of a system. The other events are still worth
		 * recording.
		 */
		if (err && !named && err != -EPERM && err != -EACCES) {
			setup_warn(context->setup, fail);
			err = 0;
		}
	}
	event_set_release(&off);
	return err;
}

/* The number of events in the buffer of somebody's instance. */
static uint64_t count_held(const struct instance *instance)
{
	struct ring_buffer_stats stats;
	uint64_t held = 0;
	struct cpus cpus;

	if (instance->kind == INSTANCE_PRIVATE || instance->tracing->plan || tracing_online_cpus(&cpus, NULL))
		return 0;
	for (int cpu = cpus_next(&cpus, 0); cpu >= 0; cpu = cpus_next(&cpus, cpu + 1))
		if (!ring_buffer_stats(instance, (uint32_t)cpu, &stats, NULL))
			held += stats.entries;
	return held;
}

/* A change of some settings empties the buffer. */
struct emptying {
	const char *file;
	char was[64];  /* the value of the setting */
	uint64_t held; /* events in the buffer before the change */
};

static struct emptying emptying_begin(const struct instance *instance, const char *file)
{
	struct emptying emptying = { .file = file, .held = count_held(instance) };

	if (emptying.held && instance_read_word(instance, file, emptying.was, sizeof(emptying.was), NULL))
		emptying.held = 0;
	return emptying;
}

static void emptying_tell(const struct emptying *emptying, const struct setup_context *context,
			  const struct instance *instance)
{
	char now[sizeof(emptying->was)], count[TEXT_HUMAN];
	bool named = *instance->name;
	struct fail told;

	if (!emptying->held || instance_read_word(instance, emptying->file, now, sizeof(now), NULL) ||
	    !strcmp(now, emptying->was))
		return;
	fail_set(&told, 0,
		 "the kernel empties the buffer when '%s' changes: %s event%s of %s%s%s %s gone "
		 "('weft extract' before such a change keeps them)",
		 emptying->file, text_count(count, emptying->held), text_plural(emptying->held),
		 named ? "instance '" : "the top instance", instance->name, named ? "'" : "",
		 emptying->held == 1 ? "is" : "are");
	setup_warn(context->setup, &told);
}

static int set_subbuf(const struct setup_context *context, const struct setup_instance *wanted,
		      struct instance *instance, struct fail *fail)
{
	struct emptying emptying = emptying_begin(instance, "buffer_subbuf_size_kb");
	int err = ring_buffer_set_subbuf(instance, wanted->subbuf_size, fail);

	if (!err)
		emptying_tell(&emptying, context, instance);
	return err;
}

static int set_clock(const struct setup_context *context, const struct setup_instance *wanted,
		     struct instance *instance, struct fail *fail)
{
	struct emptying emptying = emptying_begin(instance, "trace_clock");
	int err = ring_buffer_set_clock(instance, wanted->clock, fail);

	if (!err)
		emptying_tell(&emptying, context, instance);
	return err;
}

static int set_sizes(const struct setup_context *context, const struct setup_instance *wanted,
		     struct instance *instance, struct fail *fail)
{
	int err = 0;

	/* The size of sub-buffers comes first, because a change of it makes the kernel round the buffer sizes again. */
	if (wanted->subbuf_size)
		err = set_subbuf(context, wanted, instance, fail);
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

	/* A kernel that stores none has nothing to turn off. */
	if (wanted->no_user_data)
		return instance_has(instance, "syscall_user_buf_size") ?
			       instance_set(instance, "syscall_user_buf_size", "0", fail) :
			       0;
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

static int set_buffer(const struct setup_context *context, const struct setup_instance *wanted,
		      struct instance *instance, struct fail *fail)
{
	int err = set_sizes(context, wanted, instance, fail);

	if (!err && wanted->clock)
		err = set_clock(context, wanted, instance, fail);
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

/* Sets the options that come before the tracer, or the others. */
static int set_options(const struct setup_instance *wanted, struct instance *instance, bool before_tracer,
		       struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < wanted->options.nr; i++)
		if (option_precedes_tracer(wanted->options.items[i]) == before_tracer)
			err = option_set(instance, wanted->options.items[i], fail);
	return err;
}

/* Which tracer is there before is known only before it is set. */
static void warn_of_branches(const struct setup_context *context, const struct setup_instance *wanted,
			     const struct instance *instance)
{
	char now[64] = "";
	struct fail told;
	bool asked = false;

	for (size_t i = 0; i < wanted->options.nr; i++)
		asked |= !strcmp(wanted->options.items[i], "branch");
	if (asked && wanted->tracer)
		(void)!instance_read_word(instance, "current_tracer", now, sizeof(now), NULL);
	if (!asked || (wanted->tracer && strcmp(wanted->tracer, now) != 0))
		return;
	fail_set(&told, 0,
		 "the kernel heeds the option 'branch' only when a tracer begins, and none does: "
		 "add -p TRACER, or use -p branch instead");
	setup_warn(context->setup, &told);
}

/* The lists of functions are those of tracers. With nop they choose nothing. */
static int check_lists(const struct setup_context *context, const struct setup_instance *wanted,
		       const struct instance *instance, struct fail *fail)
{
	bool graph = wanted->graph.nr || wanted->graph_notrace.nr || wanted->graph_depth;
	char now[64] = "nop";
	struct fail told;

	if (context->manner == SETUP_CHANGE || wanted->tracer ||
	    (!graph && !wanted->functions.nr && !wanted->notrace.nr))
		return 0;
	(void)!instance_read_word(instance, "current_tracer", now, sizeof(now), NULL);
	if (strcmp(now, "nop") != 0)
		return 0;
	if (graph)
		return fail_set(fail, -EINVAL,
				"%s for the tracer function_graph alone, and no tracer is chosen: "
				"add -p function_graph",
				wanted->graph.nr    ? "-g is" :
				wanted->graph_depth ? "--max-graph-depth is" :
						      "--no-graph-function is");
	fail_set(&told, 0, "%s chooses among the functions of a tracer, and no tracer is chosen: add -p function",
		 wanted->functions.nr ? "-l" : "-n");
	setup_warn(context->setup, &told);
	return 0;
}

static int set_tracer(const struct setup_context *context, const struct setup_instance *wanted,
		      struct instance *instance, struct fail *fail)
{
	struct emptying emptying = { .held = 0 };
	/* Without the tracer there are no lists for it, either: the tracer is what is missing. */
	int err = wanted->tracer ? tracer_check(instance, wanted->tracer, fail) :
				   check_lists(context, wanted, instance, fail);

	if (!err)
		err = set_lists(context, wanted, instance, fail);
	if (!err)
		err = set_options(wanted, instance, true, fail);
	if (!err)
		warn_of_branches(context, wanted, instance);
	if (!err && wanted->tracer) {
		emptying = emptying_begin(instance, "current_tracer");
		err = tracer_set(instance, wanted->tracer, fail);
	}
	if (!err)
		emptying_tell(&emptying, context, instance);
	if (!err && wanted->reset_max_latency)
		err = set_number(instance, "tracing_max_latency", 0, fail);
	/* An option of a tracer exists only while that tracer is the current one. */
	if (!err)
		err = set_options(wanted, instance, false, fail);
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

/* The number of threads of a process that its list does not name; 0 for a thread that is not the first. */
static size_t count_left_out(const struct setup *setup, pid_t pid)
{
	size_t threads = process_status_number(pid, "Threads"), named = 0;

	if (threads < 2 || process_status_number(pid, "Tgid") != (size_t)pid)
		return 0;
	for (size_t i = 0; i < setup->nr_pids; i++) {
		bool again = false;

		for (size_t j = 0; j < i; j++)
			again |= setup->pids[j] == setup->pids[i];
		named += !again && process_status_number(setup->pids[i], "Tgid") == (size_t)pid;
	}
	return threads > named ? threads - named : 0;
}

/* The kernel's lists have single threads. */
static void warn_of_threads(const struct setup_context *context)
{
	const struct setup *setup = context->setup;
	struct fail told;

	for (size_t i = 0; i < setup->nr_pids; i++) {
		size_t nr = count_left_out(setup, setup->pids[i]);
		int pid = (int)setup->pids[i];

		if (!nr)
			continue;
		fail_set(&told, 0, "%zu other thread%s of process %d %s left out; --process %d takes all", nr,
			 nr == 1 ? "" : "s", pid, nr == 1 ? "is" : "are", pid);
		setup_warn(setup, &told);
	}
}

/*
 * The kernel takes PIDs of no task and traces the task that gets such a PID later. That is what a change may want;
 * a recording that begins with such a PID is a mistake.
 */
static int check_tasks(const struct setup_context *context, const pid_t *pids, size_t nr, struct fail *fail)
{
	struct fail told;

	if (context->tracing->plan || !tracing_is_tracefs(context->tracing) || !kernel_pids_are_ours())
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (kernel_pids_is_there(pids[i]))
			continue;
		if (context->manner != SETUP_CHANGE)
			return fail_set(fail, -ESRCH, "there is no task with pid %d", (int)pids[i]);
		fail_set(&told, 0, "there is no task with pid %d now; the kernel heeds a task that gets this PID later",
			 (int)pids[i]);
		setup_warn(context->setup, &told);
	}
	return 0;
}

int setup_follow_groups(const struct setup *setup, const struct setup_instance *wanted, struct instance *instance,
			void (*late)(pid_t pid, const char *name, void *arg), void *arg, struct fail *fail)
{
	const struct task_choice choice = { .groups = setup->groups, .nr_groups = setup->nr_groups };

	return groups_follow(instance, &choice, traces_functions(wanted, instance), late, arg, fail);
}

/* All threads of the processes, all tasks of the control groups, and these tasks. */
static int set_processes(struct instance *instance, const struct setup *setup, const pid_t *pids, size_t nr,
			 bool functions, struct fail *fail)
{
	struct pid_list more = { .nr = 0 };
	const struct task_choice choice = {
		.processes = &setup->processes, .groups = setup->groups, .nr_groups = setup->nr_groups, .more = &more
	};
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = pid_list_add(&more, pids[i]) ? 0 : fail_memory(fail);
	if (!err)
		err = processes_only(instance, &choice, functions, setup->keep_pids, fail);
	pid_list_release(&more);
	return err;
}

static int set_tasks(const struct setup_context *context, const struct setup_instance *wanted,
		     struct instance *instance, struct fail *fail)
{
	const struct setup *setup = context->setup;
	bool functions = traces_functions(wanted, instance);
	cleanup_free pid_t *pids = calloc(setup->nr_pids + 1, sizeof(*pids));
	size_t nr = setup->nr_pids;
	int err;

	if (!pids)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		pids[i] = setup->pids[i];
	err = check_tasks(context, pids, nr, fail);
	if (!err)
		err = check_tasks(context, setup->notrace_pids, setup->nr_notrace_pids, fail);
	if (err)
		return err;
	/* Once for all instances, which have the same list. */
	if (wanted == &setup->instances[0] || !setup_uses(setup, 0))
		warn_of_threads(context);
	if (setup->only_command && context->command)
		pids[nr++] = context->command;
	if (setup->all_pids)
		err = kernel_tasks_all(instance, false, fail);
	if (!err && setup->no_notrace_pids)
		err = kernel_tasks_all(instance, true, fail);
	if (err)
		return err;
	if (setup->processes.nr || setup->nr_groups)
		err = set_processes(instance, setup, pids, nr, functions, fail);
	else if (nr && !setup->keep_pids)
		err = kernel_tasks_only(instance, pids, nr, functions, setup->follow, fail);
	else if (setup->follow)
		err = kernel_tasks_follow(instance, functions, fail);
	if (!err && nr && setup->keep_pids && !setup->processes.nr && !setup->nr_groups)
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
		err = tracer_function_command(instance, text, NULL, fail);
	}
	return err;
}

static int set_commands(const struct setup_context *context, const struct setup_instance *wanted,
			struct instance *instance, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < wanted->commands.nr_gone; i++)
		err = remove_command(instance, wanted->commands.gone[i], fail);
	for (size_t i = 0; !err && i < wanted->commands.nr; i++) {
		const char *command = wanted->commands.items[i];

		err = setup_remember_action(context, instance, command + strcspn(command, ":") + 1, fail);
		if (!err)
			err = tracer_function_command(instance, command, context->late, fail);
	}
	return err;
}

int setup_apply(const struct setup_context *context, const struct setup_instance *wanted, struct instance *instance,
		struct event_set *events, struct fail *fail)
{
	int err = set_buffer(context, wanted, instance, fail);

	if (!err)
		err = set_tasks(context, wanted, instance, fail);
	if (!err)
		err = set_files(context, wanted, fail);
	if (!err)
		err = set_tracer(context, wanted, instance, fail);
	if (!err)
		err = setup_events(context, wanted, instance, events, fail);
	/* Without `late` they act as soon as they are set, and one may disable an event. */
	return err ? err : set_commands(context, wanted, instance, fail);
}
