// SPDX-License-Identifier: GPL-2.0-only
/* Rates per event: what a unit of work takes stays the same however often it is done. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/stats/diff_internal.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/diffed.h"
#include "tests/unit/test.h"

enum { WORKS = 600, CALLS = 4 };

/*
 * In each of WORKS rounds a task writes "work", and calls 0x10 from 1 to CALLS times, in one round of `extra` once more
 * (0: never). A pause of about `pause` ns follows, four times as long in the second half. It writes "start" once.
 */
static void play(struct loom *loom, uint64_t seed, uint64_t pause, unsigned extra)
{
	cleanup_buf struct buf script = BUF_INIT;
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1, now = 1000;

	CHECK(buf_add_str(&script, "0 1000 7 start\n"));
	for (unsigned round = 0; round < WORKS; round++) {
		uint64_t calls = 1 + diffed_random(&state) % CALLS + (extra && round % extra == 0);

		CHECK(buf_addf(&script, "0 %" PRIu64 " 7 work\n", now += 10));
		for (unsigned i = 0; i < calls; i++) {
			uint64_t start = now += 50;

			now += (uint64_t)diffed_duration(&state, 800);
			diffed_call(&script, 0x10, 0, start, now);
		}
		now += (pause / 2 + diffed_random(&state) % pause) * (round < WORKS / 2 ? 1 : 4);
	}
	loom_play(loom, buf_str(&script));
}

static void add(struct diff *diff, bool is_new, const char *event, uint64_t seed, uint64_t pause, unsigned extra)
{
	struct loom loom;

	loom_init(&loom);
	loom_graph(&loom);
	loom_type(&loom, "test", "work", "int number", "\"\"");
	loom_type(&loom, "test", "start", "int number", "\"\"");
	play(&loom, seed, pause, extra);
	CHECK(event ? diffed_add_counted(diff, is_new, &loom, &graph_analysis, event) :
		      diffed_add(diff, is_new, &loom, &graph_analysis, NULL));
}

struct compared {
	char verdict;
	double change; /* percent */
	double sees;   /* of ~: percent */
};

/* The line without quotes, and without the commas of "1,234/s". */
static void copy_plain(const char *from, char *to, size_t size)
{
	bool quoted = false;

	for (; *from && *from != '\n' && size > 1; from++) {
		quoted ^= *from == '"';
		if (*from == '"' || (quoted && *from == ','))
			continue;
		*to++ = *from;
		size--;
	}
	*to = '\0';
}

/* Returns what the CSV says of a figure of 0x10; the verdict is 0 if it has no such line. */
static struct compared of(const struct out *csv, const char *figure)
{
	struct compared compared = { 0 };
	char start[64], text[2][32], line[512] = "";
	const char *at;

	snprintf(start, sizeof(start), "\nfunctions,0x10,%s,", figure);
	at = strstr(csv->start, start);
	if (at)
		copy_plain(at + strlen(start), line, sizeof(line));
	if (CHECK(at) && !CHECK(sscanf(line, "%31[^,],%31[^,],%lf,%*[^,],%*[^,],%c,%lf", text[0], text[1],
				       &compared.change, &compared.verdict, &compared.sees) >= 4 ||
				sscanf(line, "%31[^,],%31[^,],%lf,,,%c", text[0], text[1], &compared.change,
				       &compared.verdict) == 4))
		printf("%.200s\n", at);
	return compared;
}

/* Compares `runs` runs a side; on the new side the pauses are half as long, and there are extra calls. */
static void compare(unsigned runs, const char *event, uint64_t seed, unsigned extra, struct out *csv)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;

	REQUIRE(!diff_new(runs, runs, &diff, &fail));
	if (event)
		diff_per(diff, DIFF_PER_EVENT, event);
	for (unsigned i = 0; i < runs; i++) {
		add(diff, false, event, seed + 2 * i, 40000, 0);
		add(diff, true, event, seed + 2 * i + 1, 20000, extra);
	}
	out_clear(csv);
	CHECK(!diffed_finish(diff, NULL, csv));
}

TEST(diff_per_event_calls_no_change_that_more_work_is_done)
{
	unsigned changed = 0;
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	for (uint64_t seed = 1; seed <= 40; seed += 2) {
		struct compared rate, total;

		compare(1, NULL, seed, 0, &csv);
		CHECK(of(&csv, "rate").change > 50);
		compare(1, "work", seed, 0, &csv);
		rate = of(&csv, "rate");
		total = of(&csv, "total");
		changed += rate.verdict != '~';
		changed += total.verdict != '~';
		/* Blocks of the second half have fewer calls, but also less work: what it takes is known closely. */
		CHECK(rate.verdict != '~' || rate.sees < 31);
		if (!CHECK(rate.change > -15 && rate.change < 15 && total.change > -15 && total.change < 15))
			printf("%.300s\n", csv.start);
	}
	if (!CHECK(changed <= 2))
		printf("%u of 40\n", changed);
	out_release(&csv);
}

TEST(diff_per_event_sees_work_that_takes_more_calls)
{
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	/* One more call in each round: 3.5 in place of 2.5. */
	compare(1, "work", 77, 1, &csv);
	if (!CHECK(of(&csv, "rate").verdict == '+' && of(&csv, "rate").change > 33 && of(&csv, "rate").change < 47 &&
		   of(&csv, "total").verdict == '+' && of(&csv, "p50").verdict == '~'))
		printf("%.600s\n", csv.start);
	compare(5, "work", 99, 1, &csv);
	if (!CHECK(of(&csv, "rate").verdict == '+' && of(&csv, "rate").change > 33 && of(&csv, "rate").change < 47))
		printf("%.600s\n", csv.start);
	out_release(&csv);
}

TEST(diff_per_event_needs_enough_of_the_event)
{
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	/* "start" happened once: the figures are those of the whole file, and only durations are tested. */
	compare(1, "start", 5, 0, &csv);
	if (!CHECK(of(&csv, "rate").verdict == '?' && of(&csv, "total").verdict == '?' &&
		   of(&csv, "p50").verdict == '~'))
		printf("%.600s\n", csv.start);
	out_release(&csv);
}
