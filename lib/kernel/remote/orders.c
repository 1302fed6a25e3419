// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/orders_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/settings.h"

bool orders_facts(struct buf *to)
{
	bool ok = buf_add_str(to, "file weft/possible /sys/devices/system/cpu/possible\n"
				  "own events/header_page\nown events/header_event\ntop available_events\n");

	for (const struct settings_path *at = settings_elsewhere; ok && at->name; at++)
		ok = buf_addf(to, "file %s %s\n", at->name, at->path);
	return ok && buf_add_str(to, "ask facts\n");
}

/* Each is an order of its own, so no line may be in it. */
static int set(struct buf *to, const char *verb, const char *file, const char *value, struct fail *fail)
{
	if (strchr(value, '\n'))
		return fail_set(fail, -EINVAL, "'%s' for %s has more than one line", value, file);
	return buf_addf(to, "%s %s %s\n", verb, file, value) ? 0 : fail_memory(fail);
}

static int set_list(struct buf *to, const char *verb, const char *file, const struct setup_list *list,
		    struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < list->nr; i++)
		err = set(to, verb, file, list->items[i], fail);
	return err;
}

static int set_tasks(const struct setup *setup, struct buf *to, struct fail *fail)
{
	cleanup_buf struct buf pids = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < setup->nr_pids; i++)
		ok = buf_addf(&pids, i ? " %d" : "%d", (int)setup->pids[i]);
	if (ok && setup->follow)
		ok = buf_add_str(to, "set options/event-fork 1\n");
	if (!ok)
		return fail_memory(fail);
	return pids.len ? set(to, "set", "set_event_pid", buf_str(&pids), fail) : 0;
}

static int set_buffer(const struct setup_instance *wanted, struct buf *to, struct fail *fail)
{
	cleanup_buf struct buf mask = BUF_INIT;
	bool ok = true;
	int err = 0;

	if (wanted->size)
		ok = buf_addf(to, "set buffer_size_kb %" PRIu64 "\n", (wanted->size + 1023) / 1024);
	if (ok && wanted->has_cpus)
		ok = cpus_mask(&wanted->cpus, &mask) && buf_addf(to, "set tracing_cpumask %s\n", buf_str(&mask));
	if (ok && wanted->stacks)
		ok = buf_add_str(to, "set options/stacktrace 1\n");
	for (size_t i = 0; ok && i < wanted->wishes.nr; i++)
		ok = buf_addf(to, "wish options/%s 1\n", wanted->wishes.items[i]);
	if (!ok)
		return fail_memory(fail);
	if (wanted->clock)
		err = set(to, "set", "trace_clock", wanted->clock, fail);
	return err ? err : set_list(to, "set", "trace_options", &wanted->options, fail);
}

/* Adds an order for each event of the set. */
static int for_each(const struct event_set *events, const char *verb, const char *file, const char *value,
		    struct buf *to, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && events->has && i < events->catalog->nr; i++) {
		const struct catalog_event *event = &events->catalog->events[i];
		char name[192];

		if (!event_set_has(events, i))
			continue;
		if (snprintf(name, sizeof(name), "events/%s/%s/%s", event->system, event->name, file) >=
		    (int)sizeof(name))
			return fail_set(fail, -EBADMSG, "it has an event with too long a name");
		err = set(to, verb, name, value, fail);
	}
	return err;
}

/* Like the kernel, a filter of several events is for those that have its fields. */
static int set_filter(const struct setup_event *event, const struct event_set *set_, struct buf *to, struct fail *fail)
{
	int err = for_each(set_, set_->nr > 1 ? "try" : "set", "filter", event->filter, to, fail);

	if (err || set_->nr < 2)
		return err;
	return buf_addf(to, "some filter '%s'\n", event->pattern) ? 0 : fail_memory(fail);
}

static int add_event(const struct setup *setup, const struct setup_event *event, struct event_set *on, struct buf *to,
		     struct fail *fail)
{
	struct event_set chosen = { .catalog = on->catalog };
	/* What programs write to the instance's own trace_marker is recorded anyhow. */
	int err = setup_is_marker(event->pattern) ? 0 : setup_choose(setup, event, &chosen, fail);

	if (!err && event->filter)
		err = set_filter(event, &chosen, to, fail);
	for (size_t i = 0; !err && i < event->triggers.nr; i++)
		err = for_each(&chosen, "add", "trigger", event->triggers.items[i], to, fail);
	if (!err)
		err = event_set_union(on, &chosen, fail);
	event_set_release(&chosen);
	return err;
}

/* The kernel may refuse some events of "all" or of a system. The other events are still worth recording. */
static int set_events(const struct setup *setup, struct event_set *on, struct buf *to, struct fail *fail)
{
	const struct setup_instance *wanted = &setup->instances[0];
	bool named = true;
	int err = 0;

	for (size_t i = 0; !err && i < wanted->nr_events; i++) {
		named &= setup_is_by_name(wanted->events[i].pattern);
		err = add_event(setup, &wanted->events[i], on, to, fail);
	}
	if (!err)
		err = for_each(on, named ? "set" : "try", "enable", "1", to, fail);
	return err || named ? err : buf_add_str(to, "some enable those asked for\n") ? 0 : fail_memory(fail);
}

static bool ask_settings(struct buf *to)
{
	bool ok = true;

	for (size_t i = 0; ok && settings_of_instance[i]; i++)
		ok = buf_addf(to, "own %s\n", settings_of_instance[i]);
	for (size_t i = 0; ok && settings_of_kernel[i]; i++)
		ok = buf_addf(to, "top %s\n", settings_of_kernel[i]);
	return ok;
}

static int ask_formats(struct event_set *on, bool all, struct buf *to, struct fail *fail)
{
	int err = all ? event_set_add(on, on->catalog, "all", fail) : 0;

	if (err)
		return err;
	if (!buf_add_str(to, "system ftrace\n"))
		return fail_memory(fail);
	return for_each(on, "own", "format", "", to, fail);
}

int orders_setup(const struct setup *setup, const struct catalog *catalog, bool all_formats, struct buf *to,
		 struct fail *fail)
{
	struct event_set on = { .catalog = catalog };
	int err = set_buffer(&setup->instances[0], to, fail);

	if (!err)
		err = set_tasks(setup, to, fail);
	if (!err)
		err = set_events(setup, &on, to, fail);
	if (!err)
		err = ask_formats(&on, all_formats, to, fail);
	event_set_release(&on);
	if (!err && (!ask_settings(to) || !buf_add_str(to, "filters\nfile kallsyms /proc/kallsyms\nask setup\n")))
		err = fail_memory(fail);
	return err;
}

bool orders_begin(uint32_t page, struct buf *to)
{
	return buf_addf(to, "go %" PRIu32 "\n", page);
}

bool orders_end(struct buf *to)
{
	return ask_settings(to) && buf_add_str(to, "go end\n");
}
