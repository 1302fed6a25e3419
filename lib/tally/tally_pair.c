// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The time from one event to another, as the kernel measures it (histogram.rst, "onmatch"): the first event stores its
 * time under the value of the matching field, and replaces an older time; the second event removes it.
 */
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/query/filter.h"
#include "lib/tally/tally_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	LAT_AT = 1 << 16, /* offset of `lat`: after the end of any record */
	BEGUN_TS = 0,
	BEGUN_OPEN,
};

/* The filter is applied to a copy of the second event, which has the additional field `lat`. */
int tally_pair_bind(struct tally *tally, struct tally_bound *last, const struct format *format, struct fail *fail)
{
	const struct field lat = { .name = "lat", .type = "u64", .offset = LAT_AT, .size = 8, .elem_size = 8 };

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

void tally_pair_see_first(struct tally *tally, const struct tally_bound *bound, const struct event *event)
{
	struct tally_row *row;
	struct tally_key key;

	key.len = 0;
	tally_key_add(tally, &key, &tally->first_match, bound, &bound->match, 0, event);
	row = tally_map_add(&tally->begun, key.data, key.len);
	if (!row)
		return;
	row->sums[BEGUN_TS] = event->ts;
	row->sums[BEGUN_OPEN] = 1;
	tally->failed |= !keep_fields(tally, bound, event, row);
}

void tally_pair_see_last(struct tally *tally, const struct tally_bound *bound, const struct event *event)
{
	bool us = !tally->wanted.ns && bound->context->unit == CLOCK_UNIT_NS;
	struct tally_row *row;
	struct tally_key key;
	uint64_t lat;

	key.len = 0;
	tally_key_add(tally, &key, &tally->match, bound, &bound->match, 0, event);
	row = tally_map_find(&tally->begun, key.data, key.len);
	if (!row || !row->sums[BEGUN_OPEN])
		return;
	row->sums[BEGUN_OPEN] = 0;
	/* The kernel rounds both times and then subtracts. */
	lat = us ? tally_usecs(event->ts) - tally_usecs(row->sums[BEGUN_TS]) : event->ts - row->sums[BEGUN_TS];
	if (passes(tally, bound, lat, event))
		tally_count(tally, bound, row, lat, event);
}
