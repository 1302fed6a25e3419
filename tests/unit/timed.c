// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/firefox/timed_internal.h"

#include <stdlib.h>

#include "tests/unit/test.h"

TEST(timed_samples_of_one_stack_in_one_part_of_time_are_one)
{
	struct timed timed;
	struct timed_sample *list;
	uint32_t root, leaf;
	size_t nr;

	timed_init(&timed);
	root = timed_root(&timed, 7, 1);
	leaf = timed_on(&timed, root, 2);
	CHECK(timed_on(&timed, root, 2) == leaf && timed_root(&timed, 7, 1) == root);
	timed_add(&timed, leaf, 5000000, 3);
	timed_add(&timed, leaf, 5000001, 4);
	timed_add(&timed, root, 1, 9);
	timed_add(&timed, TIMED_NO_NODE, 1, 100);
	list = timed_sorted(&timed, &nr);
	REQUIRE(list);
	CHECK(nr == 2 && list[0].node == root && list[0].weight == 9 && list[1].node == leaf && list[1].weight == 7 &&
	      list[1].owner == 7);
	CHECK(list[1].ts <= 5000000);
	free(list);
	timed_release(&timed);
}

TEST(timed_folds_without_changing_the_sum)
{
	const uint64_t step = UINT64_C(1) << 20, nr_added = 3 * (uint64_t)TIMED_MAX;
	struct timed_sample *list;
	struct timed timed;
	uint64_t sum = 0, last = 0;
	uint32_t root;
	size_t nr;

	timed_init(&timed);
	root = timed_root(&timed, 0, 0);
	for (uint64_t i = 0; i < nr_added; i++)
		timed_add(&timed, root, i * step, 2);
	list = timed_sorted(&timed, &nr);
	REQUIRE(list);
	CHECK(nr <= TIMED_MAX && !timed.starved);
	for (size_t i = 0; i < nr; i++) {
		CHECK(list[i].ts >= last);
		last = list[i].ts;
		sum += list[i].weight;
	}
	CHECK(sum == 2 * nr_added);
	free(list);
	timed_release(&timed);
}
