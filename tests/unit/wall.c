// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/clock/wall.h"
#include "tests/unit/test.h"

#define S INT64_C(1000000000)
#define DAY (1795867200 * S)

/* A sample at `s` seconds of boot: CLOCK_REALTIME is `off` ns away from DAY + boot, the trace clock from boot. */
static void put(struct buf *into, const char *clock, int64_t ns, int64_t trace_off, int64_t wall_off, int64_t slept,
		enum wall_why why)
{
	struct wall_sample sample = { .lo = (uint64_t)(ns + trace_off),
				      .hi = (uint64_t)(ns + trace_off),
				      .wall_lo = DAY + ns + wall_off - 100,
				      .wall_hi = DAY + ns + wall_off + 100,
				      .mono = ns - slept,
				      .boot = ns,
				      .error_us = -1,
				      .why = why };

	snprintf(sample.clock, sizeof(sample.clock), "%s", clock);
	(void)!wall_sample_put(&sample, into);
}

static struct wall *wall_at(struct buf *text)
{
	struct wall *wall = NULL;

	CHECK(!wall_new_of_text(text->data, text->len, 0, &wall, NULL));
	return wall;
}

/* Whether the true time of day is inside of the bound, and the bound not larger than said. */
static bool is_true(const struct wall *wall, int64_t ts, int64_t truth, uint64_t most)
{
	uint64_t bound;
	int64_t ns;

	if (!wall_of(wall, (uint64_t)ts, &ns, &bound))
		return false;
	if (bound > most || (uint64_t)llabs(ns - truth) > bound) {
		printf("at %" PRId64 ": %" PRId64 " +- %" PRIu64 ", truth %" PRId64 "\n", ts, ns, bound, truth);
		return false;
	}
	return true;
}

TEST(wall_of_a_drifting_clock_is_on_the_line_between_its_samples)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;
	int64_t drift;
	uint64_t at;

	/* 60 s of the trace clock are 60 s and 3 us of the day: 50 ppb. */
	put(&text, "local", 100 * S, 0, 0, 0, WALL_START);
	put(&text, "local", 160 * S + 3000, -3000, 0, 0, WALL_END);
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(is_true(wall, 100 * S, DAY + 100 * S, 110));
	CHECK(is_true(wall, 120 * S, DAY + 120 * S + 1000, 110));
	CHECK(is_true(wall, 150 * S, DAY + 150 * S + 2500, 110));
	CHECK(is_true(wall, 170 * S, DAY + 170 * S + 3500, 20000));
	CHECK(is_true(wall, 90 * S, DAY + 90 * S - 500, 20000));
	CHECK(wall_drift_ppb(wall, &drift) && drift == 50);
	CHECK(wall_places(wall, DAY + 120 * S + 1000, &at, 1) == 1 && at > (uint64_t)(120 * S - 5) &&
	      at < (uint64_t)(120 * S + 5));
	CHECK(!wall_piece_at(wall, 1));
	wall_free(wall);
}

TEST(wall_bound_holds_while_the_rate_of_the_clock_changes)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;
	bool ok = true;

	/* Its rate changes evenly: off = (minute ns)^2 * 3 us. */
	for (int64_t i = 0; i <= 30; i++)
		put(&text, "local", i * 60 * S + i * i * 3000, -i * i * 3000, 0, 0, i ? WALL_EVERY : WALL_START);
	wall = wall_at(&text);
	REQUIRE(wall);
	for (int64_t i = 0; ok && i < 3000; i++)
		ok = is_true(wall, i * 60 * S / 100, DAY + i * 60 * S / 100 + i * i * 3000 / 10000, 7000);
	CHECK(ok);
	wall_free(wall);
}

TEST(wall_of_an_even_clock_takes_what_all_samples_allow)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;

	put(&text, "mono", 100 * S, 0, 90, 0, WALL_START);
	put(&text, "mono", 160 * S, 0, -90, 0, WALL_END);
	wall = wall_at(&text);
	REQUIRE(wall);
	/* From DAY - 10 to DAY + 10. */
	CHECK(is_true(wall, 130 * S, DAY + 130 * S, 12));
	CHECK(is_true(wall, 99999 * S, DAY + 99999 * S, 12));
	wall_free(wall);
}

TEST(wall_has_a_piece_on_each_side_of_a_step)
{
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t at[2] = { 0 };
	struct wall *wall;

	put(&text, "mono", 100 * S, 0, 0, 0, WALL_START);
	put(&text, "mono", 130 * S, 0, 100 * S, 0, WALL_STEP);
	put(&text, "mono", 160 * S, 0, -50 * S, 0, WALL_STEP);
	put(&text, "mono", 190 * S, 0, -50 * S, 0, WALL_END);
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(is_true(wall, 130 * S - 1, DAY + 130 * S - 1, 200));
	CHECK(is_true(wall, 130 * S, DAY + 230 * S, 200));
	CHECK(is_true(wall, 159 * S, DAY + 259 * S, 200));
	CHECK(is_true(wall, 161 * S, DAY + 111 * S, 200));
	REQUIRE(wall_piece_at(wall, 2) && !wall_piece_at(wall, 3));
	CHECK(wall_piece_at(wall, 1)->step_ns > 99 * S && wall_piece_at(wall, 1)->is_exact);
	CHECK(wall_piece_at(wall, 2)->step_ns < -149 * S);
	/* 12:02 was there twice, and nobody saw 12:03 to 12:03:50. */
	CHECK(wall_places(wall, DAY + 120 * S, at, 2) == 2 && at[0] == (uint64_t)(120 * S) &&
	      at[1] == (uint64_t)(170 * S));
	CHECK(wall_places(wall, DAY + 200 * S, at, 2) == 2 && at[0] == (uint64_t)(130 * S) &&
	      at[1] == (uint64_t)(250 * S));
	wall_free(wall);
}

TEST(wall_step_between_two_samples_is_in_the_bound)
{
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t bound;
	struct wall *wall;
	int64_t ns;

	put(&text, "boot", 100 * S, 0, 0, 0, WALL_START);
	put(&text, "boot", 160 * S, 0, 7 * S, 0, WALL_END);
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(wall_of(wall, (uint64_t)(130 * S), &ns, &bound) && bound > (uint64_t)(6 * S));
	CHECK(is_true(wall, 160 * S, DAY + 167 * S, 200));
	wall_free(wall);
}

TEST(wall_of_a_clock_that_stands_still_in_sleep)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;

	put(&text, "mono", 100 * S, 0, 0, 0, WALL_START);
	put(&text, "mono", 500 * S, -300 * S, 0, 300 * S, WALL_STEP);
	put(&text, "mono", 510 * S, -300 * S, 0, 300 * S, WALL_END);
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(is_true(wall, 150 * S, DAY + 150 * S, 200));
	CHECK(is_true(wall, 205 * S, DAY + 505 * S, 200));
	REQUIRE(wall_piece_at(wall, 1));
	CHECK(wall_piece_at(wall, 1)->slept_ns > 299 * S && !wall_piece_at(wall, 1)->set_ns);
	wall_free(wall);
}

/* Interrupts and tasks ran from 199 s to the sample at 200 s. */
TEST(wall_says_when_the_machine_slept)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;

	put(&text, "mono", 100 * S, 0, 0, 0, WALL_START);
	put(&text, "mono", 499 * S, -300 * S, 0, 300 * S, WALL_SLEPT);
	put(&text, "mono", 500 * S, -300 * S, 0, 300 * S, WALL_RESUME);
	put(&text, "mono", 510 * S, -300 * S, 0, 300 * S, WALL_END);
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(is_true(wall, 198 * S, DAY + 198 * S, 200));
	CHECK(is_true(wall, 199 * S, DAY + 499 * S, 200));
	REQUIRE(wall_piece_at(wall, 1) && !wall_piece_at(wall, 2));
	CHECK(wall_piece_at(wall, 1)->since == (uint64_t)(199 * S) && wall_piece_at(wall, 1)->is_exact);
	wall_free(wall);
}

TEST(wall_of_a_clock_that_runs_on_in_sleep)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;

	put(&text, "boot", 100 * S, 0, 0, 0, WALL_START);
	put(&text, "boot", 500 * S, 0, 0, 300 * S, WALL_RESUME);
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(is_true(wall, 450 * S, DAY + 450 * S, 200));
	REQUIRE(wall_piece_at(wall, 1));
	CHECK(wall_piece_at(wall, 1)->slept_ns > 299 * S && !wall_piece_at(wall, 1)->step_ns);
	wall_free(wall);
}

TEST(wall_of_a_count_needs_two_samples)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall;

	/* 2.5 counts a ns. */
	CHECK(buf_addf(&text, "x86-tsc 1000000000 1000000000 %" PRId64 " %" PRId64 " 1 1 0 0 -1 start\n", DAY, DAY));
	wall = wall_at(&text);
	CHECK(!wall);
	CHECK(buf_addf(&text,
		       "x86-tsc 26000000000 26000000000 %" PRId64 " %" PRId64 " 10000000001 10000000001 0 0 -1 end\n",
		       DAY + 10 * S, DAY + 10 * S));
	wall = wall_at(&text);
	REQUIRE(wall);
	CHECK(is_true(wall, 13500000000, DAY + 5 * S, 10));
	wall_free(wall);
}

TEST(wall_samples_that_are_damaged_are_left_out)
{
	static const char lines[] = "\n"
				    "mono 1 2 3\n"
				    "mono 5 4 100 200 1 1 0 0 -1 start\n"
				    "mono 4 4 200 100 1 1 0 0 -1 start\n"
				    "mono 4 4 100 200 1 1 0 0 -1 startle\n"
				    "mono 4 4 100 200 1 1 0 0 -1 start more\n"
				    "mono 99999999999999999999 99999999999999999999 100 200 1 1 0 0 -1 start\n"
				    "mono -4 -4 100 200 1 1 0 0 -1 start\n"
				    "mono 4 4 -100 200 1 1 0 0 -1 start\n";
	struct wall *wall = NULL;

	CHECK(!wall_new_of_text(lines, strlen(lines), 0, &wall, NULL) && !wall);
}

TEST(wall_samples_move_with_the_times_of_a_file)
{
	cleanup_buf struct buf text = BUF_INIT, moved = BUF_INIT;
	struct wall *wall;

	put(&text, "mono", 100 * S, 0, 0, 0, WALL_START);
	CHECK(wall_samples_shift(text.data, text.len, -40 * S, 0, &moved));
	wall = wall_at(&moved);
	REQUIRE(wall);
	CHECK(is_true(wall, 61 * S, DAY + 101 * S, 200));
	wall_free(wall);
}
