// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which events the slices are made of. */
#include "lib/timeline/timeline_internal.h"

#include "lib/base/vec.h"

#include <string.h>

static bool ends_with(const char *name, const char *end, size_t *ret_len)
{
	size_t len = strlen(name), tail = strlen(end);

	if (len <= tail || strcmp(name + len - tail, end))
		return false;
	*ret_len = len - tail;
	return true;
}

/* The pairs of events of one CPU: NAME_entry and NAME_exit. A NULL name stands for any. */
static const struct {
	const char *system, *name, *number, *more;
	enum timeline_kind kind;
} pairs[] = {
	{ "irq", "irq_handler", "irq", "name", TIMELINE_IRQ },
	{ "irq", "softirq", "vec", NULL, TIMELINE_SOFTIRQ },
	{ "irq", "tasklet", NULL, NULL, TIMELINE_TASKLET },
	{ "irq_vectors", NULL, NULL, NULL, TIMELINE_VECTOR },
};

const struct timeline_counted timeline_counters[TIMELINE_COUNTERS] = {
	[TIMELINE_FREQUENCY] = { "power", "cpu_frequency", "cpu_id", NULL, "state" },
	[TIMELINE_IDLE] = { "power", "cpu_idle", "cpu_id", NULL, "state" },
	[TIMELINE_MEMORY] = { "kmem", "rss_stat", "mm_id", "member", "size" },
};

/* The index of the stem, which is new if it has not been seen. */
static bool stem_of(struct part *part, const char *text, size_t len, uint16_t *ret)
{
	size_t i = 0;

	while (i < part->nr_stems && (part->stems[i].len != len || memcmp(part->stems[i].text, text, len)))
		i++;
	if (i == part->nr_stems) {
		struct stem *stem = vec_push(part->stems, part->nr_stems);

		if (!stem)
			return false;
		*stem = (struct stem){ text, len };
	}
	*ret = (uint16_t)i;
	return true;
}

static void bind_pair(struct part *part, const struct event_type *event_type, struct type *type)
{
	const struct format *format = event_type->format;
	bool begins;
	size_t len;

	begins = ends_with(format->name, "_entry", &len);
	if (!begins && !ends_with(format->name, "_exit", &len))
		return;
	for (size_t i = 0; i < array_size(pairs); i++) {
		if (strcmp(pairs[i].system, format->system) ||
		    (pairs[i].name && (strlen(pairs[i].name) != len || memcmp(pairs[i].name, format->name, len))))
			continue;
		if (pairs[i].number)
			(void)place_find(&type->places[NUMBER], event_type, pairs[i].number);
		if (pairs[i].more)
			(void)place_find(&type->places[MORE], event_type, pairs[i].more);
		type->kind = pairs[i].kind;
		type->role = begins ? DOES_BEGIN : DOES_END;
		if (!stem_of(part, format->name, len, &type->pair)) {
			part->starved = true;
			type->role = DOES_NOTHING;
		}
		return;
	}
}

static void bind_counter(const struct event_type *event_type, struct type *type)
{
	const struct format *format = event_type->format;

	for (unsigned i = 0; i < TIMELINE_COUNTERS; i++) {
		if (strcmp(timeline_counters[i].name, format->name) ||
		    strcmp(timeline_counters[i].system, format->system))
			continue;
		type->counter = (enum timeline_counter)i;
		if (place_find(&type->places[NUMBER], event_type, timeline_counters[i].owner) &&
		    place_find(&type->places[VALUE], event_type, timeline_counters[i].value) &&
		    (!timeline_counters[i].part ||
		     place_find(&type->places[MORE], event_type, timeline_counters[i].part)))
			type->role = DOES_COUNTER;
	}
}

static void bind_call(const struct part *part, const struct event_type *event_type, struct type *type)
{
	const struct format *format = event_type->format;
	bool raw = !strcmp(format->system, "raw_syscalls");

	if (!raw && strcmp(format->system, "syscalls"))
		return;
	if (raw ? !strcmp(format->name, "sys_enter") : !strncmp(format->name, "sys_enter_", 10))
		type->role = DOES_ENTER;
	else if (raw ? !strcmp(format->name, "sys_exit") : !strncmp(format->name, "sys_exit_", 9))
		type->role = DOES_EXIT;
	if (type->role == DOES_NOTHING)
		return;
	if (raw)
		(void)place_find(&type->places[NUMBER], event_type, "id");
	open_calls_bind(&part->calls, format, &type->call);
}

/* A consumer that sees the events learns what they are, also if it does not want their slices. */
static bool is_of_use(const struct timeline *timeline, const struct type *type)
{
	bool calls = type->role == DOES_ENTER || type->role == DOES_EXIT;

	return timeline->calls.event || is_wanted(timeline, calls                      ? TIMELINE_CALL :
							    type->role == DOES_COUNTER ? TIMELINE_COUNTER :
											 type->kind);
}

enum deed timeline_bind(struct part *part, const struct event_type *event_type)
{
	const struct format *format = event_type->format;
	struct type found = { .role = DOES_NOTHING }, *type;

	if (!format)
		return DOES_NOTHING;
	if (!strcmp(format->system, "sched") && !strcmp(format->name, "sched_switch"))
		return DOES_SWITCH;
	bind_call(part, event_type, &found);
	if (found.role == DOES_NOTHING)
		bind_pair(part, event_type, &found);
	if (found.role == DOES_NOTHING)
		bind_counter(event_type, &found);
	if (found.role == DOES_NOTHING || !is_of_use(part->timeline, &found))
		return DOES_NOTHING;
	type = u64_map_add(&part->types, event_type->index);
	if (!type)
		return DOES_NOTHING;
	*type = found;
	return type->role;
}
