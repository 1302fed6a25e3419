// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tallies of slices of time, joined in their order. Of the two events of a latency the first may be in an earlier
 * slice: then the second is kept until that is known. Not joined are stacks, which come after their events, and facts
 * of plugins, which need not stand several threads. Where the memory for exact percentiles is used up, it depends on
 * the order of all values which of them are rounded.
 */
#include "lib/answers/tally/tally_internal.h"

#include <errno.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/samples.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/parallel_sum.h"

static bool has_facts(const struct tally_column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (columns[i].fact)
			return true;
	return false;
}

bool tally_can_join(const struct tally *tally)
{
	const struct tally_program *program = &tally->program;

	return !tally->wanted.alarm && !program->stacks && !has_facts(program->keys, program->nr_keys) &&
	       !has_facts(program->values, program->nr_values);
}

/*
 * Rows are those of the first keys: a slice that has dropped some does not know whether the rows before it have them.
 */
static bool must_order(const struct tally *tally)
{
	return tally->failed || tally->rows.failed || tally->rows.dropped || tally->budget.failed ||
	       !tally->budget.left || tally->begun.dropped || tally->begun.failed;
}

static int join_row(struct tally *into, const struct tally_row *row)
{
	struct tally_row *sum = tally_map_add(&into->rows, row->key, row->len);
	uint64_t more = row->sums[0] - 1;

	/* Adding a key counts one hit. Once all rows are used, what is not among them is dropped in any order. */
	*(sum ? &into->rows.hits : &into->rows.dropped) += more;
	if (!sum)
		return into->rows.failed ? -EAGAIN : 0;
	for (size_t i = 0; i < into->rows.nr_values; i++)
		sum->sums[i] += row->sums[i];
	for (size_t i = 0; sum->samples && i < into->rows.nr_samples; i++)
		if (!samples_join(&sum->samples[i], &into->budget, &row->samples[i]))
			return -EAGAIN;
	return 0;
}

/* Events of one name count in one buffer: the slice may have counted those of another one, which do not. */
static bool owners_join(size_t *into, size_t from)
{
	if (*into == SIZE_MAX)
		*into = from;
	return from == SIZE_MAX || from == *into;
}

/* Sees the kept events that came before this number. */
static void see_ended(struct tally *into, const struct tally *from, uint64_t until, size_t *at)
{
	while (*at < from->ended.nr) {
		uint64_t number;
		struct event event = event_copies_at(&from->ended, *at, &number);

		if (number >= until)
			return;
		if (event.id == into->buffers[event.buffer].last.id)
			tally_pair_see_last(into, &into->buffers[event.buffer].last, &event);
		else
			tally_pair_see_first(into, &into->buffers[event.buffer].first, &event);
		(*at)++;
	}
}

static int add(struct tally *into, struct tally *from)
{
	size_t at = 0;
	int r = 0;

	if (must_order(from))
		return -EAGAIN;
	if (!from->any)
		return 0;
	if (!owners_join(&into->owner, from->owner) || !owners_join(&into->first_owner, from->first_owner))
		return -EAGAIN;
	if (!into->any)
		into->first_ts = from->first_ts;
	into->any = true;
	into->last_ts = from->last_ts;
	/* In the order in which the rows would have been added. */
	for (size_t i = 0; !r && i < from->rows.nr; i++) {
		see_ended(into, from, from->rows.rows[i].first, &at);
		r = join_row(into, &from->rows.rows[i]);
	}
	see_ended(into, from, UINT64_MAX, &at);
	/* The samples of kept events may have been rounded. */
	if (r || !into->budget.left || into->failed || !tally_pair_join(into, from))
		return -EAGAIN;
	into->losses += from->losses;
	return 0;
}

static int create(void *arg, struct reader *reader, uint64_t index, uint64_t nr, void **ret)
{
	const struct tally_sum *sum = arg;
	struct tally *tally;
	struct fail fail;
	int r = tally_new(reader, sum->wanted, &tally, &fail);

	(void)nr;
	if (r)
		return r;
	tally->in_slice = index != 0;
	*ret = tally;
	return r;
}

static int see(void *part, const struct event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		tally_see(part, &events[i]);
	return must_order(part) ? -EAGAIN : 0;
}

static int end(void *part)
{
	(void)part;
	return 0;
}

static int join(void *arg, void *part)
{
	const struct tally_sum *sum = arg;

	return add(sum->tally, part);
}

static void release(void *part)
{
	tally_free(part);
}

const struct parallel_sum_ops tally_shares = {
	.create = create, .see = see, .end = end, .join = join, .free = release
};
