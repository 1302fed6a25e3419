// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tallies of slices of time, joined in their order. Not joined are latencies of two events, of which one may be in an
 * earlier slice, stacks, which come after their events, and facts of plugins, which need not be told apart by threads.
 * Where the memory for exact percentiles is used up, it depends on the order of all values which of them are rounded.
 */
#include "lib/tally/tally_internal.h"

#include "lib/base/fail.h"
#include "lib/base/samples.h"
#include "lib/event/event.h"
#include "lib/reader/shares.h"

#include <errno.h>

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

	return !tally->wanted.second && !tally->wanted.alarm && !program->stacks &&
	       !has_facts(program->keys, program->nr_keys) && !has_facts(program->values, program->nr_values);
}

/*
 * Rows are those of the first keys: a slice that has dropped some does not know whether the rows before it have them.
 */
static bool must_order(const struct tally *tally)
{
	return tally->failed || tally->rows.failed || tally->rows.dropped || tally->budget.failed ||
	       !tally->budget.left;
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

static int add(struct tally *into, const struct tally *from)
{
	int r = 0;

	if (must_order(from))
		return -EAGAIN;
	if (!from->any)
		return 0;
	if (into->owner == SIZE_MAX)
		into->owner = from->owner;
	/* The events of another buffer, which do not count, were counted. */
	if (from->owner != SIZE_MAX && from->owner != into->owner)
		return -EAGAIN;
	if (!into->any)
		into->first_ts = from->first_ts;
	into->any = true;
	into->last_ts = from->last_ts;
	into->losses += from->losses;
	for (size_t i = 0; !r && i < from->rows.nr; i++)
		r = join_row(into, &from->rows.rows[i]);
	return r;
}

static int create(void *arg, struct reader *reader, uint64_t index, uint64_t nr, void **ret)
{
	const struct tally_sum *sum = arg;
	struct tally *tally;
	struct fail fail;
	int r = tally_new(reader, sum->wanted, &tally, &fail);

	(void)index;
	(void)nr;
	if (!r)
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

const struct shares_ops tally_shares = { .create = create, .see = see, .end = end, .join = join, .free = release };
