// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/calls.h"

#include "lib/base/u64_map.h"
#include "lib/event/event.h"
#include "lib/event/place.h"

#include <stdlib.h>
#include <string.h>

/* More functions than a kernel stack has room for: what claims to be deeper is left alone. */
enum { DEPTH_MAX = 1024 };

enum role { ROLE_UNKNOWN, ROLE_NONE, ROLE_ENTRY, ROLE_EXIT };

enum { FUNC, DEPTH, CALLTIME, RETTIME, NR_PLACES };

struct type {
	enum role role;
	struct place places[NR_PLACES];
};

struct frame {
	uint64_t func, start, nested, interrupted, mark;
	int32_t depth;
	uint8_t within; /* which interrupts it runs in */
};

/* The functions that are open, of one task: their depths rise. */
struct frames {
	struct frame *at;
	size_t len, size;
};

struct calls {
	const struct schema_abi *abi;
	struct u64_map types; /* by event_type::index: struct type; only those seen */
	struct u64_map tasks; /* by task_key(): struct frames */
	uint64_t mark, lost, dropped;
	uint8_t known
		[EVENT_TYPES_MAX]; /* by event_type::index: enum role, so that most events need no look into a map */
};

struct calls *calls_new(const struct schema_abi *abi)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->abi = abi;
	u64_map_init(&calls->types, sizeof(struct type));
	u64_map_init(&calls->tasks, sizeof(struct frames));
	return calls;
}

void calls_free(struct calls *calls)
{
	struct frames *frames;
	uint64_t key;
	size_t at = 0;

	if (!calls)
		return;
	while ((frames = u64_map_next(&calls->tasks, &at, &key)))
		free(frames->at);
	u64_map_release(&calls->tasks);
	u64_map_release(&calls->types);
	free(calls);
}

static uint64_t task_key(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu;
}

static enum role role_of(struct calls *calls, const struct event_type *event_type)
{
	static const char *const names[NR_PLACES] = { "func", "depth", "calltime", "rettime" };
	const struct format *format = event_type->format;
	enum role role = ROLE_NONE;
	struct type *type;

	if (!format || strcmp(format->system, "ftrace"))
		return ROLE_NONE;
	if (!strcmp(format->name, "funcgraph_entry") || !strcmp(format->name, "fgraph_retaddr_entry"))
		role = ROLE_ENTRY;
	else if (!strcmp(format->name, "funcgraph_exit"))
		role = ROLE_EXIT;
	type = role == ROLE_NONE ? NULL : u64_map_add(&calls->types, event_type->index);
	if (!type)
		return ROLE_NONE;
	type->role = role;
	for (size_t i = 0; i < NR_PLACES; i++)
		(void)place_bind(&type->places[i], format, calls->abi, names[i]);
	return type->places[FUNC].size && type->places[DEPTH].size ? role : ROLE_NONE;
}

static void forget(struct calls *calls)
{
	struct frames *frames;
	uint64_t key;
	size_t at = 0;

	while ((frames = u64_map_next(&calls->tasks, &at, &key))) {
		calls->lost += frames->len;
		frames->len = 0;
	}
}

/* Leaves the frames that stand above this depth: those of the functions that called. Returns how many it dropped. */
static size_t leave(struct frames *frames, int32_t depth)
{
	size_t len = frames->len;

	while (frames->len && frames->at[frames->len - 1].depth >= depth)
		frames->len--;
	return len - frames->len;
}

/* An interrupt is entered by a function that is not yet in it, and left by one that is in it no more: each end tells. */
static uint8_t within(const struct event *event)
{
	return event->flags & (EVENT_HARDIRQ | EVENT_SOFTIRQ | EVENT_NMI);
}

static void enter(struct calls *calls, const struct type *type, const struct event *event)
{
	struct frames *frames = u64_map_add(&calls->tasks, task_key(event));
	struct frame frame = { .func = place_u64(&type->places[FUNC], event),
			       .start = event->ts,
			       .depth = (int32_t)place_u64(&type->places[DEPTH], event),
			       .within = within(event),
			       .mark = calls->mark };

	if (!frames || frame.depth < 0 || frame.depth > DEPTH_MAX)
		return;
	calls->dropped += leave(frames, frame.depth);
	if (frames->len == frames->size) {
		size_t size = frames->size ? frames->size * 2 : 16;
		struct frame *at = reallocarray(frames->at, size, sizeof(*at));

		if (!at)
			return;
		frames->at = at;
		frames->size = size;
	}
	frames->at[frames->len++] = frame;
}

/* When it was called: the record's own times count in the clock of the trace, and are those that the kernel prints. */
static void take_times(const struct type *type, const struct event *event, const struct frame *frame, struct call *ret)
{
	const struct place *calltime = &type->places[CALLTIME], *rettime = &type->places[RETTIME];

	if (calltime->size && rettime->size) {
		ret->start = place_u64(calltime, event);
		ret->lasted = place_u64(rettime, event) - ret->start;
		ret->timed = true;
	} else if (frame) {
		ret->start = frame->start;
		ret->lasted = event->ts - frame->start;
		ret->timed = true;
	}
}

static bool is_open(const struct frames *frames, uint64_t func)
{
	for (size_t i = 0; i < frames->len; i++)
		if (frames->at[i].func == func)
			return true;
	return false;
}

/* What a call that has ended was to the one that called it, or that it interrupted. */
static void nest(struct frame *caller, const struct call *call, uint8_t in)
{
	caller->nested += call->lasted;
	caller->interrupted += in & (uint8_t)~caller->within ? call->lasted : call->interrupted;
}

static void leave_function(struct calls *calls, const struct type *type, const struct event *event, struct call *ret)
{
	struct frames *frames = u64_map_find(&calls->tasks, task_key(event));
	const struct frame *frame;
	uint8_t in = within(event);

	*ret = (struct call){ .func = place_u64(&type->places[FUNC], event),
			      .depth = (int32_t)place_u64(&type->places[DEPTH], event) };
	if (frames)
		calls->dropped += leave(frames, ret->depth == INT32_MAX ? ret->depth : ret->depth + 1);
	frame = frames && frames->len ? &frames->at[frames->len - 1] : NULL;
	if (frame && (frame->depth != ret->depth || frame->func != ret->func))
		frame = NULL;
	take_times(type, event, frame, ret);
	ret->entered = frame;
	if (frame) {
		ret->nested = frame->nested;
		ret->interrupted = frame->interrupted;
		ret->mark = frame->mark;
		in |= frame->within;
	}
	if (!frames)
		return;
	calls->dropped += leave(frames, ret->depth) - (frame ? 1 : 0);
	ret->again = is_open(frames, ret->func);
	if (ret->timed && frames->len && frames->at[frames->len - 1].depth == ret->depth - 1)
		nest(&frames->at[frames->len - 1], ret, in);
}

void calls_mark(struct calls *calls, uint64_t mark)
{
	calls->mark = mark;
}

bool calls_see(struct calls *calls, const struct event *event, struct call *ret)
{
	enum role role;

	if (event->kind == EVENT_LOST) {
		forget(calls);
		return false;
	}
	role = (enum role)calls->known[event->type->index];
	if (role == ROLE_UNKNOWN) {
		role = role_of(calls, event->type);
		calls->known[event->type->index] = (uint8_t)role;
	}
	if (role == ROLE_NONE)
		return false;
	if (role == ROLE_ENTRY)
		enter(calls, u64_map_find(&calls->types, event->type->index), event);
	else
		leave_function(calls, u64_map_find(&calls->types, event->type->index), event, ret);
	return role == ROLE_EXIT;
}

size_t calls_open(const struct calls *calls, const struct event *event)
{
	const struct frames *frames = u64_map_find(&calls->tasks, task_key(event));

	return frames ? frames->len : 0;
}

struct calls_left calls_left(const struct calls *calls)
{
	struct calls_left left = { .lost = calls->lost, .dropped = calls->dropped };
	const struct frames *frames;
	uint64_t key;
	size_t at = 0;

	while ((frames = u64_map_next(&calls->tasks, &at, &key)))
		left.open += frames->len;
	return left;
}
