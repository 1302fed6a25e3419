// SPDX-License-Identifier: GPL-2.0-only
#include "lib/follow/calls.h"

#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/event/graph_events.h"
#include "lib/event/place.h"
#include "lib/follow/call_frames_internal.h"

#include <stdlib.h>
#include <string.h>

/* A kernel stack has no room for more functions: records with a greater depth are ignored. */
enum { DEPTH_MAX = 1024 };

enum { FUNC, DEPTH, CALLTIME, RETTIME, NR_PLACES };

/* A task is looked up once for many of its events. A power of two; a CPU runs one task at a time. */
enum { SEATS = 64 };

struct type {
	enum graph_event role;
	/*
	 * All that a kernel of this byte order and 64 bits has, so that a record of `least` bytes is read without a
	 * look at each place.
	 */
	bool plain;
	uint32_t least;
	struct place places[NR_PLACES];
};

struct seat {
	uint64_t key; /* task_key(); 0: nobody's */
	struct frames *frames;
};

struct calls {
	struct type *types; /* only those seen */
	size_t nr_types;
	struct u64_map tasks; /* by task_key(): struct frames * */
	struct u64_map gaps;  /* by CPU: uint64_t, the number of its last gap */
	uint64_t mark, lost, dropped;
	uint64_t losses; /* gaps so far */
	bool starved;
	struct seat seats[SEATS];        /* by CPU */
	uint32_t known[EVENT_TYPES_MAX]; /* by event_type::index: 0: not looked at, 1: of no use, n + 2: types[n] */
};

struct calls *calls_new(void)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	u64_map_init(&calls->tasks, sizeof(struct frames *));
	u64_map_init(&calls->gaps, sizeof(uint64_t));
	return calls;
}

void calls_free(struct calls *calls)
{
	struct frames **frames;
	uint64_t key;
	size_t at = 0;

	if (!calls)
		return;
	while ((frames = u64_map_next(&calls->tasks, &at, &key)))
		call_frames_free(*frames);
	u64_map_release(&calls->tasks);
	u64_map_release(&calls->gaps);
	free(calls->types);
	free(calls);
}

static uint64_t task_key(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu;
}

static struct frames *find(const struct calls *calls, uint64_t key)
{
	struct frames **frames = u64_map_find(&calls->tasks, key);

	return frames ? *frames : NULL;
}

/* What calls_frame() asks about: the event's task; NULL: it has entered nothing. */
static const struct frames *frames_at(const struct calls *calls, const struct event *event)
{
	const struct seat *seat = &calls->seats[event->cpu % SEATS];
	uint64_t key = task_key(event);

	return __builtin_expect(seat->key == key, 1) ? seat->frames : find(calls, key);
}

static struct frames *frames_new(struct calls *calls, uint64_t key)
{
	struct frames **slot = u64_map_add(&calls->tasks, key);

	if (slot && !*slot)
		*slot = calloc(1, sizeof(**slot));
	calls->starved |= !slot || !*slot;
	return slot ? *slot : NULL;
}

/* NULL: the task has entered nothing, or there is no memory. */
static struct frames *frames_of(struct calls *calls, const struct event *event, bool make)
{
	struct seat *seat = &calls->seats[event->cpu % SEATS];
	uint64_t key = task_key(event);
	struct frames *frames;

	if (__builtin_expect(seat->key == key, 1))
		return seat->frames;
	frames = find(calls, key);
	if (!frames && make)
		frames = frames_new(calls, key);
	if (frames)
		*seat = (struct seat){ key, frames };
	return frames;
}

/* The fields that are there have the places of a 64-bit kernel: func at least. */
static void find_plain(struct type *type)
{
	static const uint8_t sizes[NR_PLACES] = { [FUNC] = 8, [DEPTH] = 4, [CALLTIME] = 8, [RETTIME] = 8 };

	type->plain = true;
	for (size_t i = 0; i < NR_PLACES; i++) {
		const struct place *place = &type->places[i];
		uint32_t end;

		if (!place->size && i > DEPTH)
			continue;
		if (place->size != sizes[i] || place->swap ||
		    __builtin_add_overflow(place->offset, place->size, &end)) {
			type->plain = false;
			return;
		}
		type->least = end > type->least ? end : type->least;
	}
}

/* Looks at a type for the first time. Returns what known[] says of it. */
static uint32_t know(struct calls *calls, const struct event_type *event_type)
{
	static const char *const names[NR_PLACES] = { "func", "depth", "calltime", "rettime" };
	const struct format *format = event_type->format;
	enum graph_event role = graph_event_of(format);
	struct type *type = role == GRAPH_EVENT_NONE ? NULL : vec_push(calls->types, calls->nr_types);

	calls->starved |= role != GRAPH_EVENT_NONE && !type;
	calls->known[event_type->index] = 1;
	if (!type)
		return 1;
	type->role = role;
	for (size_t i = 0; i < NR_PLACES; i++)
		(void)place_find(&type->places[i], event_type, names[i]);
	find_plain(type);
	if (type->places[FUNC].size && type->places[DEPTH].size)
		calls->known[event_type->index] = (uint32_t)calls->nr_types + 1;
	return calls->known[event_type->index];
}

/* A field of this size, which plain types have. */
static uint64_t plain_u64(const struct type *type, const struct event *event, size_t place)
{
	uint64_t value;

	memcpy(&value, event->data + type->places[place].offset, sizeof(value));
	return value;
}

static int32_t plain_s32(const struct type *type, const struct event *event, size_t place)
{
	int32_t value;

	memcpy(&value, event->data + type->places[place].offset, sizeof(value));
	return value;
}

static void forget(struct calls *calls, struct frames *frames)
{
	calls->lost += frames->len + frames->ending.valid;
	frames->len = 0;
	frames->ending.valid = false;
}

/* The ends of the calls of the tasks that were seen on this CPU last may be among the lost events. */
static void see_lost(struct calls *calls, uint16_t cpu)
{
	uint64_t *gap = u64_map_add(&calls->gaps, cpu), key;
	struct frames **frames;
	size_t at = 0;

	calls->losses++;
	if (gap)
		*gap = calls->losses;
	while ((frames = u64_map_next(&calls->tasks, &at, &key)))
		if (*frames && (*frames)->cpu == cpu)
			forget(calls, *frames);
}

/* A CPU to which the task comes may have lost the ends of its calls since it was seen elsewhere. */
static inline void settle(struct calls *calls, struct frames *frames, const struct event *event)
{
	const uint64_t *gap;

	if (__builtin_expect(frames->cpu != event->cpu, 0)) {
		gap = u64_map_find(&calls->gaps, event->cpu);
		if (gap && *gap > frames->losses)
			forget(calls, frames);
	}
	frames->cpu = event->cpu;
	frames->losses = calls->losses;
}

/*
 * The first function of an interrupt has the interrupt's flag only at its exit, the last one only at its entry: so both
 * are checked.
 */
static uint8_t within(const struct event *event)
{
	return event->flags & EVENT_INTERRUPTS;
}

/* Forgets a function whose end did not come: its caller goes on. */
static void end_never(struct calls *calls, struct frames *frames)
{
	calls->dropped += frames->ending.valid;
	frames->ending.valid = false;
}

/* A function begins at this depth: what is open there has ended, or is about to. */
static void close_above(struct calls *calls, struct frames *frames, int32_t depth)
{
	const struct frame *last = frames->len ? &frames->at[frames->len - 1] : NULL;

	if (last && last->depth == depth) {
		end_never(calls, frames);
		frames->len--;
		frames->ending = (struct ending){ .valid = true, .func = frames->funcs[frames->len], .frame = *last };
	} else if (last && last->depth > depth) {
		end_never(calls, frames);
		calls->dropped += call_frames_leave(frames, depth);
	} else if (frames->ending.valid && frames->ending.frame.depth > depth) {
		end_never(calls, frames);
	}
}

static void enter(struct calls *calls, const struct type *type, const struct event *event, struct call *ret)
{
	struct frames *frames = frames_of(calls, event, true);
	bool plain = type->plain && event->len >= type->least;
	uint64_t func = plain ? plain_u64(type, event, FUNC) : place_u64(&type->places[FUNC], event);
	int32_t depth = plain ? plain_s32(type, event, DEPTH) : (int32_t)place_u64(&type->places[DEPTH], event);
	bool repeated = false;

	ret->func = func;
	if (!frames || depth < 0 || depth > DEPTH_MAX)
		return;
	settle(calls, frames, event);
	close_above(calls, frames, depth);
	if (frames->len == frames->size && !call_frames_grow(frames)) {
		calls->starved = true;
		return;
	}
	hits_forget(&frames->hits, frames->len + 1);
	if (frames->repeats.log.nr && !within(event) && !(event->flags & EVENT_IRQS_OFF))
		repeated = repeats_begin(&frames->repeats, frames->len + 1, func);
	frames->funcs[frames->len] = func;
	frames->at[frames->len++] = (struct frame){ .start = event->ts,
						    .losses = (uint32_t)calls->losses,
						    .depth = depth,
						    .within = within(event),
						    .irqs_off = event->flags & EVENT_IRQS_OFF,
						    .repeated = repeated,
						    .mark = calls->mark };
}

/*
 * Sets the start of the call. Some records have times of their own, in the clock of the trace, which the kernel prints.
 */
static void take_times(const struct type *type, const struct event *event, bool plain, const struct frame *frame,
		       struct call *ret)
{
	const struct place *calltime = &type->places[CALLTIME], *rettime = &type->places[RETTIME];

	if (calltime->size && rettime->size) {
		ret->start = plain ? plain_u64(type, event, CALLTIME) : place_u64(calltime, event);
		ret->lasted = (plain ? plain_u64(type, event, RETTIME) : place_u64(rettime, event)) - ret->start;
		ret->timed = true;
	} else if (frame) {
		ret->start = frame->start;
		ret->lasted = event->ts - frame->start;
		ret->timed = true;
	}
}

/*
 * Adds the time of a call that has ended to its caller, or to the function that it interrupted. If the end of a
 * function comes whose entry did not, its time contains that of the calls below it.
 */
static void nest(struct frames *frames, struct call *call, uint8_t in, bool irqs_off)
{
	struct frame *caller = &frames->at[frames->len - 1];
	uint64_t interrupted;

	call->interrupts = in & (uint8_t)~caller->within;
	interrupted = call->interrupts ? call->lasted : call->interrupted;
	if (!call->entered) {
		struct hit inside = hits_take(&frames->hits, frames->len, call->start, call->start + call->lasted);

		caller->nested -= inside.lasted;
		caller->interrupted -= inside.interrupted;
	}
	caller->nested += call->lasted;
	caller->interrupted += interrupted;
	if (!caller->inner_first)
		caller->inner_first = call->start + call->lasted;
	/* What is more than one deeper is below a function whose entry comes later, or is not in the trace. */
	if (call->interrupts || irqs_off || call->depth - 1 > caller->depth)
		hits_add(&frames->hits, frames->len, &(struct hit){ 0, call->start, call->lasted, interrupted });
}

/* A call of which no caller is known may be inside a function whose entry comes later. */
static void nest_in_none(struct frames *frames, const struct call *call, uint8_t in, bool irqs_off)
{
	if (!call->entered)
		(void)hits_take(&frames->hits, 0, call->start, call->start + call->lasted);
	if (in || irqs_off)
		hits_add(&frames->hits, 0,
			 &(struct hit){ 0, call->start, call->lasted, in ? call->lasted : call->interrupted });
	else
		hits_forget(&frames->hits, 0);
}

/* The frame of a call whose end came after the functions of an interrupt. */
static struct frame *end_late(struct frames *frames, const struct call *call)
{
	struct ending *ending = &frames->ending;

	if (!ending->valid || ending->frame.depth != call->depth || ending->func != call->func)
		return NULL;
	ending->valid = false;
	return &ending->frame;
}

/* The frame of the call that ends, the innermost one; NULL: its entry was not seen. */
static struct frame *ended(struct calls *calls, struct frames *frames, const struct call *call)
{
	struct frame *frame;

	if (!frames || !frames->len)
		return NULL;
	frame = &frames->at[frames->len - 1];
	if (frame->depth > call->depth) {
		calls->dropped += call_frames_leave(frames, call->depth == INT32_MAX ? call->depth : call->depth + 1);
		if (!frames->len)
			return NULL;
		frame = &frames->at[frames->len - 1];
	}
	return frame->depth == call->depth && frames->funcs[frames->len - 1] == call->func ? frame : NULL;
}

/*
 * The tracer looks at the clock before or after it writes the entry, by kernel, and before it writes the end. The
 * functions of an interrupt that comes in between are inside the call but not in its time, or the other way round: then
 * they are moved to its caller, or from there.
 */
static void move_hits(struct frames *frames, struct frame *frame, const struct call *call, bool is_last)
{
	size_t at = frames->len - (is_last ? 1 : 0);
	struct frame *caller = at && frames->at[at - 1].depth < call->depth ? &frames->at[at - 1] : NULL;
	uint64_t end = call->start + call->lasted;
	struct hit taken, moved = { .lasted = 0 };

	if (!hits_any(&frames->hits, at) || (at && !caller))
		return;
	taken = hits_take(&frames->hits, at, call->start, end);
	frame->nested += taken.lasted;
	frame->interrupted += taken.interrupted;
	if (is_last)
		moved = hits_move(&frames->hits, at + 1, caller, frame->nested > call->lasted ? call->start : 0, end);
	frame->nested -= moved.lasted;
	frame->interrupted -= moved.interrupted;
	if (!caller)
		return;
	caller->nested += moved.lasted - taken.lasted;
	caller->interrupted += moved.interrupted - taken.interrupted;
}

/* Finds out whether an outer call has this one's time, and which calls that were taken for inner ones are none. */
static void count_repeats(struct frames *frames, const struct frame *frame, bool is_last, struct call *call,
			  bool interrupts)
{
	struct repeat repeat = {
		.func = call->func, .start = call->start, .lasted = call->lasted, .interrupted = call->interrupted
	};
	struct frame *outer;

	repeat.place = call_frames_place(frames, call->func);
	call->again = repeat.place;
	if (!call->timed)
		return;
	if (frame && (!is_last || frame->repeated))
		call->repeats = repeats_end(&frames->repeats, is_last ? frames->len + 1 : 0, &repeat);
	outer = call->again ? &frames->at[repeat.place - 1] : NULL;
	if (outer && !outer->repeated)
		repeats_forget(&frames->repeats, repeat.place);
	if (outer)
		outer->repeated = true;
	if (outer || interrupts)
		repeats_add(&frames->repeats, &repeat);
}

/*
 * Whether this is the end of another call of the function, of which the beginning was lost: it began after a call
 * inside the open one had returned.
 */
static bool is_other(const struct calls *calls, const struct type *type, const struct event *event,
		     const struct frame *frame)
{
	return __builtin_expect(frame->losses != (uint32_t)calls->losses, 0) && type->places[CALLTIME].size &&
	       type->places[RETTIME].size && place_u64(&type->places[CALLTIME], event) >= frame->inner_first;
}

static void leave_function(struct calls *calls, const struct type *type, const struct event *event, struct call *ret)
{
	struct frames *frames = frames_of(calls, event, false);
	bool plain = type->plain && event->len >= type->least;
	struct frame *frame;
	uint8_t in = within(event);
	bool is_last, irqs_off = event->flags & EVENT_IRQS_OFF;

	*ret = (struct call){ .func = plain ? plain_u64(type, event, FUNC) : place_u64(&type->places[FUNC], event),
			      .depth = plain ? plain_s32(type, event, DEPTH) :
					       (int32_t)place_u64(&type->places[DEPTH], event) };
	if (frames)
		settle(calls, frames, event);
	frame = ended(calls, frames, ret);
	if (frame && frame->inner_first && is_other(calls, type, event, frame)) {
		forget(calls, frames);
		frame = NULL;
	}
	is_last = frame;
	if (!frame && frames)
		frame = end_late(frames, ret);
	take_times(type, event, plain, frame, ret);
	ret->entered = frame;
	if (frame && ret->timed)
		move_hits(frames, frame, ret, is_last);
	if (frame) {
		if (!ret->timed || frame->nested <= ret->lasted) {
			ret->nested = frame->nested;
			ret->interrupted = frame->interrupted;
		}
		ret->mark = frame->mark;
		ret->word = frame->word;
		in |= frame->within;
		irqs_off |= frame->irqs_off;
	}
	if (!frames)
		return;
	if (frames->ending.valid && frames->ending.frame.depth > ret->depth)
		end_never(calls, frames);
	calls->dropped += call_frames_leave(frames, ret->depth) - (is_last ? 1 : 0);
	count_repeats(frames, frame, is_last, ret, in || irqs_off);
	if (ret->timed && !frames->len)
		nest_in_none(frames, ret, in, irqs_off);
	else if (ret->timed && (ret->entered || frames->at[frames->len - 1].depth == ret->depth - 1))
		nest(frames, ret, in, irqs_off);
	calls->starved |= frames->hits.starved || frames->repeats.starved;
}

void calls_mark(struct calls *calls, uint64_t mark)
{
	calls->mark = mark;
}

bool calls_see(struct calls *calls, const struct event *event, struct call *ret)
{
	const struct type *type;
	uint32_t known;

	if (__builtin_expect(event->kind == EVENT_LOST, 0)) {
		see_lost(calls, event->cpu);
		return false;
	}
	known = calls->known[event->type->index];
	if (__builtin_expect(!known, 0))
		known = know(calls, event->type);
	if (known == 1)
		return false;
	type = &calls->types[known - 2];
	if (type->role == GRAPH_EVENT_ENTRY)
		enter(calls, type, event, ret);
	else
		leave_function(calls, type, event, ret);
	return type->role == GRAPH_EVENT_EXIT;
}

bool calls_frame(const struct calls *calls, const struct event *event, size_t back, struct calls_frame *ret)
{
	const struct frames *frames = frames_at(calls, event);
	struct frame *frame;
	size_t at;

	if (!frames || back >= frames->len)
		return false;
	at = frames->len - 1 - back;
	frame = &frames->at[at];
	*ret = (struct calls_frame){ frames->funcs[at], frame->depth, frame->within, &frame->word };
	return true;
}

struct calls_left calls_left(const struct calls *calls)
{
	struct calls_left left = { .lost = calls->lost, .dropped = calls->dropped };
	struct frames **frames;
	uint64_t key;
	size_t at = 0;

	while ((frames = u64_map_next(&calls->tasks, &at, &key)))
		if (*frames) {
			left.open += (*frames)->len;
			left.dropped += (*frames)->ending.valid;
		}
	return left;
}

bool calls_starved(const struct calls *calls)
{
	return calls->starved || calls->tasks.starved || calls->gaps.starved;
}
