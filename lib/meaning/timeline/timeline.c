// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/near.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/softirqs.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/timeline/timeline_internal.h"
#include "lib/meaning/uapi/names.h"

/* Which events the slices are made of. */

/* The pairs of events that are slices of a CPU, by their stem. A NULL name stands for any. */
static const struct {
	const char *system, *name, *number, *more;
	enum timeline_kind kind;
} slices[] = {
	{ "irq", "irq_handler", "irq", "name", TIMELINE_IRQ },
	{ "irq", "softirq", "vec", NULL, TIMELINE_SOFTIRQ },
	{ "irq", "tasklet", NULL, NULL, TIMELINE_TASKLET },
	{ "irq_vectors", NULL, NULL, NULL, TIMELINE_VECTOR },
};

const struct timeline_counted timeline_counters[TIMELINE_COUNTERS] = {
	[TIMELINE_FREQUENCY] = { "power", "cpu_frequency", "cpu_id", NULL, "state" },
	[TIMELINE_IDLE] = { "power", "cpu_idle", "cpu_id", NULL, "state" },
	[TIMELINE_MEMORY] = { "kmem", "rss_stat", "mm_id", "member", "size" },
};

/* Pairs that are slices of a kind of their own, or none: a wakeup ends with a switch, a run begins with one. */
static bool is_other_pair(const struct pair_end *pair)
{
	static const char *const kinds[] = { "block", "lock", "timer", "hrtimer" };

	for (size_t i = 0; pair->kind->name && i < array_size(kinds); i++)
		if (!strcmp(pair->kind->name, kinds[i]))
			return true;
	return !pair->kind->name;
}

static void bind_pair(struct part *part, const struct event_type *event_type, struct type *type)
{
	const char *system = event_type->format->system;
	struct pair_end pair;

	if (!pairs_bind(&part->pairs, event_type, &pair))
		return;
	if (is_other_pair(&pair)) {
		type->kind = TIMELINE_PAIR;
		type->role = pair.begins ? DOES_BEGIN : DOES_END;
		type->pair = pair;
	}
	for (size_t i = 0; pair.on_cpu && i < array_size(slices); i++) {
		const char *name = slices[i].name;

		if (strcmp(slices[i].system, system) ||
		    (name && (strlen(name) != pair.stem_len || memcmp(name, pair.stem, pair.stem_len))))
			continue;
		if (slices[i].number)
			(void)place_find(&type->places[NUMBER], event_type, slices[i].number);
		if (slices[i].more)
			(void)place_find(&type->places[MORE], event_type, slices[i].more);
		type->kind = slices[i].kind;
		type->role = pair.begins ? DOES_BEGIN : DOES_END;
		type->pair = pair;
		return;
	}
}

static void bind_counter(const struct event_type *event_type, struct type *type)
{
	const struct format *format = event_type->format;

	for (unsigned i = 0; i < TIMELINE_COUNTERS; i++) {
		if (strcmp(timeline_counters[i].name, format->name) ||
		    strcmp(timeline_counters[i].system, format->system))
			continue;
		type->counter = (enum timeline_counter)i;
		if (place_find(&type->places[NUMBER], event_type, timeline_counters[i].owner) &&
		    place_find(&type->places[VALUE], event_type, timeline_counters[i].value) &&
		    (!timeline_counters[i].part ||
		     place_find(&type->places[MORE], event_type, timeline_counters[i].part)))
			type->role = DOES_COUNTER;
	}
}

static void bind_call(const struct part *part, const struct event_type *event_type, struct type *type)
{
	const struct format *format = event_type->format;
	bool raw = !strcmp(format->system, "raw_syscalls");

	if (!raw && strcmp(format->system, "syscalls"))
		return;
	if (raw ? !strcmp(format->name, "sys_enter") : !strncmp(format->name, "sys_enter_", 10))
		type->role = DOES_ENTER;
	else if (raw ? !strcmp(format->name, "sys_exit") : !strncmp(format->name, "sys_exit_", 9))
		type->role = DOES_EXIT;
	if (type->role == DOES_NOTHING)
		return;
	if (raw)
		(void)place_find(&type->places[NUMBER], event_type, "id");
	open_calls_bind(&part->calls, format, &type->call);
}

/* A consumer that sees the events learns what they are, also if it does not want their slices. */
static bool is_of_use(const struct timeline *timeline, const struct type *type)
{
	bool calls = type->role == DOES_ENTER || type->role == DOES_EXIT;

	if (type->role == DOES_MARK)
		return timeline->calls.event || is_wanted(timeline, TIMELINE_MARK) ||
		       is_wanted(timeline, TIMELINE_ASYNC) || is_wanted(timeline, TIMELINE_INSTANT) ||
		       is_wanted(timeline, TIMELINE_COUNTER);
	return timeline->calls.event || is_wanted(timeline, calls                      ? TIMELINE_CALL :
							    type->role == DOES_COUNTER ? TIMELINE_COUNTER :
											 type->kind);
}

/* Whether "EVENT:FIELD" or "SYSTEM:EVENT:FIELD" names a field of this type, which is a number. */
static bool is_field(const char *text, const struct format *format, const struct schema_abi *abi, struct place *ret)
{
	const char *name = strrchr(text, ':'), *event = memchr(text, ':', (size_t)(name - text));
	size_t system = event ? (size_t)(event - text) : 0, len;

	event = event ? event + 1 : text;
	len = (size_t)(name - event);
	return strlen(format->name) == len && !memcmp(format->name, event, len) &&
	       (!system || (strlen(format->system) == system && !memcmp(format->system, text, system))) &&
	       place_bind(ret, format, abi, name + 1) && ret->size;
}

bool timeline_field_known(const struct context *context, const char *field)
{
	const char *system, *event;
	struct place place;
	int32_t id;

	for (size_t i = 0; strchr(field, ':') && schema_at(context->schema, i, &id, &system, &event); i++) {
		const struct format *format = strstr(field, event) ? schema_format(context->schema, id, NULL) : NULL;

		if (format && is_field(field, format, &context->abi, &place))
			return true;
	}
	return false;
}

void timeline_fields_offer(const struct context *context, struct near *near)
{
	const char *colon = strchr(near->word, ':'), *system, *event;
	bool whole = colon && strchr(colon + 1, ':');
	int32_t id;

	for (size_t i = 0; schema_at(context->schema, i, &id, &system, &event); i++) {
		const struct format *format = schema_format(context->schema, id, NULL);

		for (uint32_t k = 0; format && k < format->nr_fields; k++) {
			char name[NEAR_NAME_SIZE];
			struct place place;

			if (!place_bind(&place, format, &context->abi, format->fields[k].name) || !place.size)
				continue;
			snprintf(name, sizeof(name), "%s%s%s:%s", whole ? system : "", whole ? ":" : "", event,
				 format->fields[k].name);
			near_offer(near, name);
		}
	}
}

void timeline_count_fields(struct timeline *timeline, const char *const *fields, size_t nr)
{
	timeline->fields = fields;
	timeline->nr_fields = nr;
}

static void bind_fields(struct part *part, const struct event_type *event_type)
{
	const struct timeline *timeline = part->timeline;

	for (size_t i = 0; i < timeline->nr_fields; i++) {
		struct counted_field *field;
		struct place place;

		if (!strchr(timeline->fields[i], ':') ||
		    !is_field(timeline->fields[i], event_type->format, &event_type->context->abi, &place))
			continue;
		field = vec_push(part->fields, part->nr_fields);
		if (field)
			*field = (struct counted_field){ event_type->index, place, timeline->fields[i] };
		else
			part->marks.starved = true;
	}
}

static bool add_type(struct part *part, uint16_t index, const struct type *found)
{
	struct type *type = malloc(sizeof(*type));

	while (type && part->nr_types <= index)
		if (!vec_push(part->types, part->nr_types)) {
			free(type);
			type = NULL;
		}
	part->starved |= !type;
	if (!type)
		return false;
	*type = *found;
	part->types[index] = type;
	return true;
}

static enum timeline_part what_of(const struct type *type)
{
	switch (type->role) {
	case DOES_BEGIN:
	case DOES_END:
		return type->kind == TIMELINE_VECTOR ? TIMELINE_A_VECTOR :
		       type->kind == TIMELINE_PAIR   ? TIMELINE_NO_PART :
						       TIMELINE_AN_END;
	case DOES_ENTER:
	case DOES_EXIT:
		return TIMELINE_AN_END;
	case DOES_MARK:
	case DOES_UNKNOWN:
	case DOES_NOTHING:
	case DOES_SWITCH:
	case DOES_COUNTER:
		break;
	}
	return TIMELINE_NO_PART;
}

enum deed timeline_bind(struct part *part, const struct event_type *event_type)
{
	const struct format *format = event_type->format;
	struct type found = { .role = DOES_NOTHING };

	if (!format)
		return DOES_NOTHING;
	bind_fields(part, event_type);
	if (!strcmp(format->system, "sched") && !strcmp(format->name, "sched_switch"))
		return DOES_SWITCH;
	bind_call(part, event_type, &found);
	if (found.role == DOES_NOTHING && mark_source_find(&found.mark, event_type))
		found.role = DOES_MARK;
	if (found.role == DOES_NOTHING)
		bind_pair(part, event_type, &found);
	if (found.role == DOES_NOTHING)
		bind_counter(event_type, &found);
	if (found.role == DOES_NOTHING || !is_of_use(part->timeline, &found))
		return DOES_NOTHING;
	found.what = what_of(&found);
	return add_type(part, event_type->index, &found) ? found.role : DOES_NOTHING;
}

/* The names of slices. */

static const char *function_name(const struct part *part, uint64_t func, char text[TIMELINE_NAME], size_t *ret_len)
{
	struct symbol symbol;

	if (symbols_find(part->context->symbols, func, &symbol)) {
		*ret_len = symbol.name_len;
		return symbol.name;
	}
	*ret_len = (size_t)snprintf(text, TIMELINE_NAME, "0x%" PRIx64, func);
	return text;
}

static const char *softirq_text(int64_t number, char text[TIMELINE_NAME])
{
	const char *name = softirq_name((uint64_t)number);

	if (name)
		snprintf(text, TIMELINE_NAME, "softirq %s", name);
	else
		snprintf(text, TIMELINE_NAME, "softirq %" PRIu64, (uint64_t)number);
	return text;
}

static const char *handler_text(const struct part *part, int64_t number, char text[TIMELINE_NAME])
{
	const struct handler *handler = u64_map_find(&part->handlers, (uint64_t)number);

	if (handler)
		return handler->text;
	snprintf(text, TIMELINE_NAME, "irq %" PRIu64, (uint64_t)number);
	return text;
}

const char *timeline_name(const struct timeline *timeline, const struct timeline_slice *slice, char text[TIMELINE_NAME],
			  size_t *ret_len)
{
	const struct part *part = timeline->parts[slice->buffer];
	struct task_name task;
	const char *name = "";

	switch (slice->kind) {
	case TIMELINE_RUN:
	case TIMELINE_STATE:
		task = context_comm(part->context, slice->pid, slice->start);
		*ret_len = task.len;
		return task.text;
	case TIMELINE_CALL:
		name = call_name(part->context, slice->number, slice->event, text);
		break;
	case TIMELINE_IRQ:
		name = handler_text(part, slice->number, text);
		break;
	case TIMELINE_SOFTIRQ:
		name = softirq_text(slice->number, text);
		break;
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
	case TIMELINE_MARK:
	case TIMELINE_ASYNC:
	case TIMELINE_INSTANT:
	case TIMELINE_PAIR:
		*ret_len = slice->stem_len;
		return slice->stem;
	case TIMELINE_FUNCTION:
		return function_name(part, slice->track->frames[slice->track->nr_frames - 1].func, text, ret_len);
	case TIMELINE_COUNTER:
		if (slice->counter == TIMELINE_MARKED) {
			*ret_len = slice->stem_len;
			return slice->stem;
		}
		name = timeline_counters[slice->counter].name;
		break;
	case TIMELINE_LOSS:
		name = "lost events";
		break;
	}
	*ret_len = strlen(name);
	return name;
}

bool timeline_chooses(const struct timeline *timeline, uint16_t buffer, int32_t pid, uint64_t from, uint64_t to)
{
	struct selection *chosen = timeline->parts[buffer]->chosen;

	return !chosen || selection_part(chosen, pid, &from, &to);
}

/* Functions are those of events that are chosen. */
static bool is_chosen(const struct timeline *timeline, const struct timeline_slice *slice)
{
	switch (slice->kind) {
	case TIMELINE_CALL:
	case TIMELINE_MARK:
	case TIMELINE_ASYNC:
		return timeline_chooses(timeline, slice->buffer, slice->pid, slice->start, slice->to);
	case TIMELINE_PAIR:
		if (slice->of_task)
			return timeline_chooses(timeline, slice->buffer, slice->pid, slice->start, slice->to);
		return !timeline->passes ||
		       (!slice->on_cpu &&
			timeline_chooses(timeline, slice->buffer, slice->begun_by, slice->start, slice->start));
	case TIMELINE_IRQ:
	case TIMELINE_SOFTIRQ:
	case TIMELINE_TASKLET:
	case TIMELINE_VECTOR:
	case TIMELINE_COUNTER:
	case TIMELINE_INSTANT:
		return !timeline->passes;
	case TIMELINE_RUN:
	case TIMELINE_STATE:
	case TIMELINE_FUNCTION:
	case TIMELINE_LOSS:
		break;
	}
	return true;
}

static void give(const struct timeline *timeline, const struct timeline_slice *slice)
{
	if (is_wanted(timeline, slice->kind) &&
	    (__builtin_expect(!timeline->parts[slice->buffer]->chosen, 1) || is_chosen(timeline, slice)))
		timeline->calls.slice(timeline->calls.arg, slice);
}

/* Gives those parts of a run or a state in which its task is chosen. */
static void give_parts(const struct timeline *timeline, struct timeline_slice *slice)
{
	struct selection *chosen = timeline->parts[slice->buffer]->chosen;
	enum runs_end end = slice->end;
	uint64_t to = slice->to, at = slice->start;

	slice->cut = false;
	if (__builtin_expect(!chosen, 1) || (timeline->calls.all_runs && slice->kind == TIMELINE_RUN)) {
		give(timeline, slice);
		return;
	}
	for (; at < to; at = slice->to) {
		slice->start = at;
		slice->to = to;
		if (!selection_part(chosen, slice->pid, &slice->start, &slice->to))
			break;
		slice->cut = slice->to < to;
		slice->end = slice->cut ? RUNS_KNOWN : end;
		give(timeline, slice);
	}
}

static uint32_t begin_run(void *arg, uint32_t task)
{
	const struct timeline *timeline = arg;
	const struct state *state = timeline->state;

	if (!timeline_chooses(timeline, timeline->first_buffer, state->tasks[task].pid, state->now, state->now))
		return TIMELINE_NO_NOTE;
	return timeline->calls.begin ? timeline->calls.begin(timeline->calls.arg, task) : 0;
}

/*
 * The slice that the last one of its kind was. A kind sets the same members of each, so that the others are zero: they
 * are many, and to clear them takes longer than to set the rest.
 */
static struct timeline_slice *slice_of(struct timeline *timeline, enum timeline_kind kind, uint16_t buffer)
{
	struct timeline_slice *slice = &timeline->slices[kind];

	slice->kind = kind;
	slice->buffer = buffer;
	return slice;
}

static void give_run(void *arg, uint32_t cpu, const struct runs_turn *turn, uint64_t to, enum runs_end end)
{
	struct timeline *timeline = arg;
	struct timeline_slice *slice = slice_of(timeline, TIMELINE_RUN, timeline->first_buffer);

	slice->end = end;
	slice->start = turn->since;
	slice->to = to;
	slice->cpu = cpu;
	slice->pid = timeline->state->tasks[turn->task].pid;
	slice->task = turn->task;
	slice->note = turn->note;
	give_parts(timeline, slice);
}

static void give_state(void *arg, const struct runs_mode *mode, uint64_t to, enum runs_end end)
{
	struct timeline *timeline = arg;
	struct timeline_slice *slice = slice_of(timeline, TIMELINE_STATE, timeline->first_buffer);

	slice->end = end;
	slice->start = mode->since;
	slice->to = to;
	slice->pid = timeline->state->tasks[mode->task].pid;
	slice->task = mode->task;
	slice->mode = mode;
	give_parts(timeline, slice);
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
	struct timeline_slice *slice = slice_of(part->timeline, TIMELINE_FUNCTION, part->buffer);

	(void)buffer;
	slice->end = exited ? RUNS_KNOWN : RUNS_LOST;
	slice->start = track->frames[track->nr_frames - 1].start;
	slice->to = ts;
	slice->cpu = track->cpu;
	slice->pid = track->pid;
	slice->track = track;
	slice->lasted = lasted;
	slice->exited = exited;
	give(part->timeline, slice);
}

/* Marks. */

/* The process: as the kernel knows it, else as the mark says. */
static uint64_t process_of(const struct part *part, int32_t pid, int32_t tgid)
{
	int32_t known = task_tgid(part->context->tasks, pid);

	return (uint32_t)(known ? known : tgid ? tgid : pid);
}

/* A number for a text, which is the same for the same text. */
static uint64_t track_number(struct timeline *timeline, const char *text, size_t len)
{
	bool is_new;

	return labels_add(&timeline->tracks, text, len, &is_new);
}

static void end_mark(void *arg, const struct marks_span *span)
{
	const struct part *part = arg;
	struct timeline_slice slice = { .kind = span->async ? TIMELINE_ASYNC : TIMELINE_MARK,
					.end = (enum runs_end)span->end,
					.start = span->start,
					.to = span->to,
					.buffer = part->buffer,
					.cpu = span->cpu,
					.pid = span->pid,
					.number = span->cookie,
					.stem = span->name,
					.stem_len = span->name_len,
					.depth = span->depth,
					.of_track = span->track,
					.of_track_len = span->track_len,
					.owner = process_of(part, span->pid, span->tgid) };

	if (span->async)
		slice.part = track_number(part->timeline, span->track ? span->track : span->name,
					  span->track ? span->track_len : span->name_len);
	give(part->timeline, &slice);
}

static uint64_t unknown_of(const void *arg, int32_t pid, const struct event *event)
{
	const struct part *part = arg;

	return state_unknown(part->timeline->state, pid, event);
}

_Static_assert((int)RUNS_LOST == (int)MARKS_LOST && (int)RUNS_OPEN == (int)MARKS_OPEN, "ends have the same numbers");

static void see_mark(struct part *part, const struct event *event)
{
	struct timeline *timeline = part->timeline;
	const struct mark *mark = &timeline->mark;
	struct timeline_slice slice = { .kind = TIMELINE_INSTANT,
					.start = event->ts,
					.to = event->ts,
					.buffer = part->buffer,
					.cpu = event->cpu,
					.pid = event->pid,
					.event = event,
					.number = mark->number,
					.stem = mark->name,
					.stem_len = mark->name_len,
					.of_track = mark->track,
					.of_track_len = mark->track_len };

	if (mark->kind != MARK_COUNTER && mark->kind != MARK_INSTANT) {
		marks_see(&part->marks, mark, event);
		return;
	}
	slice.owner = process_of(part, event->pid, mark->tgid);
	if (mark->kind == MARK_COUNTER) {
		slice.kind = TIMELINE_COUNTER;
		slice.counter = TIMELINE_MARKED;
	}
	slice.part = track_number(timeline, mark->track ? mark->track : mark->name,
				  mark->track ? mark->track_len : mark->name_len);
	give(timeline, &slice);
}

struct timeline *timeline_new(const struct timeline_calls *calls, bool preempt_rt)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline || !out_init(&timeline->scratch, 1024)) {
		free(timeline);
		return NULL;
	}
	labels_init(&timeline->tracks);
	timeline->calls = *calls;
	state_init(&timeline->own, preempt_rt);
	timeline->own.no_causes = calls->no_causes;
	timeline->state = &timeline->own;
	timeline->runs = (struct runs){ .state = timeline->state,
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
	for (size_t i = 0; i < part->nr_types; i++)
		free(part->types[i]);
	free(part->types);
	pairs_release(&part->pairs);
	marks_release(&part->marks);
	free(part->fields);
	u64_map_release(&part->handlers);
	free(part);
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->nr_parts; i++)
		part_free(timeline->parts[i]);
	free(timeline->parts);
	out_release(&timeline->scratch);
	labels_release(&timeline->tracks);
	runs_release(&timeline->runs);
	state_release(&timeline->own);
	free(timeline);
}

void timeline_choose(struct timeline *timeline, uint16_t buffer, struct selection *chosen)
{
	timeline->parts[buffer]->chosen = chosen;
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
	pairs_init(&part->pairs);
	marks_init(&part->marks, &(struct marks_calls){ .arg = part, .end = end_mark, .unknown = unknown_of });
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
	timeline->runs.state = state;
	for (size_t i = 0; i < timeline->nr_parts; i++)
		if (timeline->parts[i])
			timeline->parts[i]->calls.state = state;
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
	pairs_begin(&part->pairs, &type->pair, event);
	if (type->kind == TIMELINE_IRQ)
		learn_handler(part, type, event);
}

static void see_end(struct part *part, const struct type *type, const struct event *event)
{
	struct timeline_slice *slice = slice_of(part->timeline, type->kind, part->buffer);

	if (!pairs_end(&part->pairs, &type->pair, event, &slice->start, &slice->begun_by) || event->ts < slice->start)
		return;
	slice->to = event->ts;
	slice->cpu = event->cpu;
	slice->pid = type->kind == TIMELINE_PAIR ? event->pid : 0;
	slice->event = event;
	slice->number = place_s64(&type->places[NUMBER], event);
	slice->stem = type->pair.stem;
	slice->stem_len = type->pair.stem_len;
	slice->system = event->type->format->system;
	slice->of_task = type->pair.of_task;
	slice->on_cpu = type->pair.on_cpu;
	give(part->timeline, slice);
}

static void see_exit(struct part *part, const struct type *type, const struct event *event)
{
	struct timeline_slice *slice = slice_of(part->timeline, TIMELINE_CALL, part->buffer);

	if (!open_calls_exit(&part->calls, &type->call, event, &slice->start, &slice->number))
		return;
	slice->to = event->ts;
	slice->pid = event->pid;
	slice->event = event;
	give(part->timeline, slice);
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

static void lose_marks(const struct timeline *timeline, struct marks *marks, const struct event *gap)
{
	const struct gaps *gaps = &timeline->state->gaps;

	marks_lose(marks, gaps->nr ? gaps->items[gaps->nr - 1].from : gap->ts);
}

static void see_loss(struct part *part, const struct event *event)
{
	pairs_lose(&part->pairs, event);
	lose_marks(part->timeline, &part->marks, event);
	give(part->timeline, &(struct timeline_slice){ .kind = TIMELINE_LOSS,
						       .start = event->ts,
						       .to = event->ts,
						       .buffer = part->buffer,
						       .cpu = event->cpu,
						       .event = event });
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
	case DOES_MARK:
	case DOES_UNKNOWN:
	case DOES_NOTHING:
	case DOES_SWITCH:
		break;
	}
}

static void see_fields(struct part *part, const struct event *event)
{
	for (size_t i = 0; i < part->nr_fields; i++) {
		const struct counted_field *field = &part->fields[i];

		if (field->type != event->type->index)
			continue;
		give(part->timeline, &(struct timeline_slice){
					     .kind = TIMELINE_COUNTER,
					     .start = event->ts,
					     .to = event->ts,
					     .buffer = part->buffer,
					     .cpu = event->cpu,
					     .event = event,
					     .number = place_s64(&field->place, event),
					     .stem = field->name,
					     .stem_len = strlen(field->name),
					     .counter = TIMELINE_MARKED,
					     .part = track_number(part->timeline, field->name, strlen(field->name)) });
	}
}

/* The PID of a new task may have been that of another one. */
static void renew_marks(struct timeline *timeline, const struct event *event)
{
	const struct state_task *task = &timeline->state->tasks[timeline->state->step.task];

	for (size_t i = 0; i < timeline->nr_parts; i++)
		if (timeline->parts[i])
			marks_renew(&timeline->parts[i]->marks, task->pid, event->ts);
}

/* What a type is that is not of the function graph, whose types have no deed: all their events are for the frames. */
static enum timeline_part see_deed(struct part *part, enum deed deed, const struct event *event)
{
	struct timeline *timeline = part->timeline;
	const struct timeline_calls *calls = &timeline->calls;
	const struct type *type = deed > DOES_SWITCH ? part->types[event->type->index] : NULL;
	enum timeline_part what = type ? type->what : deed == DOES_SWITCH ? TIMELINE_A_SWITCH : TIMELINE_NO_PART;

	if (deed == DOES_MARK && mark_source_read(&type->mark, event, &timeline->scratch, &timeline->mark))
		what = TIMELINE_A_MARK;
	if (calls->event && !timeline->passes)
		calls->event(calls->arg, event, what);
	if (what == TIMELINE_A_MARK)
		see_mark(part, event);
	else if (type)
		see_record(part, type, deed, event);
	if (__builtin_expect(part->nr_fields != 0 && !timeline->passes, 0))
		see_fields(part, event);
	return what;
}

/* A loss, a record of the function graph, or the first event of another type. */
static enum timeline_part see_other(struct part *part, const struct event *event)
{
	bool passes = part->timeline->passes && event->kind != EVENT_LOST;
	enum deed deed;

	/* What one task calls is told by its own events. */
	if (passes ? graph_event_of(event->type->format) != GRAPH_EVENT_NONE : frames_see(part->frames, event))
		return TIMELINE_A_FUNCTION;
	if (event->kind == EVENT_LOST) {
		see_loss(part, event);
		return TIMELINE_NO_PART;
	}
	deed = timeline_bind(part, event->type);
	part->roles[event->type->index] = (uint8_t)deed;
	return see_deed(part, deed, event);
}

enum timeline_part timeline_see(struct timeline *timeline, const struct event *event)
{
	struct part *part = timeline->parts[event->buffer];
	enum deed deed;
	struct event gap;
	bool lost;

	lost = state_rest(timeline->state, event, &gap);
	if (lost && timeline->state == &timeline->own)
		state_see(&timeline->own, &gap);
	if (timeline->state == &timeline->own)
		state_see(&timeline->own, event);
	if (lost)
		lose_marks(timeline, &part->marks, &gap);
	if (timeline->calls.wanted & (1 << TIMELINE_RUN | 1 << TIMELINE_STATE))
		runs_see(&timeline->runs, event);
	if (__builtin_expect(timeline->state->step.kind == STEP_FORK, 0))
		renew_marks(timeline, event);
	deed = event->kind == EVENT_LOST ? DOES_UNKNOWN : (enum deed)part->roles[event->type->index];
	return deed == DOES_UNKNOWN ? see_other(part, event) : see_deed(part, deed, event);
}

enum timeline_part timeline_pass(struct timeline *timeline, const struct event *event)
{
	enum timeline_part part;

	timeline->passes = true;
	part = timeline_see(timeline, event);
	timeline->passes = false;
	return part;
}

void timeline_end(struct timeline *timeline, uint64_t ts)
{
	for (size_t i = 0; i < timeline->nr_parts; i++)
		if (timeline->parts[i]) {
			frames_end(timeline->parts[i]->frames, (uint16_t)i, ts);
			marks_end(&timeline->parts[i]->marks, ts);
		}
	if (timeline->calls.wanted & (1 << TIMELINE_RUN | 1 << TIMELINE_STATE))
		runs_end(&timeline->runs);
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

void timeline_count_marks(const struct timeline *timeline, uint64_t *ret_unbegun, uint64_t *ret_dropped)
{
	*ret_unbegun = *ret_dropped = 0;
	for (size_t i = 0; i < timeline->nr_parts; i++) {
		if (!timeline->parts[i])
			continue;
		*ret_unbegun += timeline->parts[i]->marks.unbegun;
		*ret_dropped += timeline->parts[i]->marks.dropped;
	}
}

bool timeline_starved(const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->nr_parts; i++) {
		const struct part *part = timeline->parts[i];

		if (part && (pairs_starved(&part->pairs) || part->starved || part->handlers.starved ||
			     part->calls.calls.starved || frames_starved(part->frames) || marks_starved(&part->marks)))
			return true;
	}
	return timeline->own.failed || timeline->runs.failed || timeline->scratch.failed ||
	       timeline->tracks.places.starved;
}

const char *call_name(const struct context *context, int64_t number, const struct event *event, char text[CALL_NAME])
{
	const char *name = event->type->format->name;

	if (!strncmp(name, "sys_exit_", 9))
		return name + 9;
	name = system_call_name(context->machine, number);
	if (name)
		return name;
	snprintf(text, CALL_NAME, "sys_%" PRId64, number);
	return text;
}
