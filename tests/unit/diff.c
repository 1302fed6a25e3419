// SPDX-License-Identifier: GPL-2.0-only
/* Traces with known differences: random, but from fixed seeds. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/stats/diff_internal.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/diffed.h"
#include "tests/unit/test.h"

enum { FUNCTIONS = 12, ROUNDS = 250, COLUMNS = 15 };

/*
 * In each round 0x1 calls each of the other functions once. Function `slow` takes `longer`. With a drift all functions
 * are up to that part slower or faster, for a tenth of the rounds each time, and each function is up to half of that
 * slower or faster in the whole run.
 */
static void play(struct loom *loom, uint64_t seed, unsigned slow, double longer, double drift)
{
	cleanup_buf struct buf script = BUF_INIT;
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1, drifting = ~state, now = 1000;
	double pace = 1, own[FUNCTIONS];

	for (unsigned i = 0; i < FUNCTIONS; i++)
		own[i] = (i == slow ? longer : 1) * (1 + (drift > 0 ? drift * (diffed_part(&drifting) - 0.5) : 0));
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = now;

		if (round % (ROUNDS / 10) == 0)
			pace = 1 + drift * (2 * diffed_part(&drifting) - 1);

		CHECK(buf_addf(&script, "0 %" PRIu64 " 7 funcgraph_entry func=0x1 depth=0\n", now));
		for (unsigned i = 0; i < FUNCTIONS; i++) {
			uint64_t start = now += 50;

			now += (uint64_t)(diffed_duration(&state, 500.0 * (i + 1)) * pace * own[i]);
			diffed_call(&script, 0x10 + i, 1, start, now);
		}
		now += 100;
		CHECK(buf_addf(&script,
			       "0 %" PRIu64 " 7 funcgraph_exit func=0x1 depth=0 calltime=%" PRIu64 " rettime=%" PRIu64
			       "\n",
			       now, begin, now));
		now += 1000 + diffed_random(&state) % 20000;
	}
	loom_play(loom, buf_str(&script));
}

static bool add(struct diff *diff, bool is_new, uint64_t seed, unsigned slow, double longer, double drift)
{
	struct loom loom;

	loom_init(&loom);
	loom_graph(&loom);
	play(&loom, seed, slow, longer, drift);
	return diffed_add(diff, is_new, &loom, &graph_analysis, NULL);
}

/*
 * Compares `runs` runs of each side; function `slow` takes `longer` on the new side. Writes to `csv`. Returns the value
 * of diff_finish().
 */
static int compare(unsigned runs, uint64_t seed, unsigned slow, double longer, const char *condition, struct out *csv)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;

	if (!CHECK(!diff_new(runs, runs, &diff, &fail)))
		return -1;
	for (unsigned i = 0; i < runs; i++)
		CHECK(add(diff, false, seed + 2 * i, FUNCTIONS, 1, 0) &&
		      add(diff, true, seed + 2 * i + 1, slow, longer, 0));
	return diffed_finish(diff, condition, csv);
}

TEST(diff_calls_little_a_change_between_traces_of_one_workload)
{
	unsigned changed = 0, all = 0;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct out csv;

		REQUIRE(out_init(&csv, 1 << 14));
		CHECK(!compare(1, 100 * seed, FUNCTIONS, 1, NULL, &csv));
		changed += diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,");
		all += diffed_count(&csv, ",~,") + diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,");
		out_release(&csv);
	}
	/* 13 functions, 4 figures each. */
	CHECK(all == 8 * 13 * 4);
	if (!CHECK(changed * 20 <= all))
		printf("%u of %u\n", changed, all);
}

/* Of one file a side at most 5 % of the rows that have not changed may be called changed. */
TEST(diff_takes_no_slow_while_and_no_slow_run_of_the_machine_for_a_change)
{
	unsigned changed = 0, all = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fail fail = FAIL_INIT;
		struct diff *diff = NULL;
		struct out csv;

		REQUIRE(out_init(&csv, 1 << 14) && !diff_new(1, 1, &diff, &fail));
		CHECK(add(diff, false, 2 * seed, FUNCTIONS, 1, 0.2) &&
		      add(diff, true, 2 * seed + 1, FUNCTIONS, 1, 0.2));
		CHECK(!diffed_finish(diff, NULL, &csv));
		changed += diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,");
		all += diffed_count(&csv, ",~,") + diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,");
		out_release(&csv);
	}
	if (!CHECK(all == 20 * 13 * 4 && changed * 20 <= all))
		printf("%u of %u\n", changed, all);
}

/* Between single runs, a tenth proves nothing, and a third and a doubling do. */
TEST(diff_ranks_first_a_function_that_takes_a_third_longer_than_one_run_can_prove)
{
	static const double longer[] = { 1.34, 2, 0.5 };

	for (uint64_t seed = 1; seed <= 4; seed++) {
		unsigned slow = (unsigned)(3 * seed - 1) % FUNCTIONS;
		char want[32];
		struct out csv;

		REQUIRE(out_init(&csv, 1 << 14));
		snprintf(want, sizeof(want), "\nfunctions,0x%x,", 0x10 + slow);
		for (size_t i = 0; i < array_size(longer); i++) {
			bool less = longer[i] < 1;

			out_clear(&csv);
			CHECK(compare(1, 1000 * seed, slow, longer[i], less ? "p50 < -20%" : "p50 > 20%", &csv) ==
			      -ERANGE);
			/* The lines behind the line of titles. */
			if (!CHECK(strchr(csv.start, '\n') && !strncmp(strchr(csv.start, '\n'), want, strlen(want)) &&
				   diffed_count(&csv, less ? ",-," : ",+,") > 0))
				printf("%s: %.400s\n", want, csv.start);
		}
		out_clear(&csv);
		CHECK(!compare(1, 1000 * seed, slow, 1.08, "p50 > 0%", &csv));
		out_release(&csv);
	}
}

/*
 * 180 calls of 0x1 and 20 of 0x2. The first `clustered` follow each other and take `time`, the others take 900 each and
 * have 5 ms between them.
 */
static bool add_cluster(struct diff *diff, bool is_new, unsigned clustered, unsigned time)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct loom loom;
	uint64_t now = 1000;

	loom_init(&loom);
	loom_graph(&loom);
	for (unsigned i = 0; i < 200; i++) {
		uint64_t end = now + (i < clustered ? time + i % 3 : 900 + i % 7);

		diffed_call(&script, i < 180 ? 1 : 2, 0, now, end);
		now += i < clustered ? 2000 : 5000000;
	}
	loom_play(&loom, buf_str(&script));
	return diffed_add(diff, is_new, &loom, &graph_analysis, NULL);
}

static void compare_clusters(unsigned clustered, struct out *csv)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;

	REQUIRE(!diff_new(1, 1, &diff, &fail));
	CHECK(add_cluster(diff, false, clustered, 100) && add_cluster(diff, true, clustered, 150));
	CHECK(!diffed_finish(diff, NULL, csv));
}

TEST(diff_does_not_take_for_a_change_what_happened_at_one_moment)
{
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	/* 155 of 180 calls: in a draw without that moment the others are the median. */
	compare_clusters(155, &csv);
	CHECK(strstr(csv.start, "\nfunctions,0x1,p50,") && strstr(csv.start, ",49.5,"));
	if (!CHECK(!diffed_count(&csv, ",+,") && !diffed_count(&csv, ",-,")))
		printf("%s\n", csv.start);
	out_clear(&csv);
	/* All 180 calls: nothing is known about other moments. */
	compare_clusters(180, &csv);
	if (!CHECK(strstr(csv.start, "\nfunctions,0x1,p50,101 ns,151 ns,49.5,,,?,") && !diffed_count(&csv, ",+,") &&
		   !diffed_count(&csv, ",~,")))
		printf("%s\n", csv.start);
	out_release(&csv);
}

TEST(diff_has_no_figure_of_too_few_values)
{
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	compare_clusters(155, &csv);
	/* 0x2 is called 20 times: no p99, and nothing is tested. */
	if (!CHECK(strstr(csv.start, "\nfunctions,0x2,p99,,,,,,?,,20,20,,,\n") &&
		   strstr(csv.start, "\nfunctions,0x2,p50,903 ns,903 ns,0.0,,,?,,20,20,903.000,903.000,\n")))
		printf("%s\n", csv.start);
	out_release(&csv);
}

/* Runs of 0x1, and those of them that are marked also have 40 calls of 0x3, which take `time`. */
static bool add_run(struct diff *diff, bool is_new, bool marked, unsigned time)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct loom loom;
	uint64_t now = 1000;

	loom_init(&loom);
	loom_graph(&loom);
	for (unsigned i = 0; i < 100; i++, now += 10000)
		diffed_call(&script, marked && i < 40 ? 3 : 1, 0, now, now + time);
	loom_play(&loom, buf_str(&script));
	return diffed_add(diff, is_new, &loom, &graph_analysis, NULL);
}

TEST(diff_takes_no_percentile_of_a_run_without_the_row_for_0)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	REQUIRE(!diff_new(5, 5, &diff, &fail));
	for (unsigned i = 0; i < 5; i++)
		CHECK(add_run(diff, false, i < 2, 500 + i) && add_run(diff, true, true, 500 + i));
	CHECK(!diffed_finish(diff, NULL, &csv));
	/* The medians of 500, 501 and of 500 to 504. */
	if (!CHECK(strstr(csv.start, "\nfunctions,0x3,p50,500 ns,502 ns,0.3,") &&
		   strstr(csv.start, "\nfunctions,0x3,rate,0.00/s,")))
		printf("%s\n", csv.start);
	out_release(&csv);
}

/* 4 files a side prove one row, 5 two, 6 thirteen. */
TEST(diff_runs_needed_are_those_whose_least_p_passes)
{
	CHECK(diff_runs_needed(1, 0.05) == 4);
	CHECK(diff_runs_needed(2, 0.05) == 5);
	CHECK(diff_runs_needed(13, 0.05) == 6);
	CHECK(diff_runs_needed(1000, 0.05) == 9);
}

/* With few files nothing is proved, so the time that moved orders the rows. */
TEST(diff_puts_what_differs_most_before_what_is_the_same_in_all_runs)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;
	const char *at;
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	REQUIRE(!diff_new(2, 2, &diff, &fail));
	for (unsigned i = 0; i < 2; i++)
		CHECK(add_run(diff, false, false, 500) && add_run(diff, true, true, 500));
	CHECK(!diffed_finish(diff, NULL, &csv));
	at = strstr(csv.start, "functions,0x3,total,0 ns/s,");
	if (!CHECK(at && strstr(at, "functions,0x1,p50,500 ns,500 ns,0.0")))
		printf("%s\n", csv.start);
	out_release(&csv);
}

TEST(diff_shows_the_row_of_one_file_alone_beside_nothing)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;
	const char *at;
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	REQUIRE(!diff_new(1, 1, &diff, &fail));
	CHECK(add_run(diff, false, false, 500) && add_run(diff, true, true, 500));
	CHECK(diffed_finish(diff, "0x3: total > 5%", &csv) == -ENODATA);
	at = strstr(csv.start, "functions,0x3,total,-,20.2 ms/s,");
	if (!CHECK(at && strstr(at, "functions,0x1,p50,500 ns,500 ns,0.0") && strstr(at, ",new,")))
		printf("%s\n", csv.start);
	out_release(&csv);
}

TEST(diff_takes_runs_as_the_unit_where_there_are_several)
{
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	CHECK(compare(6, 7000, 4, 1.1, "0x14: p50 > 5%", &csv) == -ERANGE);
	CHECK(strstr(csv.start, "\nfunctions,0x14,p50,") && !strncmp(strchr(csv.start, '\n'), "\nfunctions,0x14,", 16));
	out_clear(&csv);
	CHECK(compare(6, 8000, FUNCTIONS, 1, "p50 > 0%", &csv) == 0);
	CHECK(diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,") <= 2);
	out_release(&csv);
}

/* 6 files a side can prove 2 of 924, and Holm asks for 5 % / 13 of the first row; 5 files can only prove 2 of 252. */
TEST(diff_says_when_there_are_too_few_runs_for_so_many_rows)
{
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	CHECK(compare(5, 7000, 4, 2, "0x14: p50 > 5%", &csv) == -ENODATA);
	CHECK(!diffed_count(&csv, ",+,") && !diffed_count(&csv, ",~,") && diffed_count(&csv, ",?,") == 13 * 4);
	out_release(&csv);
}

TEST(diff_ranks_are_those_of_the_exact_test)
{
	/* The smallest p that is possible with this many values on a side: 2 / (ways to choose them). */
	static const struct {
		size_t nr;
		double p;
		bool bounded;
	} wants[] = { { 3, 0.1, false }, { 4, 2.0 / 70, true }, { 5, 2.0 / 252, true } };
	const double old[] = { 1, 2, 3, 4, 5 }, new[] = { 10, 20, 30, 40, 50 };

	for (size_t i = 0; i < array_size(wants); i++) {
		struct diff_test test = { .bounded = false };

		diff_ranks(old, wants[i].nr, new, wants[i].nr, 0.5, &test);
		CHECK(fabs(test.p - wants[i].p) < 1e-9 && test.bounded == wants[i].bounded);
	}
	for (size_t i = 0; i < 2; i++) {
		struct diff_test test = { .bounded = false };

		diff_ranks(old, 4, i ? old : (const double[]){ 2, 2, 2, 2 }, 4, 0.5, &test);
		CHECK(test.p > 0.5);
	}
}

TEST(diff_conditions_say_what_is_wrong_with_them)
{
	struct diff_condition condition;
	struct fail fail = FAIL_INIT;

	CHECK(!diff_condition_parse("vfs_*: p50 > 5%", &condition, &fail) && !strcmp(condition.row, "vfs_*") &&
	      condition.figure == DIFF_P50 && !condition.below && fabs(condition.change - 0.05) < 1e-12);
	CHECK(!diff_condition_parse("rate<-10 %", &condition, &fail) && condition.below &&
	      fabs(condition.change + 0.1) < 1e-12);
	CHECK(diff_condition_parse("mean > 5%", &condition, &fail) &&
	      strstr(fail.text, "there are p50, p99, rate and total"));
	CHECK(diff_condition_parse("p50 = 5%", &condition, &fail) && strstr(fail.text, "FIGURE > N%"));
	CHECK(diff_condition_parse("p50 > 5", &condition, &fail) && strstr(fail.text, "is no change"));
	CHECK(diff_condition_parse("p50 > much%", &condition, &fail));
	CHECK(diff_condition_parse(": p50 > 5%", &condition, &fail) && strstr(fail.text, "name of a row"));
	CHECK(diff_condition_parse("", &condition, &fail));
}
