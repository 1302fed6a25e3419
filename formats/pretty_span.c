// SPDX-License-Identifier: GPL-2.0-only
#include "formats/pretty_span.h"

#include "lib/base/bytes.h"
#include "lib/event/event.h"

#include <stdlib.h>
#include <string.h>

enum {
	PAIRS_MAX = 32,                 /* names with an _entry and an _exit; more are left alone */
	CPUS_MAX = 1024,                /* more have no spans of their CPU */
	TASKS = 1 << 12,                /* of two tasks in one slot the later stays */
	TYPES = 1 << 16,
};

enum role { ROLE_UNKNOWN, ROLE_NONE, ROLE_SWITCH, ROLE_CALL_START, ROLE_CALL_END, ROLE_START, ROLE_END };

struct type_role {
	uint8_t role;                   /* enum role */
	uint8_t pair;
};

struct call {
	int32_t pid;
	uint64_t start;                 /* 0: none */
};

struct switched {
	int32_t to;                     /* who has had the CPU since */
	uint64_t start;
};

struct spans {
	bool swap;                      /* the file's byte order is not ours */
	struct type_role roles[TYPES];  /* by event::id */
	const char *names[PAIRS_MAX];   /* borrowed from the formats: what stands before _entry and _exit */
	size_t lens[PAIRS_MAX];
	unsigned nr_pairs;
	struct call calls[TASKS];
	uint64_t starts[PAIRS_MAX][CPUS_MAX];
	struct switched switches[CPUS_MAX];
	uint32_t next_pid_offset;       /* of sched_switch */
};

struct spans *spans_new(bool swap)
{
	struct spans *spans = calloc(1, sizeof(*spans));

	if (spans)
		spans->swap = swap;
	return spans;
}

void spans_free(struct spans *spans)
{
	free(spans);
}

static bool ends_with(const char *name, const char *end, size_t *ret_len)
{
	size_t len = strlen(name), tail = strlen(end);

	if (len <= tail || strcmp(name + len - tail, end))
		return false;
	*ret_len = len - tail;
	return true;
}

/* The number of the pair with this name; PAIRS_MAX when there are too many. */
static unsigned pair_of(struct spans *spans, const char *name, size_t len)
{
	for (unsigned i = 0; i < spans->nr_pairs; i++)
		if (spans->lens[i] == len && !memcmp(spans->names[i], name, len))
			return i;
	if (spans->nr_pairs == PAIRS_MAX)
		return PAIRS_MAX;
	spans->names[spans->nr_pairs] = name;
	spans->lens[spans->nr_pairs] = len;
	return spans->nr_pairs++;
}

static struct type_role role_of(struct spans *spans, const struct format *format)
{
	const char *name = format ? format->name : "";
	struct type_role role = { .role = ROLE_NONE };
	size_t len;

	if (!format || !strcmp(format->system, "ftrace"))
		return role;
	if (!strcmp(format->system, "syscalls") || !strcmp(format->system, "raw_syscalls")) {
		role.role = !strncmp(name, "sys_enter", 9) ? ROLE_CALL_START : ROLE_CALL_END;
	} else if (!strcmp(format->system, "sched") && !strcmp(name, "sched_switch")) {
		const struct field *next = format_field(format, "next_pid");

		role.role = next && next->size == sizeof(int32_t) ? ROLE_SWITCH : ROLE_NONE;
		spans->next_pid_offset = next ? next->offset : 0;
	} else if (ends_with(name, "_entry", &len) || ends_with(name, "_exit", &len)) {
		unsigned pair = pair_of(spans, name, len);

		role.pair = (uint8_t)pair;
		if (pair < PAIRS_MAX)
			role.role = !strcmp(name + len, "_entry") ? ROLE_START : ROLE_END;
	}
	return role;
}

/* Starts what comes next and returns what has passed since the last start. */
static uint64_t turn(uint64_t *start, uint64_t ts, uint64_t next)
{
	uint64_t passed = *start && ts > *start ? ts - *start : 0;

	*start = next;
	return passed;
}

static uint64_t see_call(struct spans *spans, const struct event *event, bool starts)
{
	struct call *call = &spans->calls[(uint32_t)event->pid % TASKS];

	if (call->pid != event->pid)
		*call = (struct call){ .pid = event->pid };
	return turn(&call->start, event->ts, starts ? event->ts : 0);
}

/* When the switch to this task was seen: others may have been left out by a selection. */
static uint64_t see_switch(struct spans *spans, const struct event *event)
{
	struct switched *last = &spans->switches[event->cpu];
	uint64_t passed = turn(&last->start, event->ts, event->ts);
	bool same = last->to == event->pid;

	if (event->len < sizeof(last->to) || spans->next_pid_offset > event->len - sizeof(last->to)) {
		last->start = 0;
		return 0;
	}
	last->to = (int32_t)load_u32(event->data + spans->next_pid_offset, spans->swap);
	return same ? passed : 0;
}

static void forget(struct spans *spans, uint16_t cpu)
{
	memset(spans->calls, 0, sizeof(spans->calls));
	if (cpu >= CPUS_MAX)
		return;
	for (unsigned i = 0; i < PAIRS_MAX; i++)
		spans->starts[i][cpu] = 0;
	spans->switches[cpu].start = 0;
}

uint64_t spans_see(struct spans *spans, const struct event *event)
{
	struct type_role *role;

	if (!spans)
		return 0;
	if (event->kind == EVENT_LOST) {
		forget(spans, event->cpu);
		return 0;
	}
	role = &spans->roles[event->id];
	if (role->role == ROLE_UNKNOWN)
		*role = role_of(spans, event->type->format);
	switch ((enum role)role->role) {
	case ROLE_CALL_START:
		(void)see_call(spans, event, true);
		return 0;
	case ROLE_CALL_END:
		return see_call(spans, event, false);
	case ROLE_START:
		if (event->cpu < CPUS_MAX)
			spans->starts[role->pair][event->cpu] = event->ts;
		return 0;
	case ROLE_END:
		return event->cpu < CPUS_MAX ? turn(&spans->starts[role->pair][event->cpu], event->ts, 0) : 0;
	case ROLE_SWITCH:
		return event->cpu < CPUS_MAX ? see_switch(spans, event) : 0;
	case ROLE_UNKNOWN:
	case ROLE_NONE:
		return 0;
	}
	return 0;
}
