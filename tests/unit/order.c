// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/order.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit/test.h"

enum { ITEMS = 2000, THREADS = 4, WINDOW = THREADS + 1 };

/* Threads that make items, each of them in three ways. What `finished` and `having` hold belongs to the turn. */
struct work {
	struct order order;
	uint64_t finished;
	unsigned having, wrong;
	uint64_t stop_at;
};

static void have_turn(struct work *work, uint64_t item)
{
	work->wrong += __atomic_add_fetch(&work->having, 1, __ATOMIC_RELAXED) != 1;
	work->wrong += item != work->finished;
	if (item % 5 == 0)
		sched_yield();
	__atomic_sub_fetch(&work->having, 1, __ATOMIC_RELAXED);
}

static void *make_items(void *arg)
{
	struct work *work = arg;
	uint64_t item, due;

	while (order_begin(&work->order, &item)) {
		bool taken = false;

		if (item == work->stop_at) {
			(void)order_stop(&work->order);
			return NULL;
		}
		for (uint64_t i = 0; i < item % 7; i++)
			sched_yield();
		/* One item in three asks whether its turn has come, and one waits for it. */
		if (item % 3)
			taken = order_take(&work->order, item, item % 3 == 2);
		if (taken)
			have_turn(work, item);
		else if (item % 3 == 2)
			return NULL;
		order_made(&work->order, item);
		while (order_due(&work->order, &due)) {
			have_turn(work, due);
			work->finished++;
			order_passed(&work->order);
		}
	}
	return NULL;
}

static void run_items(struct work *work)
{
	pthread_t threads[THREADS];

	REQUIRE(!order_init(&work->order, ITEMS, WINDOW));
	for (int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, make_items, work));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(!work->wrong);
	order_release(&work->order);
}

TEST(order_finishes_all_items_one_by_one_in_order)
{
	struct work work = { .stop_at = UINT64_MAX };

	run_items(&work);
	CHECK(work.finished == ITEMS);
}

TEST(order_that_is_stopped_lets_every_thread_end)
{
	for (uint64_t at = 0; at < 50; at++) {
		struct work work = { .stop_at = at };

		run_items(&work);
		CHECK(work.finished <= at);
	}
}

TEST(order_has_no_more_items_than_its_window)
{
	struct order order;
	uint64_t item, due;

	REQUIRE(!order_init(&order, 3, 2));
	CHECK(order_begin(&order, &item) && item == 0);
	CHECK(order_begin(&order, &item) && item == 1);
	order_made(&order, 1);
	CHECK(!order_due(&order, &due)); /* 0 is missing */
	CHECK(!order_take(&order, 1, false));
	CHECK(order_take(&order, 0, false));
	CHECK(!order_take(&order, 0, false)); /* it is taken */
	order_made(&order, 0);
	CHECK(order_due(&order, &due) && due == 0);
	CHECK(!order_due(&order, &due));
	order_passed(&order);
	CHECK(order_begin(&order, &item) && item == 2); /* there is room again */
	CHECK(order_due(&order, &due) && due == 1);
	order_passed(&order);
	CHECK(!order_due(&order, &due)); /* 2 is in the place of 0 */
	CHECK(!order_begin(&order, &item));
	CHECK(order_stop(&order));
	CHECK(!order_stop(&order)); /* not the first */
	order_made(&order, 2);
	CHECK(!order_due(&order, &due));
	order_release(&order);
}
