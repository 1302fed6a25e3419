// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/import/sorter_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

/* What was given to a sorter; `what` of an item is its number. */
struct given {
	uint64_t time;
	uint32_t cpu, len, number;
};

struct seen {
	const struct given *want; /* in order */
	size_t nr, at, stop;
	bool same;
};

static int in_order(const void *a, const void *b)
{
	const struct given *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static uint8_t byte_of(const struct given *given, uint32_t at)
{
	return (uint8_t)(given->number * 7 + at);
}

static int see(void *arg, const struct sorter_item *item, struct fail *fail)
{
	struct seen *seen = arg;
	const struct given *want = &seen->want[seen->at];

	if (seen->at == seen->stop)
		return fail_set(fail, -ECANCELED, "enough");
	seen->same = seen->same && seen->at < seen->nr && item->cpu == want->cpu && item->time == want->time &&
		     item->what == want->number && item->len == want->len;
	for (uint32_t at = 0; seen->same && at < item->len; at += 1 + item->len / 9)
		seen->same = item->data[at] == byte_of(want, at);
	seen->same = seen->same && (!item->len || item->data[item->len - 1] == byte_of(want, item->len - 1));
	seen->at++;
	return 0;
}

/* Items of up to `len_max` bytes, on three CPUs, whose times meet. */
static void check_sorted(size_t nr, uint32_t len_max, size_t stop)
{
	struct given *given = calloc(nr + 1, sizeof(*given));
	struct seen seen = { .want = given, .nr = nr, .stop = stop, .same = true };
	struct sorter *sorter = NULL;
	uint32_t seed = 5;
	int r;

	REQUIRE(!sorter_new(NULL, &sorter, NULL));
	for (uint32_t i = 0; i < nr; i++) {
		uint8_t *data;

		seed = seed * 1664525 + 1013904223;
		given[i] = (struct given){ .time = seed >> 25, .cpu = seed >> 13 & 3, .number = i };
		given[i].len = len_max ? (seed >> 8) % (len_max + 1) : 0;
		data = sorter_add(sorter, given[i].time, given[i].cpu, i, given[i].len, NULL);
		REQUIRE(data);
		for (uint32_t at = 0; at < given[i].len; at++)
			data[at] = byte_of(&given[i], at);
	}
	qsort(given, nr, sizeof(*given), in_order);
	r = sorter_each(sorter, see, &seen, NULL);
	CHECK(stop < nr ? r == -ECANCELED && seen.at == stop : !r && seen.at == nr);
	CHECK(seen.same);
	sorter_free(sorter);
	free(given);
}

TEST(sorter_keeps_the_order_of_items_of_one_time)
{
	check_sorted(0, 0, SIZE_MAX);
	check_sorted(1, 9, SIZE_MAX);
	check_sorted(1000, 40, SIZE_MAX);
	check_sorted(1000, 40, 7);
}

/* 16 MB are in memory: here there are up to five runs in the temporary file. */
TEST(sorter_joins_what_did_not_fit_into_memory)
{
	check_sorted(300, SORTER_ITEM_MAX, SIZE_MAX);
	check_sorted(1300, SORTER_ITEM_MAX, SIZE_MAX);
	check_sorted(40000, 1000, SIZE_MAX);
}

TEST(sorter_refuses_a_larger_item)
{
	struct sorter *sorter = NULL;
	struct fail fail = FAIL_INIT;

	REQUIRE(!sorter_new(NULL, &sorter, NULL));
	CHECK(!sorter_add(sorter, 1, 1, 1, SORTER_ITEM_MAX + 1, &fail));
	CHECK_STR(fail.text, "a record of 131073 bytes is too large");
	CHECK(sorter_add(sorter, 1, 1, 1, SORTER_ITEM_MAX, &fail));
	sorter_free(sorter);
}
