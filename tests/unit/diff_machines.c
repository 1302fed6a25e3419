// SPDX-License-Identifier: GPL-2.0-only
/* Machines of two lakes: the figures of each by hand, from a few buckets. */
#include "lib/answers/stats/diff_machines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/stats/diff_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/xxh64.h"
#include "tests/unit/test.h"

static struct text_word word(const char *text)
{
	return (struct text_word){ .at = text, .len = strlen(text) };
}

static void add(struct diff_machines *machines, bool is_new, const char *host, const char *detail, uint64_t middle,
		uint64_t count, uint64_t sum)
{
	const struct diff_bucket bucket = { .host = word(host),
					    .kind = word("wakeup"),
					    .key = word("sh"),
					    .detail = word(detail),
					    .middle = middle,
					    .count = count,
					    .sum = sum };

	CHECK(diff_machines_bucket(machines, is_new, &bucket));
}

static struct diff_machines *begin(void)
{
	struct diff_machines *machines = NULL;

	CHECK(!diff_machines_new(&machines, NULL));
	return machines;
}

static const struct diff_row *row_of(const struct diff_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr; i++)
		if (!strcmp(run->rows[i].name, name))
			return &run->rows[i];
	return NULL;
}

TEST(diff_machines_have_one_figure_of_all_their_recordings)
{
	struct diff_machines *machines = begin();
	const struct diff_row *row;
	struct diff *diff = NULL;

	/* Two recordings of "a", whose buckets come in any order: 40 + 57 of 100 ns, 2 of 200, 1 of 300. */
	add(machines, false, "a", "normal", 300, 1, 290);
	add(machines, false, "a", "normal", 100, 40, 4040);
	CHECK(diff_machines_recording(machines, false, word("a"), word("6.1"), 2000000000));
	add(machines, false, "a", "normal", 100, 57, 5700);
	add(machines, false, "a", "normal", 200, 2, 410);
	add(machines, false, "a", "", 500, 1, 510);
	CHECK(diff_machines_recording(machines, false, word("a"), word("6.12"), 1500000000));
	add(machines, true, "b", "normal", 700, 3, 2100);
	add(machines, true, "c", "normal", 800, 1, 810);
	CHECK(diff_machines_recording(machines, true, word("c"), word("6.18"), 1000000000));
	REQUIRE(!diff_machines_end(machines, &diff, NULL));
	CHECK(diff->several && diff->sides[0].nr == 1 && diff->sides[1].nr == 2);
	CHECK(diff->sides[0].runs[0].nr == 2 && diff->sides[0].runs[0].units.nr == 3.5);
	CHECK(!strcmp(diff->sides[0].runs[0].release, "6.12"));
	row = row_of(&diff->sides[0].runs[0], "wakeup\tsh normal");
	/* The 50th of 100 is 100 ns, the 99th 200 ns. */
	if (CHECK(row))
		CHECK(row->count == 100 && row->sum == 290 + 4040 + 5700 + 410 && row->p50 == 100 && row->p99 == 200);
	row = row_of(&diff->sides[0].runs[0], "wakeup\tsh");
	if (CHECK(row))
		CHECK(row->count == 1 && row->sum == 510 && row->p50 == 500 && row->p99 == 500);
	row = row_of(&diff->sides[1].runs[0], "wakeup\tsh normal");
	if (CHECK(row))
		CHECK(row->count == 3 && row->p50 == 700);
	diff_free(diff);
	diff_machines_free(machines);
}

/* Of 1000 the 990th is the percentile, of 1001 the 991st: ceil(990.99). */
TEST(diff_machines_take_the_nearest_rank)
{
	for (uint64_t above = 10; above <= 11; above++) {
		struct diff_machines *machines = begin();
		struct diff *diff = NULL;

		add(machines, false, "a", "", 1, 990, 990);
		add(machines, false, "a", "", 2, above, 2 * above);
		add(machines, true, "a", "", 1, 1, 1);
		REQUIRE(!diff_machines_end(machines, &diff, NULL));
		CHECK(diff->sides[0].runs[0].rows[0].p99 == (above == 10 ? 1 : 2));
		diff_free(diff);
		diff_machines_free(machines);
	}
}

/* How many of all machines have a smaller hash. */
static size_t smaller(unsigned machine, unsigned nr)
{
	char name[16];
	size_t less = 0;
	uint64_t hash = xxh64(name, (size_t)snprintf(name, sizeof(name), "h%u", machine));

	for (unsigned i = 0; i < nr; i++)
		less += xxh64(name, (size_t)snprintf(name, sizeof(name), "h%u", i)) < hash;
	return less;
}

/* Each machine has two recordings, of its number and 1000 ns: one that is compared has both. */
TEST(diff_machines_are_those_with_the_smallest_hashes_in_whatever_order_they_come)
{
	enum { MORE = DIFF_RUNS_MAX + 20 };

	for (unsigned down = 0; down < 2; down++) {
		struct diff_machines *machines = begin();
		struct diff *diff = NULL;
		size_t rows = 0;

		for (unsigned i = 0; i < 2 * MORE; i++) {
			unsigned machine = down ? MORE - 1 - i % MORE : i % MORE;
			char name[16];

			snprintf(name, sizeof(name), "h%u", machine);
			add(machines, false, name, "", i < MORE ? machine : 1000, 1, i < MORE ? machine : 1000);
		}
		add(machines, true, "a", "", 1, 1, 1);
		REQUIRE(!diff_machines_end(machines, &diff, NULL));
		CHECK(diff->sides[0].nr == DIFF_RUNS_MAX);
		for (size_t i = 0; i < diff->sides[0].nr; i++) {
			const struct diff_run *run = &diff->sides[0].runs[i];

			rows += run->nr;
			CHECK(run->nr == 1 && run->rows[0].count == 2 && run->rows[0].sum >= 1000 &&
			      smaller((unsigned)(run->rows[0].sum - 1000), MORE) < DIFF_RUNS_MAX);
		}
		CHECK(rows == DIFF_RUNS_MAX);
		diff_free(diff);
		diff_machines_free(machines);
	}
}

TEST(diff_machines_need_two_sides)
{
	struct diff_machines *machines = begin();
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;

	add(machines, false, "a", "", 1, 1, 1);
	CHECK(diff_machines_end(machines, &diff, &fail) == -ENODATA &&
	      !strcmp(fail.text, "the new lake has no rollups"));
	diff_machines_free(machines);
}
