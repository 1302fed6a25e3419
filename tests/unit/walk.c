// SPDX-License-Identifier: GPL-2.0-only
#include "lib/reader/walk.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/query/selection.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a plain reader says of a file, in its order: the judge of the walk. */
struct told {
	struct one {
		uint64_t ts;
		uint32_t sum, len; /* of the bytes */
		uint16_t cpu;
		uint8_t kind;
	} * ones;
	size_t nr;
};

struct walked {
	struct trace *trace;
	struct reader reader;
	struct walk *walk;
	struct told told;
	struct fail fail;
};

static struct one one_of(const struct event *event)
{
	struct one one = { .ts = event->ts, .cpu = event->cpu, .kind = event->kind };

	if (event->kind != EVENT_RECORD)
		return one;
	one.len = event->len;
	for (uint32_t i = 0; i < event->len; i++)
		one.sum = one.sum * 31 + event->data[i];
	return one;
}

static bool same(const struct one *a, const struct event *event)
{
	struct one b = one_of(event);

	return a->ts == b.ts && a->sum == b.sum && a->len == b.len && a->cpu == b.cpu && a->kind == b.kind;
}

static bool open_reader(struct walked *walked, const char *events)
{
	struct reader *reader = &walked->reader;

	reader_init(reader);
	if (reader_add_trace(reader, walked->trace, &walked->fail))
		return false;
	for (size_t i = 0; events && i < reader->nr_buffers; i++)
		if (selection_new(reader->buffers[i].context, &reader->buffers[i].selection, &walked->fail) ||
		    selection_add_events(reader->buffers[i].selection, events, &walked->fail))
			return false;
	return !reader_start(reader, &(struct reader_options){ .pool = NULL }, &walked->fail);
}

static bool tell(struct walked *walked)
{
	struct told *told = &walked->told;
	struct event event;
	size_t size = 0;
	int r;

	while ((r = reader_next(&walked->reader, &event, &walked->fail)) > 0) {
		if (told->nr == size) {
			size = size ? 2 * size : 1024;
			told->ones = realloc(told->ones, size * sizeof(*told->ones));
			if (!told->ones)
				abort();
		}
		told->ones[told->nr++] = one_of(&event);
	}
	return !r;
}

static bool walked_init(struct walked *walked, struct trace *trace, const char *events,
			const struct walk_options *options)
{
	*walked = (struct walked){ .trace = trace };
	if (!trace || !open_reader(walked, events) || !tell(walked))
		return false;
	reader_release(&walked->reader);
	return open_reader(walked, events) && !walk_new(&walked->reader, options, &walked->walk, &walked->fail);
}

static void walked_release(struct walked *walked)
{
	walk_free(walked->walk);
	reader_release(&walked->reader);
	trace_free(walked->trace);
	free(walked->told.ones);
}

/* Takes `count` steps from before event `at`; returns the number of steps that were right, and where it stands. */
static size_t steps(struct walked *walked, size_t *at, size_t count, bool back)
{
	const struct walk_event *event;

	for (size_t i = 0; i < count; i++) {
		bool can = back ? *at > 0 : *at < walked->told.nr;
		int r = back ? walk_previous(walked->walk, &event, &walked->fail) :
			       walk_next(walked->walk, &event, &walked->fail);

		if (r != can || (can && !same(&walked->told.ones[*at - back], &event->event)))
			return i;
		if (can)
			*at += back ? (size_t)-1 : 1;
	}
	return count;
}

static void check_both_ways(struct walked *walked)
{
	size_t at = 0, nr = walked->told.nr;

	CHECK(steps(walked, &at, nr + 2, false) == nr + 2);
	CHECK(steps(walked, &at, nr + 2, true) == nr + 2);
	walk_seek(walked->walk, WALK_END);
	at = nr;
	CHECK(steps(walked, &at, nr + 2, true) == nr + 2);
	walk_seek(walked->walk, WALK_END);
	at = nr;
	CHECK(steps(walked, &at, 1, true) == 1 && steps(walked, &at, 2, false) == 2);
}

/* Goes to the time of an event, and to its place, from anywhere, and some steps on and back. */
static void check_jumps(struct walked *walked, unsigned count)
{
	uint32_t random = 12345;

	for (unsigned i = 0; i < count; i++) {
		size_t target, at, first;
		const struct walk_event *event;
		struct walk_place place;

		random = random * 1664525 + 1013904223;
		target = (random >> 8) % walked->told.nr;
		for (first = target; first && walked->told.ones[first - 1].ts == walked->told.ones[target].ts;)
			first--;
		place = (struct walk_place){ .ts = walked->told.ones[target].ts, .nth = target - first };
		if (i % 3)
			place.nth = 0;
		walk_seek(walked->walk, place);
		at = first + place.nth;
		if (random >> 7 & 1)
			CHECK(steps(walked, &at, random >> 4 & 63, true) == (random >> 4 & 63));
		CHECK(steps(walked, &at, 1, false) == 1);
		CHECK(walk_next(walked->walk, &event, &walked->fail) == (at < walked->told.nr));
		if (at < walked->told.nr)
			at++;
		place = walk_stands(walked->walk);
		walk_seek(walked->walk, WALK_START);
		walk_seek(walked->walk, place);
		CHECK(steps(walked, &at, 3, true) == 3);
	}
}

/* Bursts, silence, equal times on one CPU and on two, and losses. */
static struct trace *uneven(void)
{
	struct buf script = { .data = NULL };
	struct loom loom;
	struct trace *trace;
	uint64_t ts = 5000000000;

	loom_init(&loom);
	for (int i = 0; i < 9000; i++) {
		ts += i % 1000 == 999 ? 7000000000000 : i % 7 < 3 ? 0 : (uint64_t)i % 5 * 100;
		if (i % 640 == 5)
			CHECK(buf_addf(&script, "%d lost %d\n", i & 1, i));
		CHECK(buf_addf(&script, "%d %llu 7 sched_%s comm=x%d pid=%d prio=120\n", i % 11 < 5,
			       (unsigned long long)ts, i % 50 ? "waking" : "wakeup", i, i));
	}
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	loom_release(&loom);
	buf_release(&script);
	return trace;
}

TEST(walk_tells_what_a_reader_tells_in_both_directions)
{
	struct walked walked;

	REQUIRE(walked_init(&walked, uneven(), NULL, &(struct walk_options){ .stop = NULL }));
	CHECK(walked.told.nr > 9000);
	check_both_ways(&walked);
	check_jumps(&walked, 500);
	walked_release(&walked);
}

TEST(walk_tells_the_selected_events_only)
{
	struct walked walked;

	REQUIRE(walked_init(&walked, uneven(), "sched_wakeup", &(struct walk_options){ .stop = NULL }));
	CHECK(walked.told.nr > 180 && walked.told.nr < 300);
	check_both_ways(&walked);
	check_jumps(&walked, 200);
	walked_release(&walked);
}

TEST(walk_stays_at_a_place_that_it_returned)
{
	static const char *const files[] = {
		"tests/fixtures/golden/6.12-events-sched.dat",
		"tests/fixtures/golden/6.12-function_graph.dat",
	};

	for (size_t i = 0; i < array_size(files); i++) {
		struct trace *trace = NULL;
		struct walked walked;

		REQUIRE(!trace_open(files[i], &trace, NULL));
		REQUIRE(walked_init(&walked, trace, NULL, &(struct walk_options){ .stop = NULL }));
		CHECK(walked.told.nr > 50);
		check_both_ways(&walked);
		check_jumps(&walked, 300);
		walked_release(&walked);
	}
}

static bool stop_at_once(void *arg, uint64_t ts, int direction)
{
	int *asked = arg;

	(void)ts;
	(void)direction;
	return ++*asked > 0;
}

TEST(walk_ends_a_search_that_its_owner_stops_and_stands_where_it_stood)
{
	int asked = 0;
	struct walk_options options = { .stop = stop_at_once, .arg = &asked };
	const struct walk_event *event;
	struct walked walked;
	size_t at = 0;

	/* No event meets it: 9,000 events are read. */
	REQUIRE(walked_init(&walked, uneven(), "sched_switch", &options));
	CHECK(walk_next(walked.walk, &event, &walked.fail) == -ECANCELED);
	CHECK(asked == 1 && !walk_compare(walk_stands(walked.walk), WALK_START));
	walked_release(&walked);
	asked = 0;
	REQUIRE(walked_init(&walked, uneven(), NULL, &options));
	CHECK(steps(&walked, &at, 3000, false) == 3000);
	CHECK(!asked);
	walk_seek(walked.walk, WALK_END);
	asked = -1000;
	at = walked.told.nr;
	CHECK(steps(&walked, &at, 10, true) == 10);
	walked_release(&walked);
}

TEST(walk_refuses_buffers_whose_clocks_differ)
{
	struct trace *traces[2] = { NULL };
	struct loom loom;
	struct reader reader;
	struct walk *walk = NULL;
	struct fail fail = { .text = "" };

	for (int i = 0; i < 2; i++) {
		loom_init(&loom);
		loom.clock = i ? "mono" : "local";
		loom_play(&loom, "0 1000 7 sched_waking comm=ls pid=8 prio=120\n");
		traces[i] = loom_trace(&loom);
		loom_release(&loom);
		REQUIRE(traces[i]);
	}
	reader_init(&reader);
	for (int i = 0; i < 2; i++)
		REQUIRE(!reader_add_trace(&reader, traces[i], &fail));
	REQUIRE(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail));
	CHECK(walk_new(&reader, &(struct walk_options){ .stop = NULL }, &walk, &fail) == -EINVAL);
	CHECK(strstr(fail.text, "different clocks"));
	reader_release(&reader);
	for (int i = 0; i < 2; i++)
		trace_free(traces[i]);
}
