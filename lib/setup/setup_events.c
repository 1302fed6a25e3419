// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/setup/setup_events_internal.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/setup/borrow_internal.h"
#include "lib/setup/event_enable.h"
#include "lib/setup/filter_hint_internal.h"
#include "lib/setup/late.h"
#include "lib/setup/setup_probes.h"
#include "lib/tracefs/event_fields.h"
#include "lib/undo/change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
	struct fail told;
	size_t nr = 0;
	int err = event_set_filter_fitting(set, instance, event->filter, &left, fail);

	if (err || !left.nr) {
		event_set_release(&left);
		return err;
	}
	for (size_t i = 0; i < set->catalog->nr && nr < NAMED; i++)
		if (left.has[i] && buf_addf(&names, "%s%s", nr ? ", " : "", set->catalog->events[i].name))
			nr++;
	fail_set(&told, 0,
		 "the filter '%s' is valid for %zu of the %zu events of '%s'; these are traced without a filter: %s%s",
		 event->filter, set->nr - left.nr, set->nr, event->pattern, buf_str(&names), left.nr > nr ? "..." : "");
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
	err = event_set_unfilter(set, instance, &found, fail);
	if (found) {
		fail_set(&told, 0, "the top instance had filters that weft did not set: they are off until %s",
			 context->manner == SETUP_TOP ? "'weft reset'" : "this recording ends");
		setup_warn(context->setup, &told);
	}
	return err;
}

/*
 * Journals what the trigger or function command changes besides its own file: a snapshot allocates the snapshot buffer,
 * and a histogram of times sets the clock.
 */
int setup_remember_action(const struct setup_context *context, struct instance *instance, const char *action,
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
	int err = 0;

	/* In an instance that existed before, the snapshot is freed or emptied at the end. */
	if (shot && context->manner == SETUP_PRIVATE && instance_has(instance, "snapshot"))
		return fail_set(fail, -EOPNOTSUPP,
				"'%s': when this ends, the snapshot would be gone, and in no file: 'weft start' with "
				"this sets it, 'weft extract -s' then saves the snapshot",
				action);
	for (size_t i = 0; !err && i < array_size(changes); i++)
		if (changes[i].is && instance_has(instance, changes[i].file))
			err = instance_remember(instance, changes[i].file, fail);
	return err;
}

/* Keeps a trigger with a count for later (late.h). It was set for each event of the set. */
static int keep_late(const struct setup_context *context, const struct event_set *set, struct instance *instance,
		     const char *trigger, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < set->catalog->nr; i++) {
		const struct catalog_event *event = &set->catalog->events[i];
		cleanup_free char *file = NULL;

		if (!set->has[i])
			continue;
		if (asprintf(&file, "events/%s/%s/trigger", event->system, event->name) < 0) {
			file = NULL;
			return fail_memory(fail);
		}
		err = late_add(context->late, instance, file, trigger, fail);
	}
	return err;
}

static int set_trigger(const struct setup_context *context, const struct event_set *set, struct instance *instance,
		       const char *trigger, struct fail *fail)
{
	int err = setup_remember_action(context, instance, trigger, fail);

	if (!err && !late_is_untried(context->late, instance, trigger))
		err = event_set_trigger(set, instance, trigger, fail);
	return err || !context->late || !late_is_counted(trigger) ? err :
								    keep_late(context, set, instance, trigger, fail);
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
		else if (late_is_untried(context->late, instance, event->triggers.items[i - 1]))
			err = late_add(context->late, instance, file, event->triggers.items[i - 1], fail);
		else
			err = instance_append(instance, file, event->triggers.items[i - 1], fail);
	}
	return err;
}

/*
 * Adds the events of a list of names. With ignore_missing, a missing name causes a warning and the other names are
 * added.
 */
static int add_known(const struct setup_context *context, struct event_set *set, const char *pattern, struct fail *fail)
{
	struct text_word word;
	int err = pattern[strspn(pattern, ",")] ? 0 : event_set_add(set, context->catalog, pattern, fail);

	while (!err && text_next_word(&pattern, ",", &word)) {
		cleanup_free char *part = strndup(word.at, word.len);

		err = part ? event_set_add(set, context->catalog, part, fail) : fail_memory(fail);
		if (err == -ENOENT && context->setup->ignore_missing) {
			setup_warn(context->setup, fail);
			err = 0;
		}
	}
	return err;
}

/* Adds the events that an analysis needs: the events of `pattern` that exist, or else the events of `instead`. */
static int add_wanted(const struct setup_context *context, struct event_set *set, const struct setup_event *event,
		      struct fail *fail)
{
	const char *lists[] = { event->pattern, event->instead };
	struct text_word word;
	int err;

	for (size_t i = 0; i < array_size(lists) && !set->nr; i++) {
		while (lists[i] && text_next_word(&lists[i], ",", &word)) {
			cleanup_free char *part = strndup(word.at, word.len);

			err = part ? event_set_add(set, context->catalog, part, fail) : fail_memory(fail);
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
	setup_warn(context->setup, fail);
	return 0;
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
 * that takes triggers (event_create_dir() of trace_events.c).
 */
static int add_marker(const struct setup_context *context, const struct setup_event *event, struct instance *instance,
		      struct fail *fail)
{
	static const char file[] = "events/ftrace/print/trigger";
	int err = 0;

	if (!instance_has(instance, file))
		return fail_set(fail, -EOPNOTSUPP, "this kernel has no triggers on '%s' (Linux 4.17 has)",
				event->pattern);
	if (event->off || event->filter || !event->triggers.nr)
		return fail_set(fail, -EOPNOTSUPP,
				"'%s': what is written to trace_marker is always recorded, without a filter; it only "
				"takes triggers (-R)",
				event->pattern);
	for (size_t i = 0; !err && i < event->triggers.nr; i++) {
		const char *trigger = event->triggers.items[i];

		err = setup_remember_action(context, instance, trigger, fail);
		if (!err && !late_is_untried(context->late, instance, trigger))
			err = instance_add(instance, file, trigger, fail);
		if (!err && context->late && late_is_counted(trigger))
			err = late_add(context->late, instance, file, trigger, fail);
	}
	return err;
}

static bool is_marker(const char *pattern)
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

	if (!pattern)
		return fail_set(fail, -EOPNOTSUPP, "the probe '%s' was not made: this command makes none",
				event->probe);
	if (event->probe && context->tracing->plan)
		return plan_event(context, event, pattern, instance, fail);
	if (strstr(pattern, MODULE_EVENTS))
		return add_module(event, instance, fail);
	if (is_marker(pattern))
		return add_marker(context, event, instance, fail);
	err = event->what_for ? add_wanted(context, &set, event, fail) : add_known(context, &set, pattern, fail);
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

/* Whether each word of the pattern names exactly one event. */
static bool is_by_name(const char *pattern)
{
	struct text_word word;

	if (text_is_glob(pattern))
		return false;
	while (text_next_word(&pattern, ",", &word))
		if (strcspn(word.at, ":/") >= word.len)
			return false;
	return true;
}

int setup_events(const struct setup_context *context, const struct setup_instance *wanted, struct instance *instance,
		 struct event_set *on, struct fail *fail)
{
	struct event_set off = { .catalog = context->catalog };
	bool named = true;
	int err = 0;

	on->catalog = context->catalog;
	for (size_t i = 0; !err && i < wanted->nr_events; i++) {
		named &= wanted->events[i].probe || is_by_name(wanted->events[i].pattern);
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
