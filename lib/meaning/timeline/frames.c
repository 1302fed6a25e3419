// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/timeline/frames.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/cpu_gaps.h"
#include "lib/meaning/follow/graph_records.h"

enum { ALIKE_MAX = 4 }; /* open calls of the same depth */

struct frames {
	struct frames_calls calls;
	struct calls *pairs;   /* knows the time of the calls inside a call exactly */
	struct u64_map tracks; /* by key: struct track */
	struct cpu_gaps gaps;
	struct frames_left left;
	uint64_t first; /* time of the first event */
	int64_t behind; /* the least time from the end of a call without an entry to its event: clocks may differ */
	bool has_behind;
	bool entries; /* one was seen: tracing_thresh records none */
	bool begun, starved;
	struct graph_records records;
};

struct frames *frames_new(const struct frames_calls *calls)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->calls = *calls;
	u64_map_init(&frames->tracks, sizeof(struct track));
	cpu_gaps_init(&frames->gaps);
	frames->pairs = calls_new();
	if (frames->pairs)
		return frames;
	frames_free(frames);
	return NULL;
}

void frames_free(struct frames *frames)
{
	struct track *track;
	uint64_t key;
	size_t at = 0;

	if (!frames)
		return;
	while ((track = u64_map_next(&frames->tracks, &at, &key))) {
		free(track->frames);
		calls_without_caller_release(&track->uncalled);
	}
	u64_map_release(&frames->tracks);
	cpu_gaps_release(&frames->gaps);
	graph_records_release(&frames->records);
	calls_free(frames->pairs);
	free(frames);
}

static uint64_t idle_key(uint16_t cpu)
{
	return UINT64_C(1) << 32 | cpu;
}

static uint64_t task_key(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : idle_key(event->cpu);
}

static uint64_t cpu_key(uint16_t cpu)
{
	return UINT64_C(2) << 32 | cpu;
}

static struct track *track_of(struct frames *frames, const struct event *event, bool interrupt)
{
	uint64_t key = interrupt ? cpu_key(event->cpu) : task_key(event);
	struct track *track = u64_map_get(&frames->tracks, key);

	if (track && !track->known) {
		track->known = true;
		track->key = key;
		track->pid = event->pid;
		track->cpu = event->cpu;
		track->interrupt = interrupt;
	}
	return track;
}

/* Counts the call in *reason, unless it has exited. */
static void leave(struct frames *frames, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted,
		  uint64_t *reason)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];

	if (reason)
		++*reason;
	frames->calls.leave(frames->calls.arg, buffer, track, ts, lasted, !reason);
	if (frames->calls.late && !frame->late)
		frames->starved |= !calls_without_caller_note(&track->uncalled, frame->depth, frame->start, ts);
	track->nr_frames--;
	if (track->nr_frames)
		track->frames[track->nr_frames - 1].nested += lasted;
}

static void leave_all(struct frames *frames, uint16_t buffer, struct track *track, uint64_t ts, uint64_t *reason)
{
	while (track->nr_frames)
		leave(frames, buffer, track, ts, 0, reason);
}

static void leave_from(struct frames *frames, const struct event *event, struct track *track, int32_t depth)
{
	while (track->nr_frames && track->frames[track->nr_frames - 1].depth >= depth)
		leave(frames, event->buffer, track, event->ts, 0, &frames->left.dropped);
}

static struct frame *push(struct frames *frames, struct track *track)
{
	if (track->nr_frames == track->size) {
		size_t size = track->size ? track->size * 2 : 16;
		struct frame *more = reallocarray(track->frames, size, sizeof(*more));

		if (!more) {
			frames->starved = true;
			return NULL;
		}
		track->frames = more;
		track->size = size;
	}
	return &track->frames[track->nr_frames++];
}

/* Where the calls go that have waited. */
struct putting {
	struct frames *frames;
	struct track *track;
	uint16_t buffer;
};

static bool enter_late(void *arg, const struct calls_without_caller_call *call)
{
	const struct putting *putting = arg;
	struct track *track = putting->track;
	const struct event event = {
		.ts = call->start, .buffer = putting->buffer, .cpu = call->cpu, .pid = track->pid
	};
	struct frame *frame = push(putting->frames, track);

	if (!frame)
		return false;
	*frame = (struct frame){ .func = call->func,
				 .start = call->start,
				 .depth = call->depth,
				 .whole = call->whole,
				 .late = true,
				 .from = call->from };
	track->cpu = call->cpu;
	putting->frames->calls.enter(putting->frames->calls.arg, &event, track);
	return true;
}

static void leave_late(void *arg, const struct calls_without_caller_call *call)
{
	const struct putting *putting = arg;

	putting->track->cpu = call->cpu;
	leave(putting->frames, putting->buffer, putting->track, call->end, call->rettime - call->calltime, NULL);
}

static void put_late(struct frames *frames, uint16_t buffer, struct track *track)
{
	struct putting putting = { .frames = frames, .track = track, .buffer = buffer };
	const struct calls_without_caller_calls calls = { .enter = enter_late, .leave = leave_late, .arg = &putting };
	uint16_t cpu = track->cpu;

	calls_without_caller_put(&track->uncalled, &calls);
	track->cpu = cpu;
}

/*
 * The exits of a task's calls may be among what its new CPU has lost since the task was seen elsewhere. These calls end
 * on the new CPU: readers that order the events of two CPUs by time alone see their ends before what the task does
 * next.
 */
static void arrive(struct frames *frames, const struct event *event, struct track *track)
{
	bool moved = track->cpu != event->cpu;

	track->cpu = event->cpu;
	if (__builtin_expect(moved && cpu_gaps_since(&frames->gaps, event->cpu, track->losses), 0))
		leave_all(frames, event->buffer, track, event->ts, &frames->left.lost_exit);
	track->losses = frames->gaps.nr;
}

/*
 * A call of the same depth stays open for a while: the tracer lowers the depth before it writes the end of a function
 * (ftrace_return_to_handler()), so the functions of an interrupt in between have the depth of the one that ends.
 */
static void close_above(struct frames *frames, const struct event *event, struct track *track, int32_t depth)
{
	size_t alike = 0;

	leave_from(frames, event, track, depth + 1);
	while (alike < track->nr_frames && track->frames[track->nr_frames - 1 - alike].depth == depth)
		alike++;
	if (alike == ALIKE_MAX)
		leave_from(frames, event, track, depth);
}

static void enter(struct frames *frames, const struct graph_record *entry, const struct event *event,
		  struct track *track)
{
	struct call none;
	struct frame *frame;

	if (graph_record_is_deep(entry))
		return;
	frames->entries = true;
	(void)calls_see_record(frames->pairs, entry, event, &none);
	arrive(frames, event, track);
	if (track->uncalled.nr)
		put_late(frames, event->buffer, track);
	close_above(frames, event, track, entry->depth);
	frame = push(frames, track);
	if (!frame)
		return;
	*frame = (struct frame){
		.func = entry->func, .start = event->ts, .depth = entry->depth, .whole = true, .losses = frames->gaps.nr
	};
	frames->calls.enter(frames->calls.arg, event, track);
}

static struct frame *find_call(const struct track *track, uint64_t func, int32_t depth)
{
	for (size_t i = track ? track->nr_frames : 0; i-- > 0 && track->frames[i].depth >= depth;)
		if (track->frames[i].depth == depth && track->frames[i].func == func)
			return &track->frames[i];
	return NULL;
}

/* The time of an interrupt does not count for the function that it interrupted. */
static void charge(struct frames *frames, const struct event *event, uint64_t lasted)
{
	struct track *track = u64_map_find(&frames->tracks, task_key(event));

	if (track && track->nr_frames)
		track->frames[track->nr_frames - 1].nested += lasted;
}

static void count_lone(struct frames *frames, bool timed, bool began)
{
	bool alone = began && !frames->gaps.nr;

	if (alone && !frames->entries)
		frames->left.unpaired++;
	else if (alone)
		frames->left.unentered++;
	else if (frames->gaps.nr && (began || !timed))
		frames->left.lost_entry++;
	else
		frames->left.cut++;
}

/*
 * The times in the record are those of the local clock. The same number is added to all of them, so that a call begins
 * after the one that called it; the number only becomes smaller, and callers end later.
 */
static uint64_t from_of(struct frames *frames, const struct event *event, const struct track *track,
			const struct graph_record *exit)
{
	int64_t behind = (int64_t)(event->ts - exit->rettime);
	uint64_t least = track->nr_frames ? track->frames[track->nr_frames - 1].start : 0, from;

	if (!frames->has_behind || behind < frames->behind)
		frames->behind = behind;
	frames->has_behind = true;
	from = calls_without_caller_from(&track->uncalled, exit->depth, exit->calltime + (uint64_t)frames->behind,
					 least);
	return from < event->ts || exit->rettime == exit->calltime ? from : 0;
}

/*
 * An exit without an entry. If it has its duration, it is a call nevertheless. It waits for the exit of its caller,
 * unless that has an entry.
 */
static void see_lone(struct frames *frames, const struct event *event, const struct graph_record *exit)
{
	uint64_t lasted = exit->rettime - exit->calltime < event->ts ? exit->rettime - exit->calltime : event->ts;
	bool began = exit->timed && event->ts - lasted >= frames->first;
	struct calls_without_caller_call call = { .func = exit->func,
						  .calltime = exit->calltime,
						  .rettime = exit->rettime,
						  .start = event->ts - lasted,
						  .end = event->ts,
						  .depth = exit->depth,
						  .cpu = event->cpu,
						  .whole = began && !frames->gaps.nr && !frames->entries };
	struct track *track;

	count_lone(frames, exit->timed, began);
	if (!frames->calls.late || !exit->timed || !exit->calltime || exit->rettime < exit->calltime ||
	    graph_record_is_deep(exit))
		return;
	track = track_of(frames, event, event->flags & (EVENT_HARDIRQ | EVENT_NMI));
	if (!track)
		return;
	arrive(frames, event, track);
	close_above(frames, event, track, exit->depth);
	call.from = from_of(frames, event, track, exit);
	if (call.from)
		frames->starved |= !calls_without_caller_note(&track->uncalled, call.depth, call.from, call.end);
	if (!calls_without_caller_add(&track->uncalled, &call))
		frames->starved = true;
	else if (!exit->depth || track->nr_frames || track->uncalled.nr == CALLS_WITHOUT_CALLER_MAX)
		put_late(frames, event->buffer, track);
}

/* The first and the last function of an interrupt are entered on one side of its boundary and left on the other. */
static void leave_one(struct frames *frames, const struct graph_record *exit, const struct event *event, bool interrupt)
{
	struct track *track = u64_map_find(&frames->tracks, interrupt ? cpu_key(event->cpu) : task_key(event));
	struct call call;
	struct frame *frame;
	uint64_t lasted;

	(void)calls_see_record(frames->pairs, exit, event, &call);
	if (track)
		arrive(frames, event, track);
	if (!find_call(track, exit->func, exit->depth))
		track = u64_map_find(&frames->tracks, interrupt ? task_key(event) : cpu_key(event->cpu));
	frame = find_call(track, exit->func, exit->depth);
	if (frame && frame->losses != frames->gaps.nr && graph_record_is_later(exit, frame->inner_first)) {
		leave_all(frames, event->buffer, track, event->ts, &frames->left.lost_exit);
		frame = NULL;
	}
	if (!frame) {
		see_lone(frames, event, exit);
		return;
	}
	while (&track->frames[track->nr_frames - 1] != frame)
		leave(frames, event->buffer, track, event->ts, 0, &frames->left.dropped);
	frame->whole = call.entered;
	if (call.entered)
		frame->nested = call.nested;
	if (track->nr_frames > 1 && !frame[-1].inner_first)
		frame[-1].inner_first = exit->rettime;
	lasted = exit->timed ? exit->rettime - exit->calltime : event->ts - frame->start;
	leave(frames, event->buffer, track, event->ts, lasted, NULL);
	if (track->interrupt && !track->nr_frames)
		charge(frames, event, lasted);
}

void frames_end(struct frames *frames, uint16_t buffer, uint64_t ts)
{
	struct track *track;
	uint64_t key;
	size_t at = 0;

	while ((track = u64_map_next(&frames->tracks, &at, &key))) {
		leave_all(frames, buffer, track, ts, &frames->left.open);
		if (track->uncalled.nr)
			put_late(frames, buffer, track);
	}
}

static void see_lost(struct frames *frames, const struct event *event)
{
	struct track *track;
	struct call none;
	uint64_t key;

	(void)calls_see(frames->pairs, event, &none);
	cpu_gaps_add(&frames->gaps, event->cpu);
	for (size_t at = 0; (track = u64_map_next(&frames->tracks, &at, &key));)
		if (track->cpu == event->cpu)
			leave_all(frames, event->buffer, track, event->ts, &frames->left.lost_exit);
}

bool frames_see(struct frames *frames, const struct event *event)
{
	struct graph_record record;
	struct track *track;
	bool interrupt;

	if (!frames->begun)
		frames->first = event->ts;
	frames->begun = true;
	if (event->kind == EVENT_LOST) {
		see_lost(frames, event);
		return false;
	}
	if (!graph_records_read(&frames->records, event, &record))
		return false;
	interrupt = event->flags & (EVENT_HARDIRQ | EVENT_NMI);
	if (record.role == GRAPH_EVENT_EXIT) {
		leave_one(frames, &record, event, interrupt);
		return true;
	}
	track = track_of(frames, event, interrupt);
	if (track)
		enter(frames, &record, event, track);
	return true;
}

void frames_count(const struct frames *frames, struct frames_left *sum)
{
	sum->cut += frames->left.cut;
	sum->open += frames->left.open;
	sum->lost_entry += frames->left.lost_entry;
	sum->lost_exit += frames->left.lost_exit;
	sum->unentered += frames->left.unentered;
	sum->unpaired += frames->left.unpaired;
	sum->dropped += frames->left.dropped;
}

bool frames_starved(const struct frames *frames)
{
	return frames->starved || frames->records.starved || frames->tracks.starved || frames->gaps.last.starved ||
	       calls_starved(frames->pairs);
}
