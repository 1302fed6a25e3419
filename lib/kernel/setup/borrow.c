// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/borrow_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/undo.h"

/* Whether the setting stays as `weft set` has made it: what comes next is a `weft start`. */
static bool stays(const struct instance *top, bool keeps, const char *file)
{
	return keeps && top->undo && undo_is_chosen(top->undo, top->name, file);
}

/*
 * Journals the `enable` file of one event that set_event lists ("system:event") if the event is also armed for a
 * trigger: then `enable` has a star, and set_event does not show that.
 */
static int remember_armed(struct instance *top, struct text_word line, struct fail *fail)
{
	const char *colon = memchr(line.at, ':', line.len);
	cleanup_free char *file = NULL;
	char word[8];

	if (!colon)
		return 0;
	if (asprintf(&file, "events/%.*s/%.*s/enable", (int)(colon - line.at), line.at,
		     (int)(line.at + line.len - colon - 1), colon + 1) < 0) {
		file = NULL;
		return fail_memory(fail);
	}
	if (instance_read_word(top, file, word, sizeof(word), NULL) || !strchr(word, '*'))
		return 0;
	return instance_remember(top, file, fail);
}

static int borrow_events(struct instance *top, bool keeps, bool *found, struct fail *fail)
{
	cleanup_buf struct buf events = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = instance_read(top, "set_event", &events, fail);

	if (err || !events.len || stays(top, keeps, "set_event"))
		return err;
	*found = true;
	err = instance_remember(top, "set_event", fail);
	at = buf_str(&events);
	left = events.len;
	while (!err && text_next_line(&at, &left, &line))
		err = remember_armed(top, line, fail);
	/* The kernel disables all events when set_event is opened with truncation. */
	return err ? err : instance_write(top, "set_event", "", fail);
}

/*
 * Whether the list has entries that truncation removes. Comments, "no pid" and function probes
 * ("function:traceoff:unlimited") are not such entries.
 */
static bool has_entries(const char *text)
{
	size_t left = strlen(text);
	struct text_word line;

	while (text_next_line(&text, &left, &line))
		if (control_is_name(line) && !memchr(line.at, ':', line.len))
			return true;
	return false;
}

static int borrow_list(struct instance *top, const char *file, bool keeps, bool *found, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	/* On a kernel that forbids function tracing the file cannot be read and has no effect. */
	if (!instance_has(top, file) || instance_read(top, file, &text, NULL) || !has_entries(buf_str(&text)) ||
	    stays(top, keeps, file))
		return 0;
	*found = true;
	return instance_set(top, file, "", fail);
}

/* An installed list without entries still has an effect: it traces no task (tasks.h). */
static int borrow_tasks(struct instance *top, const char *file, bool keeps, bool *found, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!instance_has(top, file) || instance_read(top, file, &text, NULL) ||
	    !strncmp(buf_str(&text), "no pid", 6) || stays(top, keeps, file))
		return 0;
	*found |= text.len > 0;
	return instance_set(top, file, "", fail);
}

static int borrow_lists(struct instance *top, bool keeps, bool *found, struct fail *fail)
{
	static const char *const tasks[] = { "set_event_pid", "set_event_notrace_pid", "set_ftrace_pid",
					     "set_ftrace_notrace_pid" };
	static const char *const lists[] = { "set_ftrace_filter", "set_ftrace_notrace", "set_graph_function",
					     "set_graph_notrace" };
	int err = 0;

	for (size_t i = 0; !err && i < array_size(tasks); i++)
		err = borrow_tasks(top, tasks[i], keeps, found, fail);
	for (size_t i = 0; !err && i < array_size(lists); i++)
		err = borrow_list(top, lists[i], keeps, found, fail);
	return err;
}

static int borrow_options(struct instance *top, bool keeps, bool *found, struct fail *fail)
{
	static const char *const options[] = {
		"nostacktrace", "nouserstacktrace", "noevent-fork", "nofunction-fork", "nofunc_stack_trace",
	};
	int err = 0;

	for (size_t i = 0; !err && i < array_size(options); i++) {
		char file[64];

		snprintf(file, sizeof(file), "options/%s", options[i] + 2);
		if (option_get(top, options[i] + 2) <= 0 || stays(top, keeps, file))
			continue;
		*found = true;
		err = option_set(top, options[i], fail);
	}
	return err;
}

int instance_borrow(struct instance *top, bool keeps, bool *ret_found, struct fail *fail)
{
	struct cpus cpus = { .bits = { 0 } };
	char word[16];
	int err = 0;

	*ret_found = false;
	/* A new instance inherits only the options of the top instance. */
	if (top->kind == INSTANCE_PRIVATE)
		return borrow_options(top, keeps, ret_found, fail);
	/* A latency tracer sets this file to 0 when it starts, and then to its own worst case. */
	if (instance_has(top, "tracing_max_latency"))
		err = instance_remember(top, "tracing_max_latency", fail);
	if (!err)
		err = borrow_events(top, keeps, ret_found, fail);
	if (!err)
		err = borrow_lists(top, keeps, ret_found, fail);
	if (!err && instance_has(top, "max_graph_depth") &&
	    !instance_read_word(top, "max_graph_depth", word, sizeof(word), NULL) && strcmp(word, "0") &&
	    !stays(top, keeps, "max_graph_depth")) {
		*ret_found = true;
		err = instance_set(top, "max_graph_depth", "0", fail);
	}
	if (!err)
		err = borrow_options(top, keeps, ret_found, fail);
	if (!err && !stays(top, keeps, "tracing_cpumask") && !tracing_online_cpus(&cpus, NULL))
		err = ring_buffer_set_cpus(top, &cpus, fail);
	return err;
}

int event_set_unfilter(const struct event_set *set, struct instance *instance, bool keeps, bool *ret_found,
		       struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && set->has && i < set->catalog->nr; i++) {
		const struct catalog_event *event = &set->catalog->events[i];
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_free char *file = NULL;

		if (!set->has[i])
			continue;
		if (asprintf(&file, "events/%s/%s/filter", event->system, event->name) < 0) {
			file = NULL;
			return fail_memory(fail);
		}
		if (instance_read(instance, file, &text, NULL) || !strncmp(buf_str(&text), "none", 4) ||
		    stays(instance, keeps, file))
			continue;
		*ret_found = true;
		err = instance_set(instance, file, "0", fail);
	}
	return err;
}
