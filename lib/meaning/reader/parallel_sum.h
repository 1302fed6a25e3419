/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_PARALLEL_SUM_H
#define WEFT_MEANING_READER_PARALLEL_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct event;
struct pool;
struct reader;
struct slices;

/*
 * A result of all events that is made in slices of time (lib/meaning/reader/slices.h): threads make a part of it from
 * each slice, and the parts are joined in the order of the slices, by one thread at a time.
 * What must stay true: a part depends on nothing but the events of its slice, and the joined parts are what one part of
 * all events would be. What a part cannot know is left to join(), which has all that came before. A part is joined
 * only if its slice began where the slice before ended.
 * Memory: at most as many parts as there are threads, and PARALLEL_SUM_AHEAD more, are made or wait to be joined.
 */
enum { PARALLEL_SUM_AHEAD = 1 };

struct parallel_sum_ops {
	/*
	 * A part without events, of slice `index` of `nr`, in the thread that will make it. `reader` is that thread's,
	 * and outlives all parts, with the types of its events.
	 */
	int (*create)(void *arg, struct reader *reader, uint64_t index, uint64_t nr, void **ret);
	/* The next events of the slice, selected ones and gaps; valid until it returns. */
	int (*see)(void *part, const struct event *events, size_t nr);
	/* In place of see(), for a part that looks ahead in the reader, or takes events from it: one event. */
	int (*step)(void *part, struct event *event);
	int (*end)(void *part); /* no more events follow */
	int (*join)(void *arg, void *part);
	/* Before the first event: takes what it can use of the memory of a joined part. NULL: nothing is inherited. */
	void (*inherit)(void *part, void *joined);
	void (*free)(void *part);
	/* All parts have been joined: gets the reader of each thread, in the caller's thread. NULL: nobody asks. */
	int (*done)(void *arg, const struct reader *reader);
};

/*
 * Makes all parts and joins them, by the threads of the pool and the caller's. 0; or -EAGAIN: the caller throws away
 * what was joined, and reads everything in order, which also tells what failed. Every function of the ops may fail
 * for that.
 */
int must_check parallel_sum_run(const struct slices *slices, struct pool *pool, const struct parallel_sum_ops *ops,
				void *arg);

#endif
