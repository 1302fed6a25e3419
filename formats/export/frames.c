// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/frames.h"

#include "lib/base/u64_map.h"
#include "lib/event/event.h"
#include "lib/event/place.h"

#include <stdlib.h>
#include <string.h>

/* A kernel stack has no room for more functions: records with a greater depth are ignored. */
enum { DEPTH_MAX = 1024 };

enum role { ROLE_UNKNOWN, ROLE_NONE, ROLE_ENTRY, ROLE_EXIT };

enum { FUNC, DEPTH, CALLTIME, RETTIME, NR_PLACES };

struct type {
	struct place places[NR_PLACES];
};

struct frames {
	const struct schema_abi *abi;
	struct frames_calls calls;
	struct u64_map types;  /* by event_type::index: struct type */
	struct u64_map tracks; /* by key: struct track */
	uint64_t orphans;
	/* the least time from a call's end to its event: their clocks may differ */
	int64_t behind;
	bool has_behind;
	bool starved;
	uint8_t known[EVENT_TYPES_MAX]; /* by event_type::index: enum role */
};

struct frames *frames_new(const struct schema_abi *abi, const struct frames_calls *calls)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->abi = abi;
	frames->calls = *calls;
	u64_map_init(&frames->types, sizeof(struct type));
	u64_map_init(&frames->tracks, sizeof(struct track));
	return frames;
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
		free(track->ended);
	}
	u64_map_release(&frames->tracks);
	u64_map_release(&frames->types);
	free(frames);
}

static enum role role_of(struct frames *frames, const struct event_type *event_type)
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
	type = role == ROLE_NONE ? NULL : u64_map_add(&frames->types, event_type->index);
	for (size_t i = 0; type && i < NR_PLACES; i++)
		(void)place_bind(&type->places[i], format, frames->abi, names[i]);
	return type && type->places[FUNC].size && type->places[DEPTH].size ? role : ROLE_NONE;
}

static uint64_t task_key(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu;
}

static uint64_t cpu_key(const struct event *event)
{
	return UINT64_C(2) << 32 | event->cpu;
}

static struct track *track_of(struct frames *frames, const struct event *event, bool interrupt)
{
	uint64_t key = interrupt ? cpu_key(event) : task_key(event);
	struct track *track = u64_map_add(&frames->tracks, key);

	if (track && !track->known) {
		track->known = true;
		track->key = key;
		track->pid = event->pid;
		track->interrupt = interrupt;
	}
	if (track)
		track->cpu = event->cpu;
	return track;
}

/*
 * Notes a call that has ended, and returns when it began: before the calls inside it, and not before the end of the one
 * before it. The kernel may take the time in which a task slept off the start of a call. Later than `end`: there is no
 * such time.
 */
static uint64_t note_ended(struct frames *frames, struct track *track, int32_t depth, uint64_t start, uint64_t end)
{
	struct ended *last = track->nr_ended ? &track->ended[track->nr_ended - 1] : NULL;
	uint64_t inner = UINT64_MAX;

	for (; last && last->depth > depth; last = --track->nr_ended ? last - 1 : NULL) {
		inner = last->start;
		if (last->start <= start && start < last->end)
			start = last->start - 1;
	}
	if (last && last->end > start)
		start = last->end < inner ? last->end : end + 1;
	if (last && last->depth == depth) {
		last->end = end;
		return start;
	}
	if (track->nr_ended == track->size_ended) {
		size_t size = track->size_ended ? track->size_ended * 2 : 16;
		struct ended *ended = reallocarray(track->ended, size, sizeof(*ended));

		if (!ended) {
			frames->starved = true;
			return start;
		}
		track->ended = ended;
		track->size_ended = size;
	}
	track->ended[track->nr_ended++] = (struct ended){ .start = start, .end = end, .depth = depth };
	return start;
}

static void leave(struct frames *frames, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted,
		  bool exited)
{
	const struct frame *frame = &track->frames[track->nr_frames - 1];

	frames->calls.leave(frames->calls.arg, buffer, track, ts, lasted, exited);
	if (frames->calls.lone)
		(void)note_ended(frames, track, frame->depth, frame->start, ts);
	track->nr_frames--;
	if (track->nr_frames)
		track->frames[track->nr_frames - 1].nested += lasted;
}

static void leave_from(struct frames *frames, const struct event *event, struct track *track, int32_t depth)
{
	while (track->nr_frames && track->frames[track->nr_frames - 1].depth >= depth)
		leave(frames, event->buffer, track, event->ts, 0, false);
}

static struct frame *push(struct track *track)
{
	if (track->nr_frames == track->size) {
		size_t size = track->size ? track->size * 2 : 16;
		struct frame *frames = reallocarray(track->frames, size, sizeof(*frames));

		if (!frames)
			return NULL;
		track->frames = frames;
		track->size = size;
	}
	return &track->frames[track->nr_frames++];
}

static void enter(struct frames *frames, const struct type *type, const struct event *event, struct track *track)
{
	int32_t depth = (int32_t)place_u64(&type->places[DEPTH], event);
	struct frame *frame;

	if (depth < 0 || depth > DEPTH_MAX)
		return;
	leave_from(frames, event, track, depth);
	frame = push(track);
	if (!frame) {
		frames->starved = true;
		return;
	}
	*frame = (struct frame){ .func = place_u64(&type->places[FUNC], event), .start = event->ts, .depth = depth };
	frames->calls.enter(frames->calls.arg, event, track);
}

static bool has_call(const struct track *track, uint64_t func, int32_t depth)
{
	for (size_t i = track ? track->nr_frames : 0; i-- > 0 && track->frames[i].depth >= depth;)
		if (track->frames[i].depth == depth && track->frames[i].func == func)
			return true;
	return false;
}

/* The time of an interrupt does not count for the function that it interrupted. */
static void charge(struct frames *frames, const struct event *event, uint64_t lasted)
{
	struct track *track = u64_map_find(&frames->tracks, task_key(event));

	if (track && track->nr_frames)
		track->frames[track->nr_frames - 1].nested += lasted;
}

/*
 * An exit without an entry. The times in the record are those of the local clock. The same number is added to all of
 * them, so that a call begins after the one that called it; the number only becomes smaller, and callers end later.
 */
static void leave_lone(struct frames *frames, const struct type *type, const struct event *event, bool interrupt)
{
	const struct place *calltime = &type->places[CALLTIME], *rettime = &type->places[RETTIME];
	int64_t behind = (int64_t)(event->ts - place_u64(rettime, event));
	struct frame frame = { .func = place_u64(&type->places[FUNC], event),
			       .depth = (int32_t)place_u64(&type->places[DEPTH], event) };
	struct track *track;

	if (!frames->calls.lone || !calltime->size || !rettime->size || !place_u64(calltime, event) ||
	    frame.depth < 0 || frame.depth > DEPTH_MAX || place_u64(rettime, event) < place_u64(calltime, event))
		return;
	track = track_of(frames, event, interrupt);
	if (!track)
		return;
	leave_from(frames, event, track, frame.depth + 1);
	if (!frames->has_behind || behind < frames->behind)
		frames->behind = behind;
	frames->has_behind = true;
	frame.start = place_u64(calltime, event) + (uint64_t)frames->behind;
	if (frame.start > event->ts || frame.start < track->cut ||
	    (track->nr_frames && track->frames[track->nr_frames - 1].start > frame.start))
		return;
	frame.start = note_ended(frames, track, frame.depth, frame.start, event->ts);
	if (frame.start <= event->ts)
		frames->calls.lone(frames->calls.arg, event, track, &frame);
}

/* The first and the last function of an interrupt are entered on one side of its boundary and left on the other. */
static void leave_one(struct frames *frames, const struct type *type, const struct event *event, bool interrupt)
{
	const struct place *calltime = &type->places[CALLTIME], *rettime = &type->places[RETTIME];
	int32_t depth = (int32_t)place_u64(&type->places[DEPTH], event);
	uint64_t func = place_u64(&type->places[FUNC], event), lasted;
	struct track *track = u64_map_find(&frames->tracks, interrupt ? cpu_key(event) : task_key(event));

	if (!has_call(track, func, depth))
		track = u64_map_find(&frames->tracks, interrupt ? task_key(event) : cpu_key(event));
	if (!has_call(track, func, depth)) {
		frames->orphans++;
		leave_lone(frames, type, event, interrupt);
		return;
	}
	leave_from(frames, event, track, depth + 1);
	lasted = event->ts - track->frames[track->nr_frames - 1].start;
	if (calltime->size && rettime->size)
		lasted = place_u64(rettime, event) - place_u64(calltime, event);
	leave(frames, event->buffer, track, event->ts, lasted, true);
	if (track->interrupt && !track->nr_frames)
		charge(frames, event, lasted);
}

void frames_end(struct frames *frames, uint16_t buffer, uint64_t ts)
{
	struct track *track;
	uint64_t key;
	size_t at = 0;

	while ((track = u64_map_next(&frames->tracks, &at, &key))) {
		if (track->nr_frames)
			track->cut = ts;
		track->nr_ended = 0;
		while (track->nr_frames)
			leave(frames, buffer, track, ts, 0, false);
	}
}

bool frames_see(struct frames *frames, const struct event *event)
{
	const struct type *type;
	struct track *track;
	bool interrupt;
	uint8_t *role;

	if (event->kind == EVENT_LOST) {
		frames_end(frames, event->buffer, event->ts);
		return false;
	}
	role = &frames->known[event->type->index];
	if (*role == ROLE_UNKNOWN)
		*role = (uint8_t)role_of(frames, event->type);
	if (*role == ROLE_NONE)
		return false;
	type = u64_map_find(&frames->types, event->type->index);
	interrupt = event->flags & (EVENT_HARDIRQ | EVENT_NMI);
	if (*role == ROLE_EXIT) {
		leave_one(frames, type, event, interrupt);
		return true;
	}
	track = track_of(frames, event, interrupt);
	if (track)
		enter(frames, type, event, track);
	return true;
}

uint64_t frames_orphans(const struct frames *frames)
{
	return frames->orphans;
}

bool frames_starved(const struct frames *frames)
{
	return frames->starved || frames->types.starved || frames->tracks.starved;
}
