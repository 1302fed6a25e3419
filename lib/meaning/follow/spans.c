// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/spans.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/listed.h"
#include "lib/meaning/follow/pairs.h"

enum role { TYPE_UNKNOWN, TYPE_NONE, TYPE_SWITCH, TYPE_CALL_START, TYPE_CALL_END, TYPE_START, TYPE_END };

struct switched {
	int32_t to;     /* the task on the CPU since `start` */
	uint64_t start; /* 0: unknown */
};

struct spans {
	uint8_t roles[EVENT_TYPES_MAX]; /* by event_type::index: enum role */
	struct u64_map calls;           /* by PID: uint64_t, when its system call began; 0: none */
	struct u64_map ends;            /* by event_type::index: struct pair_end */
	struct pairs pairs;
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
	u64_map_init(&spans->ends, sizeof(struct pair_end));
	pairs_init(&spans->pairs);
	u64_map_init(&spans->switches, sizeof(struct switched));
	return spans;
}

void spans_free(struct spans *spans)
{
	if (!spans)
		return;
	u64_map_release(&spans->calls);
	u64_map_release(&spans->ends);
	pairs_release(&spans->pairs);
	u64_map_release(&spans->switches);
	listed_release(&spans->listed);
	free(spans);
}

static enum role role_of(struct spans *spans, const struct event_type *type)
{
	const struct format *format = type->format;
	struct pair_end end, *kept;

	if (!format || !strcmp(format->system, "ftrace"))
		return TYPE_NONE;
	if (!strcmp(format->system, "sched") && !strcmp(format->name, "sched_switch"))
		return place_find(&spans->next_pid, type, "next_pid") && spans->next_pid.size == sizeof(int32_t) ?
			       TYPE_SWITCH :
			       TYPE_NONE;
	if (!pairs_bind(&spans->pairs, type, &end) || end.kind->how == PAIR_GUESSED || !strcmp(format->system, "sched"))
		return TYPE_NONE;
	/* A task is in one call, whatever the names of its events. */
	if (end.kind->name && !strcmp(end.kind->name, "syscall"))
		return end.begins ? TYPE_CALL_START : TYPE_CALL_END;
	kept = u64_map_add(&spans->ends, type->index);
	if (!kept)
		return TYPE_NONE;
	*kept = end;
	return end.begins ? TYPE_START : TYPE_END;
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

static void forget(struct spans *spans, const struct event *gap)
{
	struct switched *last = u64_map_find(&spans->switches, gap->cpu);

	u64_map_clear(&spans->calls);
	pairs_lose(&spans->pairs, gap);
	if (last)
		last->start = 0;
}

static bool see_end(struct spans *spans, const struct event *event, struct span *ret)
{
	const struct pair_end *end = u64_map_find(&spans->ends, event->type->index);
	uint64_t start;
	int32_t pid;

	if (!pairs_end(&spans->pairs, end, event, &start, &pid) || event->ts <= start)
		return false;
	*ret = (struct span){ .kind = SPAN_PAIR,
			      .start = start,
			      .lasted = event->ts - start,
			      .name = end->stem,
			      .name_len = end->stem_len };
	return true;
}

bool spans_see(struct spans *spans, const struct event *event, struct span *ret)
{
	uint8_t *role;

	if (__builtin_expect(spans->listed.filtered, 0))
		listed_see(&spans->listed, event);
	if (event->kind == EVENT_LOST) {
		forget(spans, event);
		return false;
	}
	role = &spans->roles[event->type->index];
	if (*role == TYPE_UNKNOWN)
		*role = (uint8_t)role_of(spans, event->type);
	switch ((enum role) * role) {
	case TYPE_CALL_START:
		/* It may end on another CPU, the data of which has ended. */
		if (!spans->pairs.rest)
			begin(&spans->calls, (uint32_t)event->pid, event->ts);
		return false;
	case TYPE_CALL_END:
		return end(&spans->calls, (uint32_t)event->pid, event->ts, ret);
	case TYPE_START:
		pairs_begin(&spans->pairs, u64_map_find(&spans->ends, event->type->index), event);
		return false;
	case TYPE_END:
		return see_end(spans, event, ret);
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
	return pairs_starved(&spans->pairs) || spans->listed.failed || spans->calls.starved || spans->ends.starved ||
	       spans->switches.starved;
}
