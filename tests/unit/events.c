// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* A teacher adds the formats that the schema lacks, if it knows them. */
struct teacher {
	struct context *context;
	bool knows;
	unsigned asked[1 << 16];
};

static void teach(void *arg, uint16_t id)
{
	struct teacher *teacher = arg;
	size_t count;
	const struct trace_format *formats = trace_formats(teacher->context->trace, &count);

	teacher->asked[id]++;
	for (size_t i = 0; teacher->knows && i < count; i++)
		CHECK(!schema_add(teacher->context->schema, formats[i].system.text, formats[i].system.len,
				  formats[i].text.text, formats[i].text.len, NULL));
	/* Adds all formats at once, so that the reader asks for no other id. */
	teacher->knows = false;
}

/* Reads a whole file whose formats only the teacher has; returns the number of events with a format. */
static uint64_t read_all(struct teacher *teacher, uint64_t *ret_all, unsigned *ret_asked)
{
	struct events_options options = { .until = UINT64_MAX, .learn = teach, .learn_arg = teacher };
	struct trace *trace = NULL;
	struct context *context = NULL;
	struct events *events = NULL;
	struct schema *own, *empty = NULL;
	struct event event;
	uint64_t known = 0;

	*ret_all = *ret_asked = 0;
	if (trace_open("tests/fixtures/golden/6.12-events-sched.dat", &trace, NULL) ||
	    context_new(trace, 0, &context, NULL) || schema_new(&context->abi, &empty, NULL))
		abort();
	own = context->schema;
	context->schema = empty;
	teacher->context = context;
	CHECK(!events_open(context, &options, &events, NULL));
	while (events && events_next(events, &event, NULL) > 0) {
		if (event.kind != EVENT_RECORD)
			continue;
		known += event.type->format && event.type->program;
		++*ret_all;
	}
	for (size_t i = 0; i < array_size(teacher->asked); i++)
		if (teacher->asked[i] > *ret_asked)
			*ret_asked = teacher->asked[i];
	events_free(events);
	context->schema = own;
	context_free(context);
	schema_free(empty);
	trace_free(trace);
	return known;
}

TEST(events_learn_the_format_of_an_unknown_id_before_its_first_event)
{
	struct teacher *teacher = calloc(1, sizeof(*teacher));
	uint64_t known, all;
	unsigned asked;

	REQUIRE(teacher);
	teacher->knows = true;
	known = read_all(teacher, &all, &asked);
	CHECK(all > 50 && known == all);
	CHECK(asked == 1);
	free(teacher);
}

TEST(events_ask_once_for_an_id_that_nobody_knows)
{
	struct teacher *teacher = calloc(1, sizeof(*teacher));
	uint64_t known, all;
	unsigned asked;

	REQUIRE(teacher);
	known = read_all(teacher, &all, &asked);
	CHECK(all > 50 && !known);
	CHECK(asked == 1);
	free(teacher);
}

/* What was made: events of three CPUs in order of time, some of them behind a gap. */
enum { MADE = 3000, MADE_CPUS = 3 };

struct made_event {
	uint64_t ts;
	uint32_t cpu;
	int32_t pid;
	int64_t lost; /* before it */
};

static struct trace *make_events(struct made_event *made)
{
	cleanup_buf struct buf script = BUF_INIT;
	uint32_t dice = 11;
	uint64_t ts = 10000;
	struct trace *trace;
	struct loom loom;

	for (size_t i = 0; i < MADE; i++) {
		dice = dice * 1664525 + 1013904223;
		ts += 1 + (dice >> 24);
		/* Runs of one CPU, and turns. */
		made[i] = (struct made_event){ ts, i / 100 % 2 ? (uint32_t)i % MADE_CPUS : (uint32_t)i / 50 % MADE_CPUS,
					       (int32_t)(i % 90), i % 170 == 99 ? 7 : 0 };
		if (made[i].lost)
			CHECK(buf_addf(&script, "%" PRIu32 " lost 7\n", made[i].cpu));
		CHECK(buf_addf(&script,
			       "%" PRIu32 " %" PRIu64 " %" PRId32 " sched_%s comm=task pid=3 common_flags=%d\n",
			       made[i].cpu, ts, made[i].pid, i % 3 ? "waking" : "wakeup", (int)(i % 5)));
	}
	loom_init(&loom);
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	loom_release(&loom);
	return trace;
}

/* The events from `since` to `until`, in batches of `max` into memory with something else in it; 0: one by one. */
static void check_reading(struct trace *trace, const struct context *context, const struct made_event *made,
			  uint64_t since, uint64_t until, size_t max)
{
	const struct events_options options = { .since = since, .until = until };
	const uint64_t shift = trace_ts_offset(trace);
	struct events *events = NULL;
	struct event got[64];
	size_t at = 0, nr = 0, seen = 0;
	bool gap = false;
	int r = 0;

	while (at < MADE && made[at].ts + shift < since)
		at++;
	REQUIRE(!events_open(context, &options, &events, NULL));
	for (;; nr++) {
		if (nr == (size_t)r) {
			memset(got, 0xa5, sizeof(got));
			r = max ? events_batch(events, got, max, NULL) : events_next(events, got, NULL);
			nr = 0;
			if (r <= 0)
				break;
		}
		REQUIRE(at < MADE);
		if (got[nr].kind == EVENT_LOST) {
			CHECK(made[at].lost == got[nr].lost && !gap && got[nr].cpu == made[at].cpu && !got[nr].first);
			gap = true;
			continue;
		}
		/* A gap before the first event is before what is asked for. */
		if (!CHECK(got[nr].ts == made[at].ts + shift && got[nr].cpu == made[at].cpu &&
			   got[nr].pid == made[at].pid && (gap || !made[at].lost || made[at].ts + shift == since)) ||
		    !CHECK(got[nr].flags == at % 5 && got[nr].kind == EVENT_RECORD && !got[nr].more &&
			   (!max || !got[nr].buffer) && got[nr].cpu_index == got[nr].cpu &&
			   got[nr].id == got[nr].type->id && got[nr].len > 8))
			break;
		CHECK_STR(got[nr].type->format->name, at % 3 ? "sched_waking" : "sched_wakeup");
		seen++;
		gap = false;
		at++;
	}
	CHECK(!r && events_count(events) == seen);
	CHECK(at == MADE || made[at].ts + shift > until);
	events_free(events);
}

TEST(events_are_those_that_were_made_one_by_one_and_in_batches)
{
	static const int64_t shifts[] = { 0, 5000, -9000 };
	static const size_t sizes[] = { 0, 1, 7, 64 };
	struct made_event *made = calloc(MADE, sizeof(*made));

	REQUIRE(made);
	for (size_t k = 0; k < array_size(shifts); k++) {
		struct trace *trace = make_events(made);
		struct context *context = NULL;
		uint64_t shift, last;

		REQUIRE(trace);
		trace_shift_times(trace, shifts[k]);
		REQUIRE(!context_new(trace, 0, &context, NULL));
		shift = trace_ts_offset(trace);
		last = made[MADE - 1].ts + shift;
		for (size_t i = 0; i < array_size(sizes); i++) {
			check_reading(trace, context, made, 0, UINT64_MAX, sizes[i]);
			for (size_t from = 0; from < MADE; from += 611)
				check_reading(trace, context, made, made[from].ts + shift,
					      made[from].ts + shift + 20000, sizes[i]);
			check_reading(trace, context, made, last, UINT64_MAX, sizes[i]);
			check_reading(trace, context, made, 0, made[0].ts + shift, sizes[i]);
			check_reading(trace, context, made, 0, made[0].ts + shift - 1, sizes[i]);
			check_reading(trace, context, made, last + 1, UINT64_MAX, sizes[i]);
		}
		context_free(context);
		trace_free(trace);
	}
	free(made);
}

TEST(events_show_the_next_one_of_their_cpu_and_skip_it)
{
	struct made_event *made = calloc(MADE, sizeof(*made));
	struct trace *trace = made ? make_events(made) : NULL;
	const uint64_t until = made ? made[MADE - 40].ts : 0;
	const struct events_options options = { .until = until };
	struct context *context = NULL;
	struct events *events = NULL;
	bool *skipped = calloc(MADE, 1);
	struct event event, next;
	uint64_t count = 0;
	size_t at = 0;

	REQUIRE(trace && skipped && !context_new(trace, 0, &context, NULL));
	REQUIRE(!events_open(context, &options, &events, NULL));
	while (events_next(events, &event, NULL) > 0) {
		size_t behind, other;
		uint64_t ts = 0;

		if (event.kind == EVENT_LOST)
			continue;
		while (skipped[at])
			at++;
		if (!CHECK(event.ts == made[at].ts))
			break;
		for (behind = at + 1; behind < MADE && made[behind].cpu != made[at].cpu;)
			behind++;
		for (other = at + 1; other < MADE && skipped[other];)
			other++;
		if (behind < MADE && !made[behind].lost && made[behind].ts <= until) {
			CHECK(events_peek(events, &next) == 1 && next.ts == made[behind].ts && next.cpu == event.cpu &&
			      next.pid == made[behind].pid && next.kind == EVENT_RECORD);
			memset(&next, 0, sizeof(next));
			CHECK(events_peek_record(events, &next) && next.pid == made[behind].pid &&
			      next.len == event.len && next.type->id == next.id);
			CHECK(events_follows(events) == (other == behind));
			if (at % 3 == 1) {
				events_skip(events);
				skipped[behind] = true;
				count++;
			}
		} else {
			CHECK(!events_peek(events, &next) && !events_peek_record(events, &next) &&
			      !events_follows(events));
			events_skip(events);
		}
		for (other = at + 1; other < MADE && skipped[other];)
			other++;
		CHECK(events_next_ts(events, &ts) == (other < MADE) && ts == (other < MADE ? made[other].ts : 0));
		count++;
		at++;
	}
	CHECK(events_count(events) == count);
	while (at < MADE && skipped[at])
		at++;
	CHECK(at == MADE - 39);
	events_free(events);
	context_free(context);
	trace_free(trace);
	free(skipped);
	free(made);
}

TEST(events_end_at_the_last_one_that_is_asked_for)
{
	struct made_event *made = calloc(MADE, sizeof(*made));
	struct trace *trace = made ? make_events(made) : NULL;
	struct context *context = NULL;

	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	for (size_t i = 0; i < MADE; i += 299) {
		const struct events_options at = { .until = made[i].ts }, behind = { .until = made[i].ts - 1 };
		uint64_t end = 1;

		CHECK(!events_end_time(context, &at, &end, NULL) && end == made[i].ts);
		CHECK(!events_end_time(context, &behind, &end, NULL) && end == (i ? made[i - 1].ts : 0));
	}
	context_free(context);
	trace_free(trace);
	free(made);
}
