// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The time from one event to another, as the kernel measures it (histogram.rst, "onmatch"): the first event stores its
 * time under the values of the matching fields, and replaces an older time; the second event removes it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/tally/tally_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/pairs.h"
#include "lib/meaning/query/filter.h"
#include "lib/meaning/state/state.h"

enum {
	LAT_AT = 1 << 16, /* offset of `lat`: after the end of any record */
	BEGUN_TS = 0,
	BEGUN_OPEN,
	BEGUN_ANY,    /* 0: in a slice, only a second event was seen */
	BEGUN_QUEUED, /* the task waits for a CPU, and was not woken: the losses up to then + 1 */
	TIDY_LEAST = 1 << 12,
	AGE_TIMES = 10, /* what has lasted so many times as long as the alarm asks for may be forgotten */
	ALARM_TEXT = 512,
};

#define AGE_NS UINT64_C(60000000000)

/*
 * A task that still has its CPU, or has lost it and is runnable, can be woken: it was about to sleep, and does not.
 * What it waits for then is no end of that wakeup. The kernel's histograms take it for one; lib/meaning/state does not.
 */
static void bind_left(struct tally *tally, struct tally_bound *last, const struct format *format,
		      const struct format *first)
{
	const struct pair_kind *kind = first ? pairs_between(first, format) : NULL;

	if (!kind || !kind->name || strcmp(kind->name, "wakeup") || tally->nr_match != 1 ||
	    strcmp(tally->match[0].name, "next_pid"))
		return;
	if (!place_bind(&last->left, format, &last->context->abi, "prev_pid") ||
	    !place_bind(&last->left_state, format, &last->context->abi, "prev_state")) {
		last->left.field = NULL;
		return;
	}
	letters_init(&last->letters, format->print_fmt);
	tally->wakeups = true;
}

/* The filter is applied to a copy of the second event, which has the additional field `lat`. */
int tally_pair_bind(struct tally *tally, struct tally_bound *last, const struct format *format,
		    const struct format *first, struct fail *fail)
{
	const struct field lat = { .name = "lat", .type = "u64", .offset = LAT_AT, .size = 8, .elem_size = 8 };

	bind_left(tally, last, format, first);
	if (!tally->wanted.filter)
		return 0;
	last->fields = calloc((size_t)format->nr_fields + 1, sizeof(*last->fields));
	last->with_lat = malloc(sizeof(*last->with_lat));
	if (!tally->record)
		tally->record = calloc(1, LAT_AT + 8);
	if (!last->fields || !last->with_lat || !tally->record)
		return fail_memory(fail);
	memcpy(last->fields, format->fields, format->nr_fields * sizeof(*last->fields));
	last->fields[format->nr_fields] = lat;
	*last->with_lat = *format;
	last->with_lat->fields = last->fields;
	last->with_lat->nr_fields++;
	return 0;
}

static bool passes(struct tally *tally, const struct tally_bound *bound, uint64_t lat, const struct event *event)
{
	struct event copy = *event;

	if (!bound->filter)
		return true;
	if (event->len > LAT_AT)
		return false;
	memcpy(tally->record, event->data, event->len);
	memcpy(tally->record + LAT_AT, &lat, 8);
	if (bound->context->abi.swap)
		memcpy(tally->record + LAT_AT, &(uint64_t){ __builtin_bswap64(lat) }, 8);
	copy.data = tally->record;
	copy.len = LAT_AT + 8;
	return filter_match(bound->filter, &copy);
}

/* The columns of the rows that are fields of the first event: keys, then values. */
static bool keep_fields(const struct tally *tally, const struct tally_bound *bound, const struct event *event,
			struct tally_row *row)
{
	const struct tally_program *program = &tally->program;
	struct tally_key kept;
	uint8_t *copy;

	kept.len = 0;
	for (size_t i = 0; i < program->nr_keys; i++)
		if (program->keys[i].of_first)
			tally_key_add(tally, &kept, &program->keys[i], bound, &bound->keys[i], 0, event);
	for (size_t i = 0; i < program->nr_values; i++)
		if (program->values[i].of_first)
			tally_key_put(&kept,
				      &(uint64_t){ tally_number(tally, &program->values[i], bound, &bound->values[i], 0,
								event) },
				      8);
	if (!kept.len)
		return true;
	copy = realloc(row->more, kept.len);
	if (!copy)
		return false;
	memcpy(copy, kept.data, kept.len);
	row->more = copy;
	row->more_len = kept.len;
	return true;
}

/* A call that ends a task has begun, and never ends. */
static bool is_over(const struct tally_row *row, uint64_t since)
{
	return (!row->sums[BEGUN_OPEN] && !row->sums[BEGUN_QUEUED]) || row->sums[BEGUN_TS] < since;
}

/* Without end there are ever new keys, as the sectors of a disk, and the PIDs of tasks. */
static void tidy(struct tally *tally, uint64_t now)
{
	uint64_t longer = tally->wanted.alarm->longer;
	uint64_t age = longer > AGE_NS / AGE_TIMES ? AGE_TIMES * longer : AGE_NS;

	if (tally->begun.nr < (tally->tidy_at ? tally->tidy_at : TIDY_LEAST))
		return;
	tally_map_drop(&tally->begun, is_over, 0);
	if (tally->begun.nr >= tally->begun.max / 2)
		tally_map_drop(&tally->begun, is_over, now > age ? now - age : 0);
	if (tally->begun.nr >= tally->begun.max / 2)
		tally_pair_lost(tally);
	tally->tidy_at = tally->begun.nr < TIDY_LEAST / 2 ? TIDY_LEAST : 2 * tally->begun.nr;
}

void tally_pair_lost(struct tally *tally)
{
	tally_map_drop(&tally->begun, is_over, UINT64_MAX);
}

static void make_match(const struct tally *tally, const struct tally_bound *bound, const struct tally_column *match,
		       const struct event *event, struct tally_key *ret)
{
	ret->len = 0;
	for (size_t i = 0; i < tally->nr_match; i++)
		tally_key_add(tally, ret, &match[i], bound, &bound->match[i], 0, event);
}

/*
 * Whether the task of a wakeup waits for a CPU already. In a slice that is unknown up to the task's first switch or the
 * first loss: the event is kept.
 */
static bool is_no_wakeup(struct tally *tally, const struct tally_key *key, const struct event *event)
{
	const struct tally_row *row = tally_map_find(&tally->begun, key->data, key->len);

	if (row)
		return row->sums[BEGUN_QUEUED] == tally->losses + 1;
	if (!tally->in_slice || tally->losses)
		return false;
	tally->failed |= !event_copies_add(&tally->ended, event, tally->rows.now);
	return true;
}

void tally_pair_see_first(struct tally *tally, const struct tally_bound *bound, const struct event *event)
{
	struct tally_row *row;
	struct tally_key key;

	if (tally->wanted.alarm)
		tidy(tally, event->ts);
	make_match(tally, bound, tally->first_match, event, &key);
	if (tally->wakeups && is_no_wakeup(tally, &key, event))
		return;
	row = tally_map_add(&tally->begun, key.data, key.len);
	if (!row)
		return;
	row->sums[BEGUN_TS] = event->ts;
	row->sums[BEGUN_OPEN] = 1;
	row->sums[BEGUN_ANY] = 1;
	tally->failed |= !keep_fields(tally, bound, event, row);
}

/* A number is printed as the kernel's synthetic events do. */
static size_t put_column(char *into, size_t size, const struct tally_column *column, const struct tally_part *part)
{
	unsigned shift = column->size && column->size < 8 ? 64 - 8u * column->size : 0;
	int len;

	if (column->of == TALLY_STRING || column->of == TALLY_TASK)
		len = snprintf(into, size, " %s=%.*s", column->name, (int)part->len, (const char *)part->at);
	else if (column->is_signed)
		len = snprintf(into, size, " %s=%" PRId64, column->name, (int64_t)(part->number << shift) >> shift);
	else
		len = snprintf(into, size, " %s=%" PRIu64, column->name, part->number << shift >> shift);
	return (size_t)len < size ? (size_t)len : size - 1;
}

static void tell(const struct tally *tally, const struct tally_bound *bound, const struct tally_row *row, uint64_t lat,
		 const struct event *event)
{
	const struct tally_program *program = &tally->program;
	const struct tally_alarm *alarm = tally->wanted.alarm;
	const uint8_t *saved = row->more, *at;
	size_t saved_left = row->more_len, left, len = 0;
	char text[ALARM_TEXT] = "";
	struct tally_part part;
	struct tally_key key;

	tally_make_key(tally, bound, &saved, &saved_left, lat, event, &key);
	at = key.data;
	left = key.len;
	for (size_t i = 0; i < program->nr_keys && tally_key_part(program, &at, &left, i, &part); i++)
		if (program->keys[i].of != TALLY_LATENCY)
			len += put_column(text + len, sizeof(text) - len, &program->keys[i], &part);
	alarm->told(alarm->arg, event, lat, text);
}

/* Of the second events without a first one in their slice only the first ends what may have begun before. */
static bool keep_last(struct tally *tally, const struct tally_key *key, const struct event *event)
{
	return tally_map_add(&tally->begun, key->data, key->len) &&
	       event_copies_add(&tally->ended, event, tally->rows.now);
}

bool tally_pair_join(struct tally *into, struct tally *from)
{
	for (size_t i = 0; i < from->begun.nr; i++) {
		struct tally_row *row = &from->begun.rows[i], *sum;
		uint8_t *more = row->more;

		if (!row->sums[BEGUN_ANY])
			continue;
		sum = tally_map_add(&into->begun, row->key, row->len);
		if (!sum)
			return false;
		memcpy(sum->sums, row->sums, into->begun.nr_values * sizeof(*sum->sums));
		sum->sums[BEGUN_QUEUED] += sum->sums[BEGUN_QUEUED] ? into->losses : 0;
		row->more = sum->more;
		sum->more = more;
		sum->more_len = row->more_len;
	}
	return !from->begun.dropped;
}

static void see_left(struct tally *tally, const struct tally_bound *bound, const struct event *event)
{
	struct tally_row *row;
	struct tally_key key;

	if (!bound->left.field || !place_u64(&bound->left, event) ||
	    tasks_mode_of(letters_of(&bound->letters, place_u64(&bound->left_state, event))) != TASK_PREEMPTED)
		return;
	key.len = 0;
	tally_key_put(&key, &(uint64_t){ place_u64(&bound->left, event) }, 8);
	row = tally_map_add(&tally->begun, key.data, key.len);
	if (!row)
		return;
	row->sums[BEGUN_TS] = event->ts;
	row->sums[BEGUN_OPEN] = 0;
	row->sums[BEGUN_ANY] = 1;
	row->sums[BEGUN_QUEUED] = tally->losses + 1;
}

void tally_pair_see_last(struct tally *tally, const struct tally_bound *bound, const struct event *event)
{
	bool us = !tally->wanted.ns && bound->context->unit == CLOCK_UNIT_NS;
	struct tally_row *row;
	struct tally_key key;
	uint64_t lat;

	see_left(tally, bound, event);
	make_match(tally, bound, tally->match, event, &key);
	row = tally_map_find(&tally->begun, key.data, key.len);
	if (!row && tally->in_slice)
		tally->failed |= !keep_last(tally, &key, event);
	if (row)
		row->sums[BEGUN_QUEUED] = 0;
	if (!row || !row->sums[BEGUN_OPEN])
		return;
	row->sums[BEGUN_OPEN] = 0;
	/* The kernel rounds both times and then subtracts. */
	lat = us ? tally_usecs(event->ts) - tally_usecs(row->sums[BEGUN_TS]) : event->ts - row->sums[BEGUN_TS];
	if (tally->wanted.alarm && (lat <= tally->wanted.alarm->longer || lat >> 63))
		return;
	if (!passes(tally, bound, lat, event))
		return;
	if (tally->wanted.alarm)
		tell(tally, bound, row, lat, event);
	else
		tally_count(tally, bound, row, lat, event, 1);
}
