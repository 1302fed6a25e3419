// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/calls_slice.h"

#include "lib/meaning/follow/calls_internal.h"

/*
 * A task of a slice. EARLIER: functions may be open that were entered before the slice. TRIED: all open functions were
 * entered in the slice, but what came between them and before may differ from what is known: `ending`, `hits` of no
 * function and `repeats.log`. An entry outside of interrupts clears the log, and the exit of an outermost function the
 * hits, if both times are without interrupts. Then the frames are those that the reader of all events has.
 */

void calls_slice_begin(struct calls *calls)
{
	calls->in_slice = true;
}

static bool is_plain(const struct event *event)
{
	return !(event->flags & (EVENT_INTERRUPTS | EVENT_IRQS_OFF));
}

/* Whether the call that has ended was the outermost one, and left nothing behind but what the log has. */
static bool is_settled(const struct frames *frames, const struct call *call)
{
	return frames->cleared && !call->depth && call->entered && call->timed && !frames->len &&
	       !frames->ending.valid && !frames->hits.nr;
}

static void try(struct calls *calls, struct frames *frames, const struct graph_record *record,
		const struct event *event)
{
	uint64_t dropped = calls->dropped;
	struct call call;
	bool ended = calls_see_record(calls, record, event, &call);

	/* They are counted when the event is seen again. */
	calls->dropped = dropped;
	if (!ended) {
		frames->cleared |= is_plain(event) && !graph_record_is_deep(record);
	} else if (is_settled(frames, &call)) {
		frames->phase = FRAMES_KNOWN;
		frames->logged = frames->repeats.log.nr;
		frames->late = LATE_STILL;
	}
}

static inline bool is_known(const struct calls *calls, const struct event *event)
{
	const struct calls_seat *seat = &calls->seats[event->cpu % CALLS_SEATS];

	return seat->key == calls_key(event) && seat->frames->phase == FRAMES_KNOWN;
}

/* Not inline: most events are of tasks that are known. */
__attribute__((noinline)) static enum calls_step keep(struct calls *calls, const struct graph_record *record,
						      const struct event *event, struct call *ret)
{
	struct frames *frames = calls_frames_of(calls, event);
	bool is_entry = record->role == GRAPH_EVENT_ENTRY;

	if (!frames || frames->phase == FRAMES_KNOWN)
		return calls_see_record(calls, record, event, ret) ? CALLS_ENDED : CALLS_NONE;
	if (frames->phase == FRAMES_EARLIER && is_entry && !record->depth)
		frames->phase = FRAMES_TRIED;
	if (frames->phase == FRAMES_TRIED)
		try(calls, frames, record, event);
	else if (!is_entry && record->depth <= 0)
		frames->phase = FRAMES_TRIED;
	return CALLS_KEEP;
}

enum calls_step calls_slice_see(struct calls *calls, const struct event *event, struct call *ret)
{
	struct graph_record record;

	if (!graph_records_read(&calls->records, event, &record))
		return CALLS_NONE;
	if (__builtin_expect(calls->in_slice && !is_known(calls, event), 0))
		return keep(calls, &record, event, ret);
	return calls_see_record(calls, &record, event, ret) ? CALLS_ENDED : CALLS_NONE;
}

bool calls_slice_again(struct calls *into, struct calls *from, const struct event *event, struct call *ret)
{
	struct graph_record record;

	return graph_records_read(&from->records, event, &record) && calls_see_record(into, &record, event, ret);
}

/*
 * Replaces what is known of a task by what the slice knows, if the task has now done what the slice took for granted. A
 * function without an exit may have been the outermost one all the time.
 */
static bool replace(struct calls *into, struct frames *of, struct frames *own)
{
	struct ending ending = of->ending;
	struct frames was = *of;

	if (of->len || of->hits.nr || of->repeats.log.nr != own->logged || (ending.valid && own->late == LATE_UNSURE))
		return false;
	*of = *own;
	*own = was;
	if (ending.valid && of->late == LATE_STILL)
		of->ending = ending;
	into->dropped += ending.valid && of->late == LATE_NEVER;
	return true;
}

bool calls_slice_join(struct calls *into, struct calls *from)
{
	struct frames **own, *of;
	uint64_t key;
	size_t at = 0;

	while ((own = u64_map_next(&from->tasks, &at, &key))) {
		if (!*own || (*own)->phase != FRAMES_KNOWN)
			continue;
		of = calls_frames_new(into, key);
		if (!of || !replace(into, of, *own))
			return false;
	}
	into->dropped += from->dropped;
	into->starved |= calls_starved(from);
	return !into->starved && !from->gaps.nr;
}
