// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"
#include "tests/unit/test.h"

/* What happened: a mark of a task at a time, or one of the calls. */
struct step {
	uint64_t ts;
	int32_t pid;
	const char *text; /* "lose", "renew", "end", "each" */
};

struct told {
	struct buf text;
	uint64_t unknown; /* a number that changes when it is not known what a thread did */
};

/* "NAME@TRACK PID DEPTH START-TO HOW", or without an end what has begun. */
static void tell(struct told *told, const struct marks_span *span, bool ended)
{
	static const char *const how[] = { [MARKS_KNOWN] = "", [MARKS_LOST] = " lost", [MARKS_OPEN] = " open" };

	CHECK(buf_addf(&told->text, "%.*s", (int)span->name_len, span->name));
	if (span->track)
		CHECK(buf_addf(&told->text, "@%.*s", (int)span->track_len, span->track));
	CHECK(buf_addf(&told->text, span->async ? " of %" PRId32 " %" PRIu64 "-" : " %" PRId32 " %" PRIu64 "-",
		       span->pid, span->start));
	if (ended)
		CHECK(buf_addf(&told->text, "%" PRIu64 "%s", span->to, how[span->end]));
	CHECK(buf_addf(&told->text, " in %" PRIu32 "; ", span->depth));
}

/* Each note is of its own span. */
static void see_begin(void *arg, const struct marks_span *span)
{
	(void)arg;
	CHECK(!*(uint64_t *)span->note);
	*(uint64_t *)span->note = span->start;
}

static void see_end(void *arg, const struct marks_span *span)
{
	CHECK(*(uint64_t *)span->note == span->start);
	tell(arg, span, true);
}

static void see_open(void *arg, const struct marks_span *span)
{
	tell(arg, span, false);
}

static uint64_t unknown(const void *arg, int32_t pid, const struct event *event)
{
	const struct told *told = arg;

	(void)event;
	/* Of task 8 all is known. */
	return pid == 8 ? 0 : told->unknown;
}

static void check_steps(const struct step *steps, bool knows, const char *want, const uint64_t counts[3])
{
	struct told told = { .text = BUF_INIT };
	const struct marks_calls calls = { .arg = &told,
					   .note = sizeof(uint64_t),
					   .begin = see_begin,
					   .end = see_end,
					   .unknown = knows ? unknown : NULL };
	struct marks marks;

	marks_init(&marks, &calls);
	for (; steps->text; steps++) {
		const struct event event = { .ts = steps->ts,
					     .pid = steps->pid,
					     .cpu = steps->pid ? 0 : (uint16_t)(steps->ts % 2) };
		struct mark mark;

		if (!strcmp(steps->text, "lose")) {
			told.unknown++;
			marks_lose(&marks, steps->ts);
		} else if (!strcmp(steps->text, "renew")) {
			marks_renew(&marks, steps->pid, steps->ts);
		} else if (!strcmp(steps->text, "end")) {
			marks_end(&marks, steps->ts);
		} else if (!strcmp(steps->text, "each")) {
			marks_each(&marks, see_open, &told);
		} else if (CHECK(mark_parse(&mark, steps->text, strlen(steps->text)))) {
			marks_see(&marks, &mark, &event);
		}
	}
	CHECK_STR(buf_str(&told.text), want);
	CHECK(marks.unbegun == counts[0] && marks.dropped == counts[1] && marks.again == counts[2] &&
	      !marks_starved(&marks));
	marks_release(&marks);
	buf_release(&told.text);
}

TEST(marks_of_a_thread_end_the_one_that_began_last)
{
	static const struct step steps[] = {
		{ 100, 7, "E|7" }, { 110, 7, "B|7|a" },   { 120, 8, "B|7|c" }, { 130, 7, "B|7|b" }, { 140, 7, "E|7" },
		{ 150, 8, "E|7" }, { 155, 7, "C|7|q|1" }, { 160, 7, "B|7|d" }, { 165, 0, "each" },  { 170, 7, "E|7|x" },
		{ 180, 7, "E|7" }, { 190, 7, "E|7" },     { 200, 0, "B|1|e" }, { 201, 0, "B|1|f" }, { 202, 0, "E|1" },
		{ 300, 0, "end" }, { 0, 0, NULL },
	};

	check_steps(
		steps, false,
		"b 7 130-140 in 1; c 8 120-150 in 0; a 7 110- in 0; d 7 160- in 1; d 7 160-170 in 1; a 7 110-180 in 0; "
		"e 0 200-202 in 0; f 0 201-300 open in 0; ",
		(const uint64_t[]){ 2, 0, 0 });
}

TEST(marks_of_a_process_end_the_one_of_their_name_or_track_and_cookie)
{
	static const struct step one[] = {
		{ 100, 7, "S|7|a|1" }, { 110, 0, "each" }, { 120, 7, "F|7|a|1" }, { 0, 0, NULL }
	};

	static const struct step all[] = {
		{ 100, 7, "S|7|a|1" }, { 110, 7, "S|7|a|2" },   { 120, 9, "F|7|a|1" }, { 130, 9, "F|8|a|2" },
		{ 140, 9, "F|7|b|2" }, { 150, 7, "G|7|t|x|2" }, { 160, 7, "F|7|t|2" }, { 170, 8, "H|7|t|2" },
		{ 180, 7, "S|7|a|2" }, { 190, 7, "S|7|n|0" },   { 210, 7, "F|7|n|0" }, { 220, 0, "end" },
		{ 230, 7, "F|7|a|2" }, { 0, 0, NULL },
	};

	check_steps(one, false, "a of 7 100- in 0; a of 7 100-120 in 0; ", (const uint64_t[]){ 0, 0, 0 });
	check_steps(all, false,
		    "a of 7 100-120 in 0; x@t of 7 150-170 in 0; n of 7 190-210 in 0; a of 7 110-220 open in 0; ",
		    (const uint64_t[]){ 4, 0, 1 });
}

TEST(marks_end_where_events_were_lost)
{
	static const struct step threads[] = {
		{ 100, 7, "B|7|a" }, { 110, 8, "B|7|b" }, { 120, 9, "B|7|c" }, { 200, 0, "lose" },
		{ 300, 0, "lose" },  { 310, 7, "E|7" },   { 320, 8, "E|7" },   { 330, 7, "B|7|d" },
		{ 340, 7, "E|7" },   { 400, 0, "lose" },  { 500, 0, "end" },   { 0, 0, NULL },
	};
	static const struct step processes[] = {
		{ 100, 7, "S|7|a|1" }, { 110, 7, "S|7|b|1" }, { 120, 7, "S|7|c|1" }, { 200, 0, "lose" },
		{ 210, 7, "S|7|a|1" }, { 220, 7, "F|7|b|1" }, { 230, 7, "F|7|a|1" }, { 250, 0, "lose" },
		{ 300, 0, "end" },     { 0, 0, NULL },
	};
	static const struct step renewed[] = {
		{ 100, 7, "B|7|a" }, { 110, 7, "B|7|b" },  { 120, 8, "B|7|c" }, { 130, 7, "renew" }, { 140, 7, "E|7" },
		{ 150, 0, "renew" }, { 160, 11, "renew" }, { 170, 8, "E|7" },   { 0, 0, NULL },
	};

	/* Nothing is known of any thread; then of task 8 all is. */
	check_steps(threads, false,
		    "a 7 100-200 lost in 0; b 8 110-200 lost in 0; d 7 330-340 in 0; c 9 120-200 lost in 0; ",
		    (const uint64_t[]){ 2, 0, 0 });
	check_steps(threads, true, "a 7 100-200 lost in 0; b 8 110-320 in 0; d 7 330-340 in 0; c 9 120-200 lost in 0; ",
		    (const uint64_t[]){ 1, 0, 0 });
	check_steps(
		processes, false,
		"a of 7 100-200 lost in 0; b of 7 110-200 lost in 0; a of 7 210-230 in 0; c of 7 120-200 lost in 0; ",
		(const uint64_t[]){ 0, 0, 0 });
	check_steps(renewed, false, "b 7 110-130 lost in 1; a 7 100-130 lost in 0; c 8 120-170 in 0; ",
		    (const uint64_t[]){ 1, 0, 0 });
}

TEST(marks_have_room_for_so_many_that_are_open)
{
	struct told told = { .text = BUF_INIT };
	const struct marks_calls calls = { .arg = &told, .note = sizeof(uint64_t) };
	struct mark span = { .kind = MARK_BEGIN, .name = "a", .name_len = 1 }, ends = { .kind = MARK_END };
	struct mark async = { .kind = MARK_ASYNC_BEGIN, .name = "b", .name_len = 1 };
	struct event event = { .ts = 1, .pid = 7 };
	struct marks marks;

	marks_init(&marks, &calls);
	for (unsigned i = 0; i < MARKS_OPEN_MAX + 2; i++)
		marks_see(&marks, &span, &event);
	marks_see(&marks, &async, &event);
	CHECK(marks.nr_open == MARKS_OPEN_MAX && marks.dropped == 3);
	/* The ends of those that had no room end nothing. */
	for (unsigned i = 0; i < 2; i++)
		marks_see(&marks, &ends, &event);
	CHECK(marks.nr_open == MARKS_OPEN_MAX);
	marks_see(&marks, &ends, &event);
	CHECK(marks.nr_open == MARKS_OPEN_MAX - 1);
	marks_see(&marks, &async, &event);
	CHECK(marks.nr_open == MARKS_OPEN_MAX && marks.dropped == 3 && !marks.unbegun);
	marks_end(&marks, 9);
	CHECK(!marks.nr_open);
	marks_release(&marks);
}
