// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/clock/pings.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define S INT64_C(1000000000)

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* From lo to hi. */
static int64_t any(uint64_t *state, int64_t lo, int64_t hi)
{
	return lo + (int64_t)(next(state) % (uint64_t)(hi - lo + 1));
}

/* Two machines whose clocks are known. The near clock is the true time. */
struct world {
	uint64_t seed;
	int64_t there, back, jitter; /* the shortest way of a message, and what may be added */
	int64_t offset, drift_ppb;   /* of the far clock */
	int64_t step, step_at; /* it jumps then; a negative step: its machine sleeps so long, and it stands still */
	int64_t since, until;
	int64_t last_before, first_after; /* the pings beside the jump, in the near clock */
};

static int64_t far_at(const struct world *world, int64_t near)
{
	int64_t gone = near - world->since, step = near >= world->step_at ? world->step : 0;

	if (near >= world->step_at && near - world->step_at < -step)
		step = world->step_at - near;
	return near + world->offset + gone * world->drift_ppb / S + step;
}

/* Now and then a message waits long. */
static int64_t way(struct world *world, int64_t shortest)
{
	int64_t more = any(&world->seed, 0, world->jitter);

	return shortest + (any(&world->seed, 0, 99) ? more : 100 * more);
}

static void ping(struct world *world, int64_t *now, struct buf *into)
{
	int64_t then = *now + way(world, world->there), end;
	struct ping ping = { .clock = "local", .lo = (uint64_t)*now };

	if (world->step < 0 && then >= world->step_at && then < world->step_at - world->step)
		then = world->step_at - world->step;
	end = then + way(world, world->back);
	ping.hi = (uint64_t)end;
	ping.far = (uint64_t)far_at(world, then);
	CHECK(ping_put(&ping, into));
	if (then < world->step_at)
		world->last_before = then;
	else if (!world->first_after)
		world->first_after = then;
	*now = end;
}

static void ping_all(struct world *world, struct buf *into)
{
	int64_t now = world->since;

	CHECK(pings_put_near("0b1c", "far away", into));
	for (int i = 0; i < 64; i++)
		ping(world, &now, into);
	while (now < world->until) {
		now += S;
		for (int i = 0; i < 8; i++)
			ping(world, &now, into);
	}
	world->until = now;
}

static struct pings *fitted(const struct buf *text)
{
	struct pings *pings = NULL;

	CHECK(!pings_new(text->data, text->len, 0, &pings, NULL));
	return pings;
}

/* The largest error of the estimate at 200 times. */
static int64_t judge(struct world *world, const struct pings *pings)
{
	int64_t worst = 0;

	for (int i = 0; i < 200; i++) {
		int64_t near = any(&world->seed, world->since, world->until), far = far_at(world, near);
		uint64_t half;
		int64_t away = llabs(pings_ahead(pings, (uint64_t)far, &half) - (near - far));
		bool unknown = world->step && near > world->last_before && near < world->first_after;

		/* Nothing happens in a machine that sleeps. */
		if (world->step < 0 && near >= world->step_at && near < world->step_at - world->step)
			continue;
		if ((uint64_t)away > half)
			printf("at %" PRId64 " of %" PRId64 ": %" PRId64 " ns away, but +-%" PRIu64 "\n",
			       near - world->since, world->until - world->since, away, half);
		CHECK((uint64_t)away <= half);
		if (!unknown && away > worst)
			worst = away;
	}
	return worst;
}

TEST(pings_bounds_have_the_truth_in_a_thousand_recordings)
{
	static const int64_t ways[][3] = { { 100 * US, 100 * US, 50 * US },
					   { 100 * US, 180 * US, 50 * US },
					   { 8 * US, 8 * US, 4 * US },
					   { 180 * US, 100 * US, 50 * US },
					   { 30 * US, 3000 * US, 10 * US } };
	static const int64_t most[] = { 3 * US, 45 * US, 3 * US, 45 * US, 1490 * US };
	uint64_t seed = 88172645463325252U;

	for (int i = 0; i < 1000; i++) {
		int kind = i % 5;
		cleanup_buf struct buf text = BUF_INIT;
		struct world world = { .seed = next(&seed),
				       .there = ways[kind][0],
				       .back = ways[kind][1],
				       .jitter = ways[kind][2],
				       .offset = any(&seed, 0, 1000000 * S),
				       .drift_ppb = any(&seed, -100000, 100000),
				       .since = any(&seed, 10 * S, 1000000 * S) };
		struct pings *pings;
		int64_t worst;

		world.until = world.since + any(&seed, S, 600 * S);
		if (i % 3 == 1)
			world.step = any(&seed, 10000 * US, 100 * S) * (any(&seed, 0, 1) ? 1 : -1);
		world.step_at = any(&seed, world.since, world.until);
		ping_all(&world, &text);
		pings = fitted(&text);
		CHECK(pings);
		worst = judge(&world, pings);
		/* The few pings of a short piece may all have waited. */
		CHECK(worst <= most[kind] + (world.step || world.until - world.since < 60 * S ? world.jitter / 4 : 0));
		pings_free(pings);
	}
}

TEST(pings_tell_a_jump_and_the_drift)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct world world = { .seed = 7,
			       .there = 100 * US,
			       .back = 100 * US,
			       .jitter = 10 * US,
			       .offset = 5 * S,
			       .drift_ppb = 20000,
			       .step = 2 * S,
			       .since = 1000 * S,
			       .until = 1100 * S,
			       .step_at = 1050 * S };
	struct pings_piece piece;
	struct pings *pings;
	int64_t near = 1090 * S;

	ping_all(&world, &text);
	pings = fitted(&text);
	REQUIRE(pings);
	CHECK_STR(pings_host(pings), "far away");
	CHECK_STR(pings_boot_id(pings), "0b1c");
	CHECK(pings_count(pings) > 800 && pings_shortest(pings) >= 200000 && pings_shortest(pings) < 204000);
	CHECK(pings_piece(pings, 0, &piece) && piece.drift_lo_ppb <= -20000 && piece.drift_hi_ppb >= -20000);
	CHECK(piece.drift_hi_ppb - piece.drift_lo_ppb < 10000);
	CHECK(pings_piece(pings, 1, &piece) && llabs(piece.step_ns + 2 * S) < 200 * US);
	CHECK(!pings_piece(pings, 2, &piece));
	CHECK(llabs((int64_t)pings_back(pings, (uint64_t)near) - far_at(&world, near)) < 3 * US);
	pings_free(pings);
}

TEST(pings_of_a_clock_that_counts_no_ns_or_of_damaged_lines_tell_nothing)
{
	static const char text[] =
		"from b h\nx86-tsc 1 2 3\nlocal 2 1 3\nlocal 1 2\nlocal 1 2 3 4\nlocal 1 99999999999999999999 3\n";
	struct pings *pings;

	CHECK(!pings_new(text, sizeof(text) - 1, 0, &pings, NULL) && !pings);
}
