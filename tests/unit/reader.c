// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/reader/reader.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/spans.h"
#include "lib/meaning/query/selection.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/golden.h"
#include "tests/unit/player.h"
#include "tests/unit/test.h"

static const char *const files[] = {
	"tests/fixtures/golden/6.12-events-sched.dat",
	"tests/fixtures/golden/6.1-rt-events-sched.dat",
};

/* Opens one file or both. False if one of them cannot be opened. */
static bool open_reader(struct reader *reader, struct trace **traces, size_t first, size_t nr)
{
	bool ok = true;

	reader_init(reader);
	for (size_t i = 0; ok && i < nr; i++)
		ok = !trace_open(files[first + i], &traces[i], NULL) && !reader_add_trace(reader, traces[i], NULL);
	return ok;
}

static void close_reader(struct reader *reader, struct trace **traces, size_t nr)
{
	reader_release(reader);
	for (size_t i = 0; i < nr; i++)
		if (traces[i])
			trace_free(traces[i]);
}

/* Three consumers of different kinds: a sum over all bytes, switches per task by a bound field, time on CPUs. */
struct sums {
	uint64_t events, bytes;
};

static void see_bytes(void *arg, const struct event *event)
{
	struct sums *sums = arg;

	sums->events++;
	sums->bytes = sums->bytes * 31 + event->ts + event->cpu + event->buffer;
	for (uint32_t i = 0; event->kind == EVENT_RECORD && i < event->len; i++)
		sums->bytes = sums->bytes * 31 + event->data[i];
}

struct targets {
	const struct schema_abi *abi;
	struct place *next_pid; /* indexed by event_type::index */
	uint64_t switches, sum;
};

static void see_targets(void *arg, const struct event *event)
{
	struct targets *targets = arg;
	struct place *place;

	if (event->kind != EVENT_RECORD || !event->type->format || strcmp(event->type->format->name, "sched_switch"))
		return;
	place = &targets->next_pid[event->type->index];
	if (!place->field)
		(void)place_bind(place, event->type->format, targets->abi, "next_pid");
	targets->switches++;
	targets->sum += place_u64(place, event) * targets->switches;
}

struct times {
	struct spans *spans;
	uint64_t spans_seen, lasted;
};

static void see_times(void *arg, const struct event *event)
{
	struct times *times = arg;
	struct span span;

	if (!spans_see(times->spans, event, &span))
		return;
	times->spans_seen++;
	times->lasted += span.lasted;
}

struct results {
	struct sums sums;
	struct targets targets;
	struct times times;
};

/* Runs the consumers whose bit is set. */
static bool pass(unsigned which, struct results *results)
{
	struct reader_consumer consumers[3];
	struct trace *traces[1] = { NULL };
	struct reader reader;
	size_t nr = 0;
	bool ok = open_reader(&reader, traces, 0, 1);

	if (!ok)
		return false;
	results->targets.next_pid = calloc(EVENT_TYPES_MAX, sizeof(struct place));
	results->targets.abi = &reader.buffers[0].context->abi;
	results->times.spans = spans_new(reader.buffers[0].context);
	if (which & 1)
		consumers[nr++] = (struct reader_consumer){ see_bytes, &results->sums };
	if (which & 2)
		consumers[nr++] = (struct reader_consumer){ see_targets, &results->targets };
	if (which & 4)
		consumers[nr++] = (struct reader_consumer){ see_times, &results->times };
	ok = ok && !reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL) &&
	     !reader_run(&reader, consumers, nr, NULL);
	spans_free(results->times.spans);
	free(results->targets.next_pid);
	close_reader(&reader, traces, 1);
	return ok;
}

TEST(reader_shows_three_consumers_in_one_pass_what_each_sees_in_a_pass_of_its_own)
{
	struct results together = { .sums.events = 0 }, apart = { .sums.events = 0 };

	REQUIRE(pass(7, &together));
	REQUIRE(pass(1, &apart) && pass(2, &apart) && pass(4, &apart));
	CHECK(together.sums.events > 50 && together.sums.events == apart.sums.events &&
	      together.sums.bytes == apart.sums.bytes);
	CHECK(together.targets.switches > 10 && together.targets.switches == apart.targets.switches);
	CHECK(together.targets.sum == apart.targets.sum);
	CHECK(together.times.spans_seen > 10 && together.times.spans_seen == apart.times.spans_seen);
	CHECK(together.times.lasted == apart.times.lasted);
}

static struct sums in_batches(size_t max, bool windowed)
{
	struct trace *traces[1] = { NULL };
	struct sums sums = { 0 };
	struct event events[7];
	struct reader reader;
	int nr = -1;

	if (open_reader(&reader, traces, 0, 1)) {
		/* With `skip` the reader must look at each event and hands the events out one by one. */
		if (windowed)
			reader.buffers[0].skip = 5;
		if (!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL)) {
			while ((nr = reader_batch(&reader, events, max, NULL)) > 0)
				for (int i = 0; i < nr; i++)
					see_bytes(&sums, &events[i]);
		}
	}
	close_reader(&reader, traces, 1);
	sums.events += nr ? UINT32_MAX : 0;
	return sums;
}

TEST(reader_gives_the_same_events_in_batches_of_any_size)
{
	struct results alone = { .sums.events = 0 };

	REQUIRE(pass(1, &alone));
	for (size_t max = 1; max <= 7; max++) {
		struct sums sums = in_batches(max, false);

		CHECK(sums.events == alone.sums.events && sums.bytes == alone.sums.bytes);
	}
	CHECK(in_batches(7, true).events + 5 == alone.sums.events);
}

/* Each of two files gives the same events alone and beside the other file, and times never go back. */
TEST(reader_merges_two_files_by_time_and_says_whose_each_event_is)
{
	struct trace *traces[2] = { NULL }, *alone[1] = { NULL };
	struct sums merged[2] = { { 0 } }, single[2] = { { 0 } };
	unsigned changes = 0, back = 0;
	struct reader reader;
	struct event event;
	uint64_t last = 0;
	uint16_t buffer = 0;

	REQUIRE(open_reader(&reader, traces, 0, 2) && reader.nr_buffers == 2);
	REQUIRE(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
	while (reader_next(&reader, &event, NULL) > 0) {
		back += event.ts < last;
		last = event.ts;
		changes += event.buffer != buffer;
		buffer = event.buffer;
		REQUIRE(buffer < 2);
		event.buffer = 0;
		see_bytes(&merged[buffer], &event);
	}
	CHECK(!back && changes && reader_count(&reader) >= merged[0].events + merged[1].events);
	close_reader(&reader, traces, 2);
	for (size_t i = 0; i < 2; i++) {
		REQUIRE(open_reader(&reader, alone, i, 1) &&
			!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
		while (reader_next(&reader, &event, NULL) > 0)
			see_bytes(&single[i], &event);
		CHECK(single[i].events > 50 && single[i].events == merged[i].events &&
		      single[i].bytes == merged[i].bytes);
		close_reader(&reader, alone, 1);
	}
}

/* The second half of a pass: the events that the live buffer still brings until it has ended. */
static unsigned read_with_live(struct reader *reader, struct player *player, struct source *live, struct sums sums[3],
			       uint64_t *last)
{
	unsigned back = 0;

	for (unsigned rounds = 0; rounds < 2000; rounds++) {
		struct event event;

		if (!player->left)
			live_source_end(live);
		CHECK(live_source_take(live, false, NULL, NULL) >= 0);
		reader_resume(reader);
		while (reader_next(reader, &event, NULL) > 0) {
			uint16_t buffer = event.buffer;

			back += event.ts < *last;
			*last = event.ts;
			event.buffer = 0;
			see_bytes(&sums[buffer], &event);
		}
	}
	return back;
}

TEST(reader_merges_two_files_and_a_live_source_by_time)
{
	struct trace *traces[3] = { NULL };
	struct sums sums[3] = { { 0 } };
	struct source *live = NULL;
	struct player player;
	struct reader reader;
	uint64_t last = 0;

	REQUIRE(open_reader(&reader, traces, 0, 2) && !trace_open(files[0], &traces[2], NULL));
	REQUIRE(!reader_add(&reader, traces[2], 0, NULL) && reader.nr_buffers == 3);
	REQUIRE(player_new(&player, traces[2], 2, 1 << 20, NULL, &live));
	reader.buffers[2].window.source = live;
	REQUIRE(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
	CHECK(!read_with_live(&reader, &player, live, sums, &last));
	/* The live buffer plays the first file. */
	CHECK(sums[0].events > 50 && sums[2].events == sums[0].events && sums[2].bytes == sums[0].bytes);
	CHECK(sums[1].events > 50 && sums[1].bytes != sums[0].bytes);
	CHECK(reader_count(&reader) >= sums[0].events + sums[1].events + sums[2].events);
	close_reader(&reader, traces, 3);
	player_release(&player);
}

struct stopping {
	struct reader *reader;
	uint64_t seen, limit;
};

static void see_until(void *arg, const struct event *event)
{
	struct stopping *stopping = arg;

	(void)event;
	if (++stopping->seen == stopping->limit)
		reader_stop(stopping->reader);
}

TEST(reader_ends_a_pass_when_a_consumer_stops_it)
{
	struct trace *traces[2] = { NULL };
	struct sums sums = { 0 };
	struct reader reader;
	struct stopping stopping = { .reader = &reader, .limit = 10 };
	const struct reader_consumer consumers[] = { { see_until, &stopping }, { see_bytes, &sums } };

	REQUIRE(open_reader(&reader, traces, 0, 2) &&
		!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
	CHECK(!reader_run(&reader, consumers, 2, NULL));
	CHECK(stopping.seen == 10 && sums.events == 10);
	close_reader(&reader, traces, 2);
}

TEST(reader_does_not_compare_times_of_different_clocks)
{
	struct trace *traces[2] = { NULL };
	unsigned changes = 0, count = 0;
	struct reader reader;
	struct event event;
	uint16_t buffer = 0;

	REQUIRE(open_reader(&reader, traces, 0, 2));
	reader.buffers[1].context->clock = "some other";
	REQUIRE(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL) && !reader_is_merged(&reader));
	while (reader_next(&reader, &event, NULL) > 0) {
		changes += event.buffer != buffer;
		buffer = event.buffer;
		count++;
	}
	CHECK(count > 200 && changes == 1 && buffer == 1);
	close_reader(&reader, traces, 2);
}

enum { ALL_MAX = 4096 };

static size_t collect(const struct events_options *window, const char *comm, uint64_t tail, uint64_t *ret)
{
	struct trace *traces[2] = { NULL };
	struct reader reader;
	struct event event;
	size_t nr = 0;
	bool ok = open_reader(&reader, traces, 0, 2);

	for (size_t i = 0; ok && i < reader.nr_buffers; i++) {
		reader.buffers[i].window.since = window->since;
		reader.buffers[i].window.until = window->until;
		ok = !comm || (!selection_new(reader.buffers[i].context, &reader.buffers[i].selection, NULL) &&
			       !selection_add_comm(reader.buffers[i].selection, comm, NULL));
	}
	ok = ok && (tail == UINT64_MAX || !reader_tail(&reader, tail, NULL));
	ok = ok && !reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL);
	while (ok && nr < ALL_MAX && reader_next(&reader, &event, NULL) > 0)
		if (event.kind == EVENT_RECORD)
			ret[nr++] = event.ts << 1 | event.buffer;
	CHECK(ok);
	close_reader(&reader, traces, 2);
	return nr;
}

TEST(reader_leaves_the_last_events_of_all_buffers_together_and_those_of_a_window)
{
	uint64_t *all = calloc(ALL_MAX, sizeof(*all)), *some = calloc(ALL_MAX, sizeof(*some)), since, until;
	const struct events_options whole = { .until = UINT64_MAX };
	size_t nr, left, first = 0, end;

	REQUIRE(all && some);
	nr = collect(&whole, NULL, UINT64_MAX, all);
	REQUIRE(nr > 200 && nr < ALL_MAX);
	for (uint64_t tail = 0; tail < 150; tail += 7) {
		left = collect(&whole, NULL, tail, some);
		CHECK_MEM(some, left * sizeof(*some), all + nr - tail, (size_t)tail * sizeof(*all));
	}
	CHECK(collect(&whole, NULL, 2 * nr, some) == nr);
	since = all[nr / 3] >> 1;
	until = all[nr / 3 * 2] >> 1;
	while (all[first] >> 1 < since)
		first++;
	for (end = first; end < nr && all[end] >> 1 <= until;)
		end++;
	left = collect(&(struct events_options){ .since = since, .until = until }, NULL, UINT64_MAX, some);
	CHECK_MEM(some, left * sizeof(*some), all + first, (end - first) * sizeof(*all));
	CHECK(!collect(&whole, "nobody of this name", UINT64_MAX, some));
	free(all);
	free(some);
}
