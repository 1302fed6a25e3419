// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/parallel_sum.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/order.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"

/* So many events are seen at once. */
enum { EVENTS = 256 };

/* A slice that was begun and is not yet joined. */
struct share {
	void *part;
	void *joined; /* the part of a slice before, whose memory the next one inherits */
	struct slice_ends ends;
};

struct sharing {
	const struct slices *slices;
	const struct parallel_sum_ops *ops;
	void *arg;
	struct order order;
	struct share *shares;     /* slice n is at n % order.window */
	struct slice_ends before; /* of the last joined slice; of the thread that has the turn */
};

/* What one thread has. */
struct sharer {
	struct pool_job job; /* first */
	struct sharing *sharing;
	struct slice_reader reader;
	struct block **retired; /* for each buffer */
	struct event *events;
	struct share *share; /* the slice it is at */
	uint64_t index;
};

/* Gives back what was read. Returns r, or -EAGAIN: all slices are needed. */
static int relieve(struct sharer *sharer, int r)
{
	reader_retired(sharer->reader.reader, sharer->retired);
	reader_give_back(sharer->reader.reader, sharer->retired);
	return !r && slice_needs_all(&sharer->reader) ? -EAGAIN : r;
}

/* All that the reader has now. `shown`: to the part, too. */
static int read_on(struct sharer *sharer, bool shown)
{
	const struct parallel_sum_ops *ops = sharer->sharing->ops;
	struct fail fail;
	int r;

	while ((r = reader_batch(sharer->reader.reader, sharer->events, EVENTS, &fail)) > 0) {
		int nr = r;

		r = shown ? ops->see(sharer->share->part, sharer->events, (size_t)nr) : 0;
		r = relieve(sharer, r);
		if (r)
			break;
	}
	return r;
}

/* All that the reader has now, to the part, event by event. */
static int step_on(struct sharer *sharer)
{
	const struct parallel_sum_ops *ops = sharer->sharing->ops;
	struct event *event = sharer->events;
	unsigned seen = 0;
	struct fail fail;
	int r;

	while ((r = reader_step(sharer->reader.reader, event, &fail)) > 0) {
		r = reader_keeps(sharer->reader.reader, event) ? ops->step(sharer->share->part, event) : 0;
		if (!(++seen % EVENTS))
			r = relieve(sharer, r);
		if (r)
			break;
	}
	return r;
}

static int create(const struct sharer *sharer)
{
	const struct sharing *sharing = sharer->sharing;
	struct share *share = sharer->share;
	int r = sharing->ops->create(sharing->arg, sharer->reader.reader, sharer->index, sharing->slices->nr,
				     &share->part);

	if (r || !share->joined)
		return r;
	sharing->ops->inherit(share->part, share->joined);
	sharing->ops->free(share->joined);
	share->joined = NULL;
	return 0;
}

static int make(struct sharer *sharer)
{
	const struct sharing *sharing = sharer->sharing;
	struct share *share = sharer->share;
	struct fail fail;
	int r = slice_enter(&sharer->reader, sharer->index, &fail);

	/* The events before the slice are read for the selection. */
	if (!r && sharer->index)
		r = read_on(sharer, false);
	if (!r)
		r = slice_begin(&sharer->reader, &share->ends, &fail);
	if (!r)
		r = create(sharer);
	if (!r)
		r = sharing->ops->step ? step_on(sharer) : read_on(sharer, true);
	if (!r)
		r = slice_end(&sharer->reader, &share->ends, &fail);
	return r ? r : sharing->ops->end(share->part);
}

static struct share *share_at(const struct sharing *sharing, uint64_t index)
{
	return &sharing->shares[index % sharing->order.window];
}

/* The slice whose turn it is has been made. */
static int join(struct sharing *sharing, uint64_t index)
{
	struct share *share = share_at(sharing, index);
	struct slice_ends joined = sharing->before;
	int r = 0;

	if (index && !slices_meet(&sharing->before, &share->ends))
		return -EAGAIN;
	r = sharing->ops->join(sharing->arg, share->part);
	if (r)
		return r;
	/* The memory of the ends before is that of a later slice's. */
	sharing->before = share->ends;
	*share = (struct share){ .joined = share->part, .ends = joined };
	if (!sharing->ops->inherit) {
		sharing->ops->free(share->joined);
		share->joined = NULL;
	}
	return 0;
}

static void sharer_run(struct pool_job *job)
{
	struct sharer *sharer = (struct sharer *)job;
	struct sharing *sharing = sharer->sharing;
	uint64_t due;
	int r = 0;

	while (!r && order_begin(&sharing->order, &sharer->index)) {
		sharer->share = share_at(sharing, sharer->index);
		r = make(sharer);
		if (!r)
			order_made(&sharing->order, sharer->index);
		while (!r && order_due(&sharing->order, &due)) {
			r = join(sharing, due);
			if (!r)
				order_passed(&sharing->order);
		}
	}
	if (r)
		(void)order_stop(&sharing->order);
}

static int sharer_init(struct sharer *sharer, struct sharing *sharing)
{
	struct fail fail;

	sharer->job.run = sharer_run;
	sharer->sharing = sharing;
	sharer->retired = calloc(sharing->slices->reader->nr_buffers + 1, sizeof(*sharer->retired));
	sharer->events = calloc(EVENTS, sizeof(*sharer->events));
	if (!sharer->retired || !sharer->events)
		return -EAGAIN;
	return slice_reader_new(sharing->slices, &sharer->reader, &fail);
}

static void sharer_release(struct sharer *sharer)
{
	slice_reader_release(&sharer->reader);
	free(sharer->retired);
	free(sharer->events);
}

static int run_all(struct sharing *sharing, struct sharer *sharers, size_t nr, struct pool *pool)
{
	int r = 0;

	for (size_t i = 1; i < nr; i++)
		pool_submit_first(pool, &sharers[i].job);
	sharer_run(&sharers[0].job);
	for (size_t i = 1; i < nr; i++)
		pool_wait(pool, &sharers[i].job);
	for (size_t i = 0; !r && !sharing->order.stopped && sharing->ops->done && i < nr; i++)
		r = sharing->ops->done(sharing->arg, sharers[i].reader.reader);
	return r || sharing->order.stopped ? -EAGAIN : 0;
}

int parallel_sum_run(const struct slices *slices, struct pool *pool, const struct parallel_sum_ops *ops, void *arg)
{
	size_t nr = slices->threads;
	struct sharing sharing = { .slices = slices, .ops = ops, .arg = arg };
	struct sharer *sharers = calloc(nr, sizeof(*sharers));
	int r = order_init(&sharing.order, slices->nr, nr + PARALLEL_SUM_AHEAD);

	sharing.shares = calloc(sharing.order.window, sizeof(*sharing.shares));
	if (!sharers || !sharing.shares)
		r = -EAGAIN;
	for (size_t i = 0; !r && i < nr; i++)
		r = sharer_init(&sharers[i], &sharing);
	if (!r)
		r = run_all(&sharing, sharers, nr, pool);
	for (size_t i = 0; sharing.shares && i < sharing.order.window; i++) {
		if (sharing.shares[i].part)
			ops->free(sharing.shares[i].part);
		if (sharing.shares[i].joined)
			ops->free(sharing.shares[i].joined);
		slice_ends_release(&sharing.shares[i].ends);
	}
	slice_ends_release(&sharing.before);
	for (size_t i = 0; sharers && i < nr; i++)
		sharer_release(&sharers[i]);
	free(sharing.shares);
	free(sharers);
	order_release(&sharing.order);
	return r ? -EAGAIN : 0;
}
