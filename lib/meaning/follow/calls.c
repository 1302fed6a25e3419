// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/calls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/follow/calls_internal.h"

/* Calls that are open when an interval ends, and go on in the next. */

void calls_rebase(struct calls *calls, uint64_t (*past)(void *arg, int32_t pid), void *arg)
{
	struct frames **frames;
	uint64_t key;

	for (size_t at = 0; (frames = u64_map_next(&calls->tasks, &at, &key));) {
		bool open = *frames && ((*frames)->len || (*frames)->ending.valid);
		uint64_t by = open ? past(arg, key >> 32 ? 0 : (int32_t)key) : 0;

		for (size_t i = 0; open && i < (*frames)->len; i++)
			(*frames)->at[i].mark -= by;
		if (open)
			(*frames)->ending.frame.mark -= by;
	}
}

bool calls_trim(struct calls *calls, size_t most)
{
	struct u64_map left;
	struct frames **frames, **kept;
	uint64_t key;

	u64_map_init(&left, sizeof(struct frames *));
	for (size_t at = 0; (frames = u64_map_next(&calls->tasks, &at, &key));) {
		bool open = *frames && ((*frames)->len || (*frames)->ending.valid) && left.len < most;

		kept = open ? u64_map_add(&left, key) : NULL;
		calls->starved |= open && !kept;
		if (kept)
			*kept = *frames;
		else
			call_frames_free(*frames);
	}
	u64_map_release(&calls->tasks);
	calls->tasks = left;
	memset(calls->seats, 0, sizeof(calls->seats));
	calls->lost = calls->dropped = 0;
	return left.len;
}

struct calls *calls_new(void)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	u64_map_init(&calls->tasks, sizeof(struct frames *));
	cpu_gaps_init(&calls->gaps);
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
	cpu_gaps_release(&calls->gaps);
	graph_records_release(&calls->records);
	free(calls);
}

static struct frames *find(const struct calls *calls, uint64_t key)
{
	struct frames **frames = u64_map_find(&calls->tasks, key);

	return frames ? *frames : NULL;
}

/* What calls_frame() asks about: the event's task; NULL: it has entered nothing. */
static const struct frames *frames_at(const struct calls *calls, const struct event *event)
{
	const struct calls_seat *seat = &calls->seats[event->cpu % CALLS_SEATS];
	uint64_t key = calls_key(event);

	return __builtin_expect(seat->key == key, 1) ? seat->frames : find(calls, key);
}

struct frames *calls_frames_new(struct calls *calls, uint64_t key)
{
	struct frames **slot = u64_map_add(&calls->tasks, key);

	if (slot && !*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (*slot)
			(*slot)->phase = calls->in_slice ? FRAMES_EARLIER : FRAMES_KNOWN;
	}
	calls->starved |= !slot || !*slot;
	return slot ? *slot : NULL;
}

__attribute__((noinline)) static struct frames *seat_frames(struct calls *calls, const struct event *event, bool make)
{
	uint64_t key = calls_key(event);
	struct frames *frames = find(calls, key);

	if (!frames && make)
		frames = calls_frames_new(calls, key);
	if (frames)
		calls->seats[event->cpu % CALLS_SEATS] = (struct calls_seat){ key, frames };
	return frames;
}

/* NULL: the task has entered nothing, or there is no memory. */
static inline struct frames *frames_of(struct calls *calls, const struct event *event, bool make)
{
	const struct calls_seat *seat = &calls->seats[event->cpu % CALLS_SEATS];

	return __builtin_expect(seat->key == calls_key(event), 1) ? seat->frames : seat_frames(calls, event, make);
}

struct frames *calls_frames_of(struct calls *calls, const struct event *event)
{
	return frames_of(calls, event, true);
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
	struct frames **frames;
	uint64_t key;
	size_t at = 0;

	cpu_gaps_add(&calls->gaps, cpu);
	while ((frames = u64_map_next(&calls->tasks, &at, &key)))
		if (*frames && (*frames)->cpu == cpu)
			forget(calls, *frames);
}

/* A CPU to which the task comes may have lost the ends of its calls since it was seen elsewhere. */
static inline void settle(struct calls *calls, struct frames *frames, const struct event *event)
{
	if (__builtin_expect(frames->cpu != event->cpu, 0) && cpu_gaps_since(&calls->gaps, event->cpu, frames->losses))
		forget(calls, frames);
	frames->cpu = event->cpu;
	frames->losses = calls->gaps.nr;
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
	if (!frames->late)
		frames->late = LATE_NEVER;
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

static void enter(struct calls *calls, const struct graph_record *entry, const struct event *event, struct call *ret)
{
	struct frames *frames = frames_of(calls, event, true);
	bool repeated = false;

	ret->func = entry->func;
	if (!frames || graph_record_is_deep(entry))
		return;
	settle(calls, frames, event);
	close_above(calls, frames, entry->depth);
	if (frames->len == frames->size && !call_frames_grow(frames)) {
		calls->starved = true;
		return;
	}
	hits_forget(&frames->hits, frames->len + 1);
	if (frames->repeats.log.nr && !within(event) && !(event->flags & EVENT_IRQS_OFF))
		repeated = repeats_begin(&frames->repeats, frames->len + 1, entry->func);
	frames->funcs[frames->len] = entry->func;
	frames->at[frames->len++] = (struct frame){ .start = event->ts,
						    .losses = (uint32_t)calls->gaps.nr,
						    .depth = entry->depth,
						    .within = within(event),
						    .irqs_off = event->flags & EVENT_IRQS_OFF,
						    .repeated = repeated,
						    .mark = calls->mark };
}

/* Sets the start of the call. Some records have times of their own. */
static void take_times(const struct graph_record *exit, const struct event *event, const struct frame *frame,
		       struct call *ret)
{
	if (exit->timed) {
		ret->start = exit->calltime;
		ret->lasted = exit->rettime - exit->calltime;
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

	if (!frames->late && call->depth <= 0)
		frames->late = LATE_UNSURE;
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

/* Which calls that were taken for inner ones are none. `place`: of the outer call; 0: there is none. */
__attribute__((noinline)) static void see_repeats(struct frames *frames, size_t place, bool ends, bool is_last,
						  struct call *call, bool interrupts)
{
	const struct repeat repeat = { .func = call->func,
				       .start = call->start,
				       .lasted = call->lasted,
				       .interrupted = call->interrupted,
				       .place = place };
	struct frame *outer = place ? &frames->at[place - 1] : NULL;

	if (ends)
		call->repeats = repeats_end(&frames->repeats, is_last ? frames->len + 1 : 0, &repeat);
	if (outer && !outer->repeated)
		repeats_forget(&frames->repeats, place);
	if (outer)
		outer->repeated = true;
	if (outer || interrupts)
		repeats_add(&frames->repeats, &repeat);
}

/* Finds out whether an outer call has this one's time. Nearly all calls neither have one nor are interrupted. */
static inline void count_repeats(struct frames *frames, const struct frame *frame, bool is_last, struct call *call,
				 bool interrupts)
{
	size_t place = call_frames_place(frames, call->func);
	bool ends = frame && (!is_last || frame->repeated);

	call->again = place;
	if (call->timed && (place || ends || interrupts))
		see_repeats(frames, place, ends, is_last, call, interrupts);
}

/* Whether this is the end of another call of the function, of which the beginning was lost. */
static bool is_other(const struct calls *calls, const struct graph_record *exit, const struct frame *frame)
{
	return __builtin_expect(frame->losses != (uint32_t)calls->gaps.nr, 0) &&
	       graph_record_is_later(exit, frame->inner_first);
}

/* Member by member: compilers clear so large a structure at once by an instruction that takes longer than the rest. */
static inline void begin_call(const struct graph_record *exit, struct call *ret)
{
	ret->func = exit->func;
	ret->depth = exit->depth;
	ret->entered = ret->timed = ret->again = ret->interrupts = false;
	ret->start = ret->lasted = ret->nested = ret->interrupted = 0;
	ret->mark = ret->word = 0;
	ret->repeats = (struct repeats_found){ .inside = { 0 } };
}

static void leave_function(struct calls *calls, const struct graph_record *exit, const struct event *event,
			   struct call *ret)
{
	struct frames *frames = frames_of(calls, event, false);
	struct frame *frame;
	uint8_t in = within(event);
	bool is_last, irqs_off = event->flags & EVENT_IRQS_OFF;

	begin_call(exit, ret);
	if (frames)
		settle(calls, frames, event);
	frame = ended(calls, frames, ret);
	if (frame && is_other(calls, exit, frame)) {
		forget(calls, frames);
		frame = NULL;
	}
	is_last = frame;
	if (!frame && frames)
		frame = end_late(frames, ret);
	take_times(exit, event, frame, ret);
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

bool calls_see_record(struct calls *calls, const struct graph_record *record, const struct event *event,
		      struct call *ret)
{
	if (record->role == GRAPH_EVENT_ENTRY)
		enter(calls, record, event, ret);
	else
		leave_function(calls, record, event, ret);
	return record->role == GRAPH_EVENT_EXIT;
}

bool calls_see(struct calls *calls, const struct event *event, struct call *ret)
{
	struct graph_record record;

	if (__builtin_expect(event->kind == EVENT_LOST, 0)) {
		see_lost(calls, event->cpu);
		return false;
	}
	return graph_records_read(&calls->records, event, &record) && calls_see_record(calls, &record, event, ret);
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
	return calls->starved || calls->records.starved || calls->tasks.starved || calls->gaps.last.starved;
}
