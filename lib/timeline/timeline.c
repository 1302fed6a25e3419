// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/timeline_internal.h"

#include "lib/base/vec.h"
#include "lib/event/context.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void give(const struct timeline *timeline, const struct timeline_slice *slice)
{
	if (is_wanted(timeline, slice->kind))
		timeline->calls.slice(timeline->calls.arg, slice);
}

static uint32_t begin_run(void *arg, uint32_t task)
{
	const struct timeline *timeline = arg;

	return timeline->calls.begin ? timeline->calls.begin(timeline->calls.arg, task) : 0;
}

static void give_run(void *arg, uint32_t cpu, const struct turns_turn *turn, uint64_t to, enum turns_end end)
{
	const struct timeline *timeline = arg;

	give(timeline, &(struct timeline_slice){ .kind = TIMELINE_RUN,
						 .end = end,
						 .start = turn->since,
						 .to = to,
						 .buffer = timeline->first_buffer,
						 .cpu = cpu,
						 .pid = timeline->state->tasks[turn->task].pid,
						 .task = turn->task,
						 .note = turn->note });
}

static void give_state(void *arg, const struct turns_mode *mode, uint64_t to, enum turns_end end)
{
	const struct timeline *timeline = arg;

	give(timeline, &(struct timeline_slice){ .kind = TIMELINE_STATE,
						 .end = end,
						 .start = mode->since,
						 .to = to,
						 .buffer = timeline->first_buffer,
						 .pid = timeline->state->tasks[mode->task].pid,
						 .task = mode->task,
						 .mode = mode });
}

static void enter_function(void *arg, const struct event *event, struct track *track)
{
	const struct part *part = arg;
	const struct timeline_calls *calls = &part->timeline->calls;

	if (calls->enter)
		calls->enter(calls->arg, event, track);
}

static void leave_function(void *arg, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted, bool exited)
{
	const struct part *part = arg;

	(void)buffer;
	give(part->timeline, &(struct timeline_slice){ .kind = TIMELINE_FUNCTION,
						       .end = exited ? TURNS_KNOWN : TURNS_LOST,
						       .start = track->frames[track->nr_frames - 1].start,
						       .to = ts,
						       .buffer = part->buffer,
						       .cpu = track->cpu,
						       .pid = track->pid,
						       .track = track,
						       .lasted = lasted,
						       .exited = exited });
}

struct timeline *timeline_new(const struct timeline_calls *calls, bool preempt_rt)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->calls = *calls;
	state_init(&timeline->own, preempt_rt);
	timeline->state = &timeline->own;
	timeline->turns = (struct turns){ .state = timeline->state,
					  .calls = { .arg = timeline,
						     .begin = begin_run,
						     .turn = is_wanted(timeline, TIMELINE_RUN) ? give_run : NULL,
						     .mode = is_wanted(timeline, TIMELINE_STATE) ? give_state : NULL,
						     .one_wait = calls->one_wait } };
	return timeline;
}

static void part_free(struct part *part)
{
	if (!part)
		return;
	frames_free(part->frames);
	open_calls_release(&part->calls);
	u64_map_release(&part->types);
	u64_map_release(&part->starts);
	u64_map_release(&part->handlers);
	free(part->stems);
	free(part);
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->nr_parts; i++)
		part_free(timeline->parts[i]);
	free(timeline->parts);
	turns_release(&timeline->turns);
	state_release(&timeline->own);
	free(timeline);
}

bool timeline_add(struct timeline *timeline, uint16_t buffer, const struct context *context)
{
	struct part *part = calloc(1, sizeof(*part));
	const struct frames_calls calls = {
		.enter = enter_function, .leave = leave_function, .arg = part, .late = !timeline->calls.only_with_entry
	};

	if (!part)
		return false;
	part->timeline = timeline;
	part->context = context;
	part->buffer = buffer;
	open_calls_init(&part->calls, context, timeline->state);
	u64_map_init(&part->types, sizeof(struct type));
	u64_map_init(&part->starts, sizeof(struct start));
	u64_map_init(&part->handlers, sizeof(struct handler));
	part->frames = frames_new(&calls);
	while (part->frames && timeline->nr_parts <= buffer && vec_push(timeline->parts, timeline->nr_parts))
		continue;
	if (timeline->nr_parts <= buffer) {
		part_free(part);
		return false;
	}
	timeline->parts[buffer] = part;
	state_restrict(&timeline->own, context);
	if (!timeline->first) {
		timeline->first = context;
		timeline->first_buffer = buffer;
	}
	return true;
}

void timeline_follow(struct timeline *timeline, const struct state *state)
{
	timeline->state = state;
	timeline->turns.state = state;
	for (size_t i = 0; i < timeline->nr_parts; i++)
		if (timeline->parts[i])
			timeline->parts[i]->calls.state = state;
}

static uint64_t start_key(const struct type *type, const struct event *event)
{
	return (uint64_t)event->cpu << 16 | type->pair;
}

/* Only the event that begins an interrupt has the name of its handler; both events have its number. */
static void learn_handler(struct part *part, const struct type *type, const struct event *event)
{
	uint64_t number = place_u64(&type->places[NUMBER], event);
	struct handler *handler;
	const char *name;
	size_t len;

	if (!is_wanted(part->timeline, TIMELINE_IRQ) || u64_map_find(&part->handlers, number) ||
	    !place_string(&type->places[MORE], event, &name, &len))
		return;
	handler = u64_map_add(&part->handlers, number);
	if (handler)
		snprintf(handler->text, sizeof(handler->text), "irq %" PRIu64 " %.*s", number,
			 (int)(len < 40 ? len : 40), name);
}

static void see_begin(struct part *part, const struct type *type, const struct event *event)
{
	struct start *start = u64_map_get(&part->starts, start_key(type, event));

	if (start)
		*start = (struct start){ event->ts, true };
	if (type->kind == TIMELINE_IRQ)
		learn_handler(part, type, event);
}

static void see_end(struct part *part, const struct type *type, const struct event *event)
{
	struct start *start = u64_map_find(&part->starts, start_key(type, event));
	const struct stem *stem = &part->stems[type->pair];

	if (!start || !start->known)
		return;
	start->known = false;
	if (event->ts >= start->ts)
		give(part->timeline, &(struct timeline_slice){ .kind = type->kind,
							       .start = start->ts,
							       .to = event->ts,
							       .buffer = part->buffer,
							       .cpu = event->cpu,
							       .event = event,
							       .number = place_s64(&type->places[NUMBER], event),
							       .stem = stem->text,
							       .stem_len = stem->len });
}

static void see_exit(struct part *part, const struct type *type, const struct event *event)
{
	uint64_t start;

	if (open_calls_exit(&part->calls, &type->call, event, &start))
		give(part->timeline, &(struct timeline_slice){ .kind = TIMELINE_CALL,
							       .start = start,
							       .to = event->ts,
							       .buffer = part->buffer,
							       .pid = event->pid,
							       .event = event,
							       .number = place_s64(&type->places[NUMBER], event) });
}

static void see_counter(const struct part *part, const struct type *type, const struct event *event)
{
	const struct place *places = type->places;
	uint64_t owner = place_u64(&places[NUMBER], event);

	give(part->timeline,
	     &(struct timeline_slice){ .kind = TIMELINE_COUNTER,
				       .start = event->ts,
				       .to = event->ts,
				       .buffer = part->buffer,
				       .cpu = (uint32_t)owner,
				       .event = event,
				       .number = place_s64(&places[VALUE], event),
				       .counter = type->counter,
				       .owner = owner,
				       .part = places[MORE].size ? place_u64(&places[MORE], event) : 0 });
}

static void see_loss(struct part *part, const struct event *event)
{
	struct start *start;
	uint64_t key;

	for (size_t at = 0; (start = u64_map_next(&part->starts, &at, &key));)
		if (key >> 16 == event->cpu)
			start->known = false;
	give(part->timeline, &(struct timeline_slice){ .kind = TIMELINE_LOSS,
						       .start = event->ts,
						       .to = event->ts,
						       .buffer = part->buffer,
						       .cpu = event->cpu,
						       .event = event });
}

static enum timeline_part what_of(const struct type *type, enum deed role)
{
	switch (role) {
	case DOES_SWITCH:
		return TIMELINE_A_SWITCH;
	case DOES_BEGIN:
	case DOES_END:
		return type->kind == TIMELINE_VECTOR ? TIMELINE_A_VECTOR : TIMELINE_AN_END;
	case DOES_ENTER:
	case DOES_EXIT:
		return TIMELINE_AN_END;
	case DOES_UNKNOWN:
	case DOES_NOTHING:
	case DOES_COUNTER:
		break;
	}
	return TIMELINE_NO_PART;
}

static void see_record(struct part *part, const struct type *type, enum deed role, const struct event *event)
{
	switch (role) {
	case DOES_ENTER:
		open_calls_enter(&part->calls, &type->call, event);
		break;
	case DOES_EXIT:
		see_exit(part, type, event);
		break;
	case DOES_BEGIN:
		see_begin(part, type, event);
		break;
	case DOES_END:
		see_end(part, type, event);
		break;
	case DOES_COUNTER:
		see_counter(part, type, event);
		break;
	case DOES_UNKNOWN:
	case DOES_NOTHING:
	case DOES_SWITCH:
		break;
	}
}

enum timeline_part timeline_see(struct timeline *timeline, const struct event *event)
{
	struct part *part = timeline->parts[event->buffer];
	const struct timeline_calls *calls = &timeline->calls;
	const struct type *type;
	enum timeline_part what;
	uint8_t *role;

	if (timeline->state == &timeline->own)
		state_see(&timeline->own, event);
	if (calls->wanted & (1 << TIMELINE_RUN | 1 << TIMELINE_STATE))
		turns_see(&timeline->turns, event);
	if (frames_see(part->frames, event))
		return TIMELINE_A_FUNCTION;
	if (event->kind == EVENT_LOST) {
		see_loss(part, event);
		return TIMELINE_NO_PART;
	}
	role = &part->roles[event->type->index];
	if (*role == DOES_UNKNOWN)
		*role = (uint8_t)timeline_bind(part, event->type);
	type = *role > DOES_SWITCH ? u64_map_find(&part->types, event->type->index) : NULL;
	what = what_of(type, (enum deed) * role);
	if (calls->event)
		calls->event(calls->arg, event, what);
	if (type)
		see_record(part, type, (enum deed) * role, event);
	return what;
}

void timeline_end(struct timeline *timeline, uint64_t ts)
{
	for (size_t i = 0; i < timeline->nr_parts; i++)
		if (timeline->parts[i])
			frames_end(timeline->parts[i]->frames, (uint16_t)i, ts);
	if (timeline->calls.wanted & (1 << TIMELINE_RUN | 1 << TIMELINE_STATE))
		turns_end(&timeline->turns);
}

bool timeline_in_call(const struct timeline *timeline, uint16_t buffer, int32_t pid)
{
	return open_calls_lasts(&timeline->parts[buffer]->calls, pid);
}

const struct state *timeline_state(const struct timeline *timeline)
{
	return timeline->state;
}

void timeline_count(const struct timeline *timeline, struct frames_left *sum)
{
	for (size_t i = 0; i < timeline->nr_parts; i++)
		if (timeline->parts[i])
			frames_count(timeline->parts[i]->frames, sum);
}

bool timeline_starved(const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->nr_parts; i++) {
		const struct part *part = timeline->parts[i];

		if (part && (part->starved || part->types.starved || part->starts.starved || part->handlers.starved ||
			     part->calls.calls.starved || frames_starved(part->frames)))
			return true;
	}
	return timeline->own.failed || timeline->turns.failed;
}
