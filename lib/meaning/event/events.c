// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/events.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/apart.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/release.h"
#include "lib/pages/stream/file_source.h"
#include "lib/pages/stream/merge.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/trace.h"

/* Shared by events.c and events_enter.c. */
struct events {
	const struct context *context;
	struct merge *merge;
	struct events_options options;
	struct event_type **types; /* by id; NULL until the type occurs */
	int32_t *seen;             /* ids in the order in which they occurred */
	size_t nr_seen;
	bool swap;
	bool scale; /* time stamps are TSC ticks with a known rate */
	bool plain; /* records can be taken as they are (take_plain()) */
	uint32_t mult, shift;
	int64_t ts_offset; /* added to each time stamp */
	uint64_t last;     /* later events are not handed out now: options.until, or earlier (events_pause()) */
	uint64_t count;
	uint64_t before;    /* count when reading began, or began again: older events than the window's are passed */
	bool hidden;        /* the event handed out last is no longer at the top of the merge */
	struct fail damage; /* the first damage */
	struct fail broken; /* the last damage */
	/* events_options::tells_ends: the CPUs that have ended early. Of these the first `told` were handed out. */
	struct cpu_end {
		uint64_t ts; /* of its last event; 0: it had none, or an earlier one than the window's */
		uint16_t cpu, cpu_index;
	} * ends;
	size_t nr_ends, told;
	bool untold; /* there are others, or nobody has looked */
	bool looked; /* for those that end before their first event */
};

static inline uint64_t events_time(const struct events *events, uint64_t raw)
{
	if (events->scale)
		raw = scale_mul_shift(raw, events->mult, events->shift);
	return raw + (uint64_t)events->ts_offset;
}

/* Converts `ts` to a raw time that is not later. */
static uint64_t events_raw_time(const struct events *events, uint64_t ts)
{
	uint64_t raw = ts < (uint64_t)events->ts_offset && events->ts_offset > 0 ? 0 : ts - (uint64_t)events->ts_offset;

	if (!events->scale)
		return raw;
	if (!events->mult)
		return 0;
	return scale_shift_div(raw, events->shift, events->mult);
}

/* Enters the events of a file anywhere, for reading in slices of time. */
int events_enter(struct events *events, uint64_t ts, struct fail *fail)
{
	events->hidden = true;
	events->before = events->count;
	return merge_restart(events->merge, ts ? events_raw_time(events, ts) : 0, fail);
}

void events_only(struct events *events, int64_t cpu)
{
	merge_only(events->merge, cpu);
}

void events_pause(struct events *events, uint64_t last)
{
	events->last = last < events->options.until ? last : events->options.until;
	events->hidden = true;
}

int events_time_at(struct events *events, size_t cpu_index, uint64_t part, uint64_t parts, uint64_t *ret,
		   struct fail *fail)
{
	struct source *source = events->merge->source;
	uint64_t raw = 0;
	int r = source->ops->time_at(source, cpu_index, part, parts, &raw, fail);

	if (r > 0)
		*ret = events_time(events, raw);
	return r;
}

bool events_can_enter(const struct events *events)
{
	return events->merge->source->ops->restart && !events->options.pool;
}

size_t events_nr_places(const struct events *events)
{
	return events->merge->nr_cursors;
}

void events_places(const struct events *events, struct cursor_place *ret)
{
	for (size_t i = 0; i < events->merge->nr_cursors; i++)
		cursor_place(&events->merge->cursors[i], &ret[i]);
}

bool events_need_all(const struct events *events, uint64_t parts)
{
	const struct source *source = events->merge->source;

	return events_damage(events) || merge_has_remains(events->merge) || source->ops->is_much(source, parts);
}

/*
 * The common fields: their layout is the same in every kernel since 2.6.31 (include/linux/trace_events.h: struct
 * trace_entry).
 */
enum { COMMON_TYPE = 0, COMMON_FLAGS = 2, COMMON_PREEMPT_COUNT = 3, COMMON_PID = 4, COMMON_SIZE = 8 };

/* With keep_blocks: a batch ends when the blocks that no later event needs are larger than this. */
enum { BATCH_HELD = 512 << 10 };

static void events_damaged(struct events *events, const struct fail *fail)
{
	if (!events->damage.text[0])
		events->damage = *fail;
}

static void bind_program(struct schema *schema, struct event_type *type)
{
	const char *note;

	type->program = schema_program(schema, type->format, &note);
	if (type->program && program_shows_fields(type->program))
		type->why_fields = note;
}

static struct event_type *bind_type(struct events *events, uint16_t id, uint64_t since)
{
	struct event_type *type = calloc(1, sizeof(*type));
	struct schema *schema = events->context->schema;

	if (!type) {
		trace_lacks_memory(events->context->trace);
		return NULL;
	}
	type->id = id;
	type->since = since;
	type->context = events->context;
	type->format = schema_format(schema, id, NULL);
	if (!type->format && events->options.learn) {
		events->options.learn(events->options.learn_arg, id);
		type->format = schema_format(schema, id, NULL);
	}
	if (type->format && strcmp(type->format->system, "ftrace"))
		bind_program(schema, type);
	if (schema_starved(schema)) {
		trace_lacks_memory(events->context->trace);
		free(type);
		return NULL;
	}
	type->index = (uint16_t)events->nr_seen;
	events->types[id] = type;
	events->seen[events->nr_seen++] = id;
	return type;
}

static inline uint16_t record_id(const struct events *events, const struct record *record)
{
	return record->len >= 2 ? load_u16(record->data + COMMON_TYPE, events->swap) : 0;
}

/* Reads the common fields of a record in the other byte order, or of one that was cut. */
__attribute__((noinline)) static void common_read(const struct events *events, const struct record *record,
						  struct event *ret)
{
	ret->common = 0;
	ret->id = record_id(events, record);
	if (record->len < COMMON_SIZE)
		return;
	ret->flags = record->data[COMMON_FLAGS];
	ret->preempt_count = record->data[COMMON_PREEMPT_COUNT];
	ret->pid = (int32_t)load_u32(record->data + COMMON_PID, events->swap);
}

/* Reads the common fields; false without memory for a new type. */
static inline bool bind_record(struct events *events, const struct record *record, struct event *ret)
{
	if (__builtin_expect(record->len < COMMON_SIZE || events->swap, 0))
		common_read(events, record, ret);
	else
		ret->common = load_u64(record->data, false);
	ret->type = events->types[ret->id];
	if (__builtin_expect(!ret->type, 0))
		ret->type = bind_type(events, ret->id, record->ts);
	return ret->type;
}

static inline bool event_bind(struct events *events, const struct cursor *cursor, uint64_t ts, struct event *ret)
{
	const struct record *record = &cursor->head;

	ret->ts = ts;
	ret->data = record->data;
	ret->len = record->len;
	ret->more = record->more;
	ret->lost = 0;
	ret->cpu = cursor->cpu;
	ret->cpu_index = cursor->cpu_index;
	ret->kind = EVENT_RECORD;
	ret->first = cursor->first;
	return bind_record(events, record, ret);
}

static void event_gap(struct events *events, struct cursor *cursor, struct event *ret)
{
	*ret = (struct event){ .ts = events_time(events, cursor->head.ts),
			       .lost = cursor->lost,
			       .cpu = cursor->cpu,
			       .cpu_index = cursor->cpu_index,
			       .kind = EVENT_LOST,
			       .first = cursor->first };
	cursor->lost = 0;
}

static int add_end(struct events *events, const struct cursor *cursor, uint64_t ts)
{
	struct cpu_end *end;

	if (cursor->live || cursor->dry ||
	    (!cursor->broken && !trace_cpu_is_cut(events->context->trace, events->context->buffer, cursor->cpu_index)))
		return 0;
	end = vec_push(events->ends, events->nr_ends);
	if (!end)
		return -ENOMEM;
	*end = (struct cpu_end){ .ts = ts, .cpu = cursor->cpu, .cpu_index = cursor->cpu_index };
	events->untold = true;
	return 0;
}

/* A CPU has ended, with damage or without. */
__attribute__((noinline)) static void cpu_ended(struct events *events, int r, uint64_t ts)
{
	if (r < 0)
		events_damaged(events, &events->broken);
	if (events->options.tells_ends && add_end(events, merge_moved(events->merge), ts))
		trace_lacks_memory(events->context->trace);
}

/* `ts`: of the event from which the merge moves on. */
static inline void events_advance(struct events *events, uint64_t ts)
{
	/* Not on the stack: to clear it for every event would cost more than the event. */
	int r = merge_advance(events->merge, &events->broken);

	if (__builtin_expect(r <= 0, 0))
		cpu_ended(events, r, ts);
}

/*
 * Hands out the next CPU that has ended early. One without an event in the window ends with the first event of the
 * others.
 */
__attribute__((noinline)) static bool take_end(struct events *events, struct event *ret)
{
	const struct cursor *top = merge_top(events->merge);
	const struct cpu_end *end;
	uint64_t ts;

	for (size_t i = 0; !events->looked && i < events->merge->nr_cursors; i++)
		if (add_end(events, &events->merge->cursors[i], 0))
			trace_lacks_memory(events->context->trace);
	events->looked = true;
	events->untold = events->told < events->nr_ends;
	if (!events->untold)
		return false;
	end = &events->ends[events->told];
	ts = end->ts;
	if (!ts && top)
		ts = events_time(events, top->head.ts);
	if (!end->ts && (!top || ts > events->last || ts < events->options.since))
		return false;
	*ret = (struct event){ .ts = ts,
			       .lost = EVENT_LOST_REST,
			       .cpu = end->cpu,
			       .cpu_index = end->cpu_index,
			       .kind = EVENT_LOST,
			       .first = !end->ts };
	events->told++;
	events->untold = events->told < events->nr_ends;
	events->hidden = true;
	return true;
}

/* Frees blocks before the first wanted event: no consumer has an event of them. */
__attribute__((noinline)) static void events_pass(struct events *events, struct cursor *top)
{
	top->lost = 0;
	events_advance(events, 0);
	merge_release(events->merge, merge_retired(events->merge));
}

static inline void release_retired(struct events *events)
{
	if (!events->options.keep_blocks && events->merge->retired.first)
		merge_release(events->merge, merge_retired(events->merge));
}

/* Not inline: most records are taken by the shorter ways below. */
__attribute__((noinline)) static int take_next(struct events *events, struct event *ret, struct fail *fail)
{
	struct cursor *top;

	if (__builtin_expect(events->untold, 0) && take_end(events, ret))
		return 1;
	while ((top = merge_top(events->merge))) {
		uint64_t ts = events_time(events, top->head.ts);

		if (ts > events->last)
			break;
		if (__builtin_expect(ts < events->options.since, 0) && events->count == events->before) {
			events_pass(events, top);
			continue;
		}
		/* A CPU that ended on the way to the window. */
		if (__builtin_expect(events->untold, 0) && take_end(events, ret))
			return 1;
		if (__builtin_expect(top->lost != 0, 0)) {
			event_gap(events, top, ret);
			events->hidden = true;
			return 1;
		}
		if (__builtin_expect(!event_bind(events, top, ts, ret), 0))
			return fail_memory(fail);
		ret->type->seen++;
		events->count++;
		events_advance(events, ts);
		events->hidden = !top->live;
		if (__builtin_expect(events->options.see != NULL, 0))
			events->options.see(events->options.see_arg, ret);
		return 1;
	}
	events->hidden = true;
	return 0;
}

/* Returns whether nothing but records has to be looked at until a page ends. */
static inline bool runs_on(const struct events *events)
{
	const struct merge *merge = events->merge;

	return events->plain && merge->top_moved && merge->heap[0].cursor->live && !events->untold;
}

/*
 * Takes records of the CPU that is next as long as they follow each other plainly: on one page, of known types, before
 * the next record of another CPU and within the window. Returns their number. *ret_ended: the page has ended, and the
 * cursor stands on the last of them.
 */
static inline size_t take_run(struct events *events, struct cursor *top, struct event *ret, size_t max, bool *ret_ended)
{
	uint64_t offset = (uint64_t)events->ts_offset, last = events->last, before = events->merge->next_ts;
	uint64_t origin = event_origin(top->cpu, top->cpu_index, top->first);
	/* Copies: the compiler keeps their members in registers. */
	struct record head = top->head;
	struct page page = top->page;
	struct event_type *type;
	size_t nr = 0;

	do {
		if (head.ts + offset > last || head.len < COMMON_SIZE ||
		    !(type = events->types[load_u16(head.data + COMMON_TYPE, false)]))
			break;
		ret[nr].ts = head.ts + offset;
		ret[nr].data = head.data;
		ret[nr].type = type;
		ret[nr].lost = 0;
		ret[nr].common = load_u64(head.data, false);
		ret[nr].origin = origin;
		ret[nr].len = head.len;
		ret[nr].more = head.more;
		type->seen++;
		nr++;
		if (!page_next_plain(&page, &head)) {
			*ret_ended = true;
			break;
		}
	} while (nr < max && head.ts < before);
	top->page.ts = page.ts;
	top->page.next = page.next;
	top->head = head;
	return nr;
}

/* Takes records of all CPUs as take_run() does, until a page ends. Returns their number. Call it if runs_on(). */
static inline size_t take_runs(struct events *events, struct event *ret, size_t max)
{
	struct merge *merge = events->merge;
	bool ended = false;
	size_t nr = 0, run;

	while (nr < max && !ended) {
		struct cursor *top = merge->heap[0].cursor;

		if (top->head.ts >= merge->next_ts)
			top = merge_settle(merge);
		run = top->lost ? 0 : take_run(events, top, &ret[nr], max - nr, &ended);
		if (!run)
			break;
		merge->top_moved = true;
		nr += run;
	}
	events->count += nr;
	if (ended)
		events_advance(events, ret[nr - 1].ts);
	return nr;
}

/* Takes the next record if it follows plainly. Call it if runs_on(). */
static inline bool take_plain(struct events *events, struct event *ret)
{
	struct merge *merge = events->merge;
	struct cursor *top = merge->heap[0].cursor;
	struct event_type *type;

	if (top->head.ts >= merge->next_ts)
		top = merge_settle(merge);
	ret->ts = top->head.ts + (uint64_t)events->ts_offset;
	if (top->lost || ret->ts > events->last || top->head.len < COMMON_SIZE)
		return false;
	type = events->types[load_u16(top->head.data + COMMON_TYPE, false)];
	if (!type)
		return false;
	ret->data = top->head.data;
	ret->type = type;
	ret->lost = 0;
	ret->common = load_u64(top->head.data, false);
	ret->origin = event_origin(top->cpu, top->cpu_index, top->first);
	ret->len = top->head.len;
	ret->more = top->head.more;
	type->seen++;
	events->count++;
	merge->top_moved = true;
	if (__builtin_expect(!page_next_plain(&top->page, &top->head), 0))
		events_advance(events, ret->ts);
	events->hidden = !top->live;
	return true;
}

int events_next(struct events *events, struct event *ret, struct fail *fail)
{
	release_retired(events);
	return __builtin_expect(runs_on(events) && take_plain(events, ret), 1) ? 1 : take_next(events, ret, fail);
}

int events_batch(struct events *events, struct event *ret, size_t max, struct fail *fail)
{
	size_t nr = 0, held = events->options.keep_blocks ? BATCH_HELD : 0;
	int r = 0;

	release_retired(events);
	/* The bytes of a block that is left must stay, so at most one is left in each batch without keep_blocks. */
	while (nr < max && events->merge->retired.size <= held && (r = take_next(events, &ret[nr], fail)) > 0) {
		ret[nr++].buffer = 0;
		if (runs_on(events) && events->merge->retired.size <= held)
			nr += take_runs(events, &ret[nr], max - nr);
	}
	events->hidden = true;
	return nr ? (int)nr : r;
}

void events_resume(struct events *events)
{
	merge_resume(events->merge);
}

/* The cursor of the last event; NULL when no record follows on it. */
static inline struct cursor *following(struct events *events)
{
	struct cursor *cursor = events->hidden ? NULL : merge_moved(events->merge);

	if (!cursor || !cursor->live || cursor->lost || events_time(events, cursor->head.ts) > events->options.until)
		return NULL;
	return cursor;
}

int events_peek(struct events *events, struct event *ret)
{
	struct cursor *cursor = following(events);

	return cursor && event_bind(events, cursor, events_time(events, cursor->head.ts), ret);
}

bool events_peek_record(struct events *events, struct event *ret)
{
	struct cursor *cursor = following(events);

	if (!cursor)
		return false;
	ret->data = cursor->head.data;
	ret->len = cursor->head.len;
	return bind_record(events, &cursor->head, ret);
}

void events_skip(struct events *events)
{
	struct cursor *cursor = following(events);
	struct event_type *type;

	if (!cursor)
		return;
	type = events->types[record_id(events, &cursor->head)];
	if (type)
		type->seen++;
	events->count++;
	events_advance(events, events_time(events, cursor->head.ts));
}

bool events_follows(const struct events *events)
{
	const struct merge *merge = events->merge;
	const struct cursor *cursor = following((struct events *)(uintptr_t)events);

	if (!cursor)
		return false;
	if (cursor->head.ts != merge->next_ts)
		return cursor->head.ts < merge->next_ts;
	/* The second in time is one of the two below the top. */
	for (size_t i = 1; i < 3 && i < merge->len; i++)
		if (merge->heap[i].ts == cursor->head.ts && merge->heap[i].cursor->cpu < cursor->cpu)
			return false;
	return true;
}

bool events_next_ts(struct events *events, uint64_t *ret)
{
	const struct cursor *top = merge_top(events->merge);

	if (!top)
		return false;
	*ret = events_time(events, top->head.ts);
	return true;
}

/* Skips the events that events_next() would skip, so that they do not count as due. */
__attribute__((noinline)) static void pass_older(struct events *events)
{
	struct cursor *top;

	while ((top = merge_top(events->merge)) && events_time(events, top->head.ts) < events->options.since)
		events_pass(events, top);
}

bool events_due(struct events *events, uint64_t *ret)
{
	bool due;

	if (events->options.since && events->count == events->before)
		pass_older(events);
	if (events->untold && events->told < events->nr_ends && events->ends[events->told].ts) {
		*ret = events->ends[events->told].ts;
		return true;
	}
	due = merge_due(events->merge, ret);
	if (*ret != UINT64_MAX)
		*ret = events_time(events, *ret);
	return due;
}

const size_t *events_held(const struct events *events)
{
	return &events->merge->retired.size;
}

struct block *events_retired(struct events *events)
{
	return merge_retired(events->merge);
}

void events_release(struct events *events, struct block *chain)
{
	merge_release(events->merge, chain);
}

const char *events_damage(const struct events *events)
{
	if (events->damage.text[0])
		return events->damage.text;
	return merge_start_damage(events->merge);
}

uint64_t events_count(const struct events *events)
{
	return events->count;
}

bool events_type_at(const struct events *events, size_t index, const struct event_type **ret)
{
	if (index >= events->nr_seen)
		return false;
	*ret = events->types[events->seen[index]];
	return true;
}

void events_free(struct events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->nr_seen; i++)
		free(events->types[events->seen[i]]);
	merge_free(events->merge);
	free(events->ends);
	free(events->types);
	free(events->seen);
	apart_free(events);
}

/* Opens the source and the merge, which begins at the window. */
static int events_begin(struct events *events, struct source *source, struct fail *fail)
{
	int r;

	if (!source) {
		r = file_source_new(events->context->trace, events->context->buffer, events->options.pool, &source,
				    fail);
		if (r < 0)
			return r;
		source->prints_more = release_prints_more(events->context);
	}
	r = merge_new(source, events->options.cpu_mask, events->options.cpu_mask_words, &events->merge, fail);
	if (r < 0)
		return r;
	events->plain = events->merge->plain && !events->scale && !events->swap && !events->options.see;
	if (events->options.since && !events->options.entered)
		r = merge_seek(events->merge, events_raw_time(events, events->options.since), fail);
	return r;
}

static int events_start(struct events *events, struct fail *fail)
{
	const struct trace_info *info = trace_info(events->context->trace);
	struct source *source = events->options.source;

	events->options.source = NULL;
	events->types = calloc(EVENT_TYPES_MAX, sizeof(struct event_type *));
	/* Not cleared: only what was written is read. */
	events->seen = malloc(EVENT_TYPES_MAX * sizeof(*events->seen));
	if (!events->types || !events->seen) {
		source_free(source);
		return fail_memory(fail);
	}
	events->swap = info->swap;
	events->scale = info->has_tsc2nsec && info->tsc_shift < 64;
	events->mult = info->tsc_mult;
	events->shift = info->tsc_shift;
	events->ts_offset = (int64_t)trace_ts_offset(events->context->trace);
	return events_begin(events, source, fail);
}

int events_open(const struct context *context, const struct events_options *options, struct events **ret,
		struct fail *fail)
{
	struct events *events = apart_calloc(1, sizeof(*events));
	int r;

	if (!events) {
		source_free(options->source);
		return fail_memory(fail);
	}
	events->context = context;
	events->options = *options;
	if (events->options.since < context->section_since)
		events->options.since = context->section_since;
	events->hidden = true;
	events->untold = options->tells_ends;
	events->last = options->until;
	r = events_start(events, fail);
	if (r < 0) {
		events_free(events);
		return r;
	}
	*ret = events;
	return 0;
}

int events_end_time(const struct context *context, const struct events_options *options, uint64_t *ret,
		    struct fail *fail)
{
	struct events_options all = *options;
	struct events *events = NULL;
	struct event event;
	uint64_t end = 0;
	int r;

	all.since = 0;
	all.keep_blocks = false;
	all.pool = NULL;
	r = events_open(context, &all, &events, fail);
	if (r < 0)
		return r;
	/* Only the last pages of each CPU can hold it. */
	r = merge_seek(events->merge, events_raw_time(events, options->until), fail);
	while (!r && (r = events_next(events, &event, fail)) > 0) {
		end = event.ts;
		r = 0;
	}
	events_free(events);
	if (r < 0)
		return r;
	*ret = end;
	return 0;
}
