// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls as slices. The importer pairs sys_enter and sys_exit by itself: it opens a slice for each sys_enter, so
 * one without its exit, or one that another event repeats, puts all later calls of the task inside it. So an entry
 * waits until lib/meaning/timeline knows its exit; then both are written as the messages that the importer pairs.
 * Everything else is written as an event that makes no slice: those of syscalls where raw_syscalls has the same calls,
 * entries and exits whose other end is not recorded or may be lost. Where the importer has no name for a call, both
 * events are such, and weft writes the slice. Memory: one event for each task.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/perfetto/kind_internal.h"
#include "formats/export/perfetto/perfetto_internal.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/timeline/timeline.h"
#include "lib/meaning/uapi/names.h"

/* The importer names calls up to the newest in its tables: futex_requeue. */
enum { NEWEST_OF_IMPORTER = 456 };

enum { NOT_ASKED, NAMED, NAMELESS };

struct perfetto_call {
	bool open;
	uint8_t *data; /* a copy of the entry's record */
	size_t size;
	struct event entry;
	struct perfetto_kind *kind;
	int64_t number;
};

static bool importer_names(const struct context *context, const struct perfetto_kind *kind, int64_t number)
{
	static const char *const machines[] = { "aarch64", "armv8l", "armv7l", "x86_64", "i686" };

	if (number < 0 || number >= PERFETTO_CALLS)
		return false;
	for (size_t i = 0; i < array_size(machines); i++)
		if (!strcmp(context->machine, machines[i]) && number <= NEWEST_OF_IMPORTER)
			return true;
	/* Both have only the number. */
	return !kind->call_by_name && !system_call_name(context->machine, number);
}

/* Whether the importer draws the call with its name. A sigreturn ends with the number that it restores. */
static bool is_named(struct perfetto_buffer *buffer, const struct perfetto_call *call)
{
	const char *name;
	uint8_t *known;

	if (call->number < 0 || call->number >= PERFETTO_CALLS)
		return false;
	known = &buffer->named[call->kind->call_by_name][call->number];
	if (*known == NOT_ASKED) {
		name = system_call_name(buffer->context->machine, call->number);
		*known = importer_names(buffer->context, call->kind, call->number) &&
					 (!name || (strcmp(name, "rt_sigreturn") && strcmp(name, "sigreturn"))) ?
				 NAMED :
				 NAMELESS;
	}
	return *known == NAMED;
}

static int64_t number_of(const struct perfetto_kind *kind, const struct event *event)
{
	return kind->nr_fields ? place_s64(&kind->fields[0].place, event) : -1;
}

static void put(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
		const struct event *event, bool paired)
{
	perfetto_put_kind(perfetto, buffer, paired ? kind : kind->bare, event);
}

/* Writes the entry that waits, if there is one. */
static void let_go(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_call *call, bool paired)
{
	if (call->open)
		put(perfetto, buffer, call->kind, &call->entry, paired);
	call->open = false;
}

static bool keep(struct perfetto_call *call, struct perfetto_kind *kind, const struct event *event)
{
	size_t len = (size_t)event->len + event->more;

	if (call->size < len) {
		uint8_t *data = realloc(call->data, len);

		if (!data)
			return false;
		call->data = data;
		call->size = len;
	}
	memcpy(call->data, event->data, len);
	call->entry = *event;
	call->entry.data = call->data;
	call->kind = kind;
	call->number = number_of(kind, event);
	call->open = true;
	return true;
}

static void enter(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
		  const struct event *event)
{
	struct perfetto_call *call = u64_map_get(&buffer->calls, (uint32_t)event->pid);

	if (call)
		let_go(perfetto, buffer, call, false);
	if (!call || !keep(call, kind, event))
		export_no_memory(&perfetto->export);
}

static void put_slices(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct perfetto_call *call,
		       const struct event *event)
{
	const char *known = system_call_name(buffer->context->machine, call->number);
	const char *name = call->kind->format->name;
	char text[CALL_NAME + 128];

	if (call->kind->call_by_name)
		snprintf(text, sizeof(text), "sys_%.100s", name + strlen("sys_enter_"));
	else if (known)
		snprintf(text, sizeof(text), "sys_%.100s", known);
	else
		snprintf(text, sizeof(text), "sys_%lld", (long long)call->number);
	perfetto_put_task_slice(perfetto, buffer, event->pid, SLICE_BEGIN, call->entry.ts, text);
	perfetto_put_task_slice(perfetto, buffer, event->pid, SLICE_END, event->ts, NULL);
}

static void leave(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
		  const struct event *event)
{
	struct perfetto_call *call = u64_map_find(&buffer->calls, (uint32_t)event->pid);
	bool named;

	buffer->has_exits = true;
	if (!call || !call->open) {
		put(perfetto, buffer, kind, event, false);
		return;
	}
	if (!buffer->found.call) {
		let_go(perfetto, buffer, call, false);
		put(perfetto, buffer, kind, event, false);
		return;
	}
	named = is_named(buffer, call);
	if (!named)
		put_slices(perfetto, buffer, call, event);
	let_go(perfetto, buffer, call, named);
	put(perfetto, buffer, kind, event, named);
}

void perfetto_calls_see(struct perfetto *perfetto, struct perfetto_buffer *buffer, struct perfetto_kind *kind,
			const struct event *event)
{
	buffer->has_raw |= !kind->call_by_name;
	if (buffer->has_raw && kind->call_by_name)
		put(perfetto, buffer, kind, event, false);
	else if (kind->enters)
		enter(perfetto, buffer, kind, event);
	else
		leave(perfetto, buffer, kind, event);
}

void perfetto_calls_end(struct perfetto *perfetto, struct perfetto_buffer *buffer)
{
	struct perfetto_call *call;
	uint64_t pid;

	/* Calls that last until the end are open slices, unless the file has no exits at all. */
	for (size_t at = 0; (call = u64_map_next(&buffer->calls, &at, &pid));)
		let_go(perfetto, buffer, call,
		       buffer->has_exits && importer_names(buffer->context, call->kind, call->number) &&
			       timeline_in_call(buffer->timeline, buffer->index, (int32_t)pid));
}

void perfetto_calls_init(struct perfetto_buffer *buffer)
{
	u64_map_init(&buffer->calls, sizeof(struct perfetto_call));
}

void perfetto_calls_release(struct perfetto_buffer *buffer)
{
	struct perfetto_call *call;
	uint64_t pid;

	for (size_t at = 0; (call = u64_map_next(&buffer->calls, &at, &pid));)
		free(call->data);
	u64_map_release(&buffer->calls);
}
