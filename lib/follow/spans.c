// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/follow/spans.h"

#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/follow/listed.h"

#include <stdlib.h>
#include <string.h>

enum role { TYPE_UNKNOWN, TYPE_NONE, TYPE_SWITCH, TYPE_CALL_START, TYPE_CALL_END, TYPE_START, TYPE_END };

struct type_role {
	uint8_t role;  /* enum role */
	uint16_t pair; /* index of its name */
};

struct switched {
	int32_t to;     /* the task on the CPU since `start` */
	uint64_t start; /* 0: unknown */
};

struct pair_name {
	const char *text; /* the event's name before "_entry" or "_exit"; borrowed from the format */
	size_t len;
};

struct spans {
	struct type_role roles[EVENT_TYPES_MAX]; /* by event_type::index */
	struct pair_name *names;
	size_t nr_names;
	bool starved;
	struct u64_map calls;    /* by PID: uint64_t, when its system call began; 0: none */
	struct u64_map starts;   /* by pair_key(): uint64_t, when the pair began; 0: none */
	struct u64_map switches; /* by CPU: struct switched */
	struct place next_pid;   /* the field of sched_switch */
	struct listed listed;
};

struct spans *spans_new(const struct context *context)
{
	struct spans *spans = calloc(1, sizeof(*spans));

	if (!spans)
		return NULL;
	listed_init(&spans->listed);
	listed_add(&spans->listed, context);
	u64_map_init(&spans->calls, sizeof(uint64_t));
	u64_map_init(&spans->starts, sizeof(uint64_t));
	u64_map_init(&spans->switches, sizeof(struct switched));
	return spans;
}

void spans_free(struct spans *spans)
{
	if (!spans)
		return;
	u64_map_release(&spans->calls);
	u64_map_release(&spans->starts);
	u64_map_release(&spans->switches);
	listed_release(&spans->listed);
	free(spans->names);
	free(spans);
}

static uint64_t pair_key(uint16_t pair, uint16_t cpu)
{
	return (uint64_t)pair << 16 | cpu;
}

static bool ends_with(const char *name, const char *end, size_t *ret_len)
{
	size_t len = strlen(name), tail = strlen(end);

	if (len <= tail || strcmp(name + len - tail, end))
		return false;
	*ret_len = len - tail;
	return true;
}

/* False without memory for another name. */
static bool pair_of(struct spans *spans, const char *name, size_t len, uint16_t *ret)
{
	size_t i = 0;

	while (i < spans->nr_names && (spans->names[i].len != len || memcmp(spans->names[i].text, name, len)))
		i++;
	if (i == spans->nr_names) {
		struct pair_name *added = vec_push(spans->names, spans->nr_names);

		if (!added) {
			spans->starved = true;
			return false;
		}
		*added = (struct pair_name){ name, len };
	}
	*ret = (uint16_t)i;
	return true;
}

static struct type_role role_of(struct spans *spans, const struct event_type *type)
{
	const struct format *format = type->format;
	const char *name = format ? format->name : "";
	struct type_role role = { .role = TYPE_NONE };
	size_t len;

	if (!format || !strcmp(format->system, "ftrace"))
		return role;
	if (!strcmp(format->system, "syscalls") || !strcmp(format->system, "raw_syscalls")) {
		role.role = !strncmp(name, "sys_enter", 9) ? TYPE_CALL_START : TYPE_CALL_END;
	} else if (!strcmp(format->system, "sched") && !strcmp(name, "sched_switch")) {
		if (place_find(&spans->next_pid, type, "next_pid") && spans->next_pid.size == sizeof(int32_t))
			role.role = TYPE_SWITCH;
	} else if (ends_with(name, "_entry", &len) || ends_with(name, "_exit", &len)) {
		if (pair_of(spans, name, len, &role.pair))
			role.role = !strcmp(name + len, "_entry") ? TYPE_START : TYPE_END;
	}
	return role;
}

static void begin(struct u64_map *map, uint64_t key, uint64_t ts)
{
	uint64_t *start = u64_map_add(map, key);

	if (start)
		*start = ts;
}

/* Returns true, and the span, if its start is known and earlier than its end. */
static bool end(const struct u64_map *map, uint64_t key, uint64_t ts, struct span *ret)
{
	uint64_t *start = u64_map_find(map, key);
	bool known = start && *start && ts > *start;

	if (known)
		*ret = (struct span){ .start = *start, .lasted = ts - *start };
	if (start)
		*start = 0;
	return known;
}

/* Measures from the last switch if it was to this task; a selection may have left out switches in between. */
static bool see_switch(struct spans *spans, const struct event *event, struct span *ret)
{
	struct switched *last = u64_map_add(&spans->switches, event->cpu);
	bool known;

	if (!last)
		return false;
	known = last->start && event->ts > last->start && last->to == event->pid &&
		listed_has(&spans->listed, event->pid);
	if (event->len < sizeof(int32_t) || spans->next_pid.offset > event->len - sizeof(int32_t)) {
		last->start = 0;
		return false;
	}
	if (known)
		*ret = (struct span){ .kind = SPAN_ON_CPU, .start = last->start, .lasted = event->ts - last->start };
	*last = (struct switched){ .to = (int32_t)place_u64(&spans->next_pid, event), .start = event->ts };
	return known;
}

static void forget(struct spans *spans, uint16_t cpu)
{
	struct switched *last = u64_map_find(&spans->switches, cpu);

	u64_map_clear(&spans->calls);
	for (size_t i = 0; i < spans->nr_names; i++) {
		uint64_t *start = u64_map_find(&spans->starts, pair_key((uint16_t)i, cpu));

		if (start)
			*start = 0;
	}
	if (last)
		last->start = 0;
}

static bool see_end(struct spans *spans, const struct event *event, uint16_t pair, struct span *ret)
{
	if (!end(&spans->starts, pair_key(pair, event->cpu), event->ts, ret))
		return false;
	ret->kind = SPAN_PAIR;
	ret->name = spans->names[pair].text;
	ret->name_len = spans->names[pair].len;
	return true;
}

bool spans_see(struct spans *spans, const struct event *event, struct span *ret)
{
	struct type_role *role;

	if (__builtin_expect(spans->listed.filtered, 0))
		listed_see(&spans->listed, event);
	if (event->kind == EVENT_LOST) {
		forget(spans, event->cpu);
		return false;
	}
	role = &spans->roles[event->type->index];
	if (role->role == TYPE_UNKNOWN)
		*role = role_of(spans, event->type);
	switch ((enum role)role->role) {
	case TYPE_CALL_START:
		begin(&spans->calls, (uint32_t)event->pid, event->ts);
		return false;
	case TYPE_CALL_END:
		return end(&spans->calls, (uint32_t)event->pid, event->ts, ret);
	case TYPE_START:
		begin(&spans->starts, pair_key(role->pair, event->cpu), event->ts);
		return false;
	case TYPE_END:
		return see_end(spans, event, role->pair, ret);
	case TYPE_SWITCH:
		return see_switch(spans, event, ret);
	case TYPE_UNKNOWN:
	case TYPE_NONE:
		return false;
	}
	return false;
}

bool spans_starved(const struct spans *spans)
{
	return spans->starved || spans->listed.failed || spans->calls.starved || spans->starts.starved ||
	       spans->switches.starved;
}
