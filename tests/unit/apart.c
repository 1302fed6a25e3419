// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/clock/apart.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/meaning/reader/query.h"
#include "lib/screen/view/listing_internal.h"
#include "tests/unit/exported.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

enum { EVENTS = 400, ERROR = 1000, START = 5000000 };

/* Events of two machines, whose clocks are exact to within ERROR ns. */
struct world {
	struct trace *trace;
	struct {
		uint64_t ts;
		bool second, close;
	} events[EVENTS];
};

/* By the definition: one above it is of the other machine and not further away than the bound. */
static void find_close(struct world *world)
{
	for (size_t i = 0; i < EVENTS; i++)
		for (size_t j = 0; j < i; j++)
			world->events[i].close |= world->events[i].second != world->events[j].second &&
						  world->events[i].ts - world->events[j].ts <= ERROR;
}

static bool make(struct world *world, struct loom *loom)
{
	cleanup_buf struct buf script = BUF_INIT;
	uint64_t ts = START, seed = 88172645463325252;

	*world = (struct world){ .trace = NULL };
	loom_init(loom);
	loom->other = "two";
	for (size_t i = 0; i < EVENTS; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		ts += 1 + seed % 1200;
		world->events[i].ts = ts;
		world->events[i].second = seed >> 20 & 1;
		CHECK(buf_addf(&script, "%s0 %" PRIu64 " 7 sched_waking comm=w%zu pid=8\n",
			       world->events[i].second ? "+" : "", ts, i));
	}
	find_close(world);
	loom_setting(loom, "weft/recording", "one");
	loom_setting(loom, "weft/clock_error", "0");
	loom_setting(loom, "+weft/recording", "two");
	loom_setting(loom, "+weft/clock_error", "1000");
	loom_play(loom, buf_str(&script));
	world->trace = loom_trace(loom);
	return world->trace;
}

static void end(struct world *world, struct loom *loom)
{
	trace_free(world->trace);
	loom_release(loom);
}

TEST(apart_marks_what_may_have_happened_before_an_event_of_another_machine)
{
	struct apart_other other;
	struct apart *apart = NULL;
	struct world world;
	struct loom loom;
	size_t close = 0;

	if (make(&world, &loom) && CHECK(!apart_of(world.trace, &apart, NULL) && apart)) {
		CHECK(apart_widest(apart) == ERROR);
		for (size_t i = 0; i < EVENTS; i++) {
			CHECK(apart_next(apart, world.events[i].second, world.events[i].ts) == world.events[i].close);
			close += world.events[i].close;
		}
		CHECK(close > 100 && close < 300);
		CHECK(apart_other(apart, 1, 0, &other) && other.within == ERROR && other.seen);
		CHECK_MEM(other.name.text, other.name.len, "one", 3);
		CHECK(!apart_other(apart, 1, 1, &other));
		apart_free(apart);
	}
	end(&world, &loom);
}

/* The event that a row shows, by its number in the text. */
static size_t shown_in(const struct row *row)
{
	uint64_t number = 0;

	CHECK(number_after(row->text, "comm=w", &number) && number < EVENTS);
	return (size_t)number;
}

static void check_rows(const struct world *world, const struct listing *listing)
{
	CHECK(listing->nr > 50);
	for (size_t i = 0; i < listing->nr; i++) {
		const struct row *row = &listing->rows[i];
		bool close = world->events[shown_in(row)].close;

		CHECK(row->place.ts == world->events[shown_in(row)].ts);
		CHECK(row->close == close);
		CHECK(!!memmem(row->text, row->len, "]~", 2) == close);
	}
}

TEST(apart_is_shown_in_each_row_wherever_reading_begins)
{
	struct query query = QUERY_INIT;
	struct listing listing;
	struct view *view = NULL;
	struct world world;
	struct loom loom;

	if (make(&world, &loom) && CHECK(!view_new(world.trace, &query, NULL, &view, NULL))) {
		CHECK(strstr(view->message, "times of two machines are exact to within 1.0 us"));
		for (size_t i = 100; i < 300; i += 7) {
			listing_init(&listing, view);
			CHECK(!listing_seek(&listing, (struct walk_place){ world.events[i].ts, 0 }, NULL));
			CHECK(!listing_ahead(&listing, 60, NULL) && !listing_back(&listing, 60, NULL));
			check_rows(&world, &listing);
			listing_release(&listing);
		}
		view_free(view);
	}
	end(&world, &loom);
}

TEST(apart_is_not_shown_beside_rows_that_a_filter_hides)
{
	struct view_filter filter = { .kind = VIEW_FILTER_EXPRESSION, .text = (char *)(uintptr_t) "comm == \"w0\"" };
	struct query query = QUERY_INIT;
	struct fail fail = FAIL_INIT;
	struct listing listing;
	struct view *view = NULL;
	struct world world;
	struct loom loom;

	if (make(&world, &loom) && CHECK(!view_new(world.trace, &query, NULL, &view, NULL)) &&
	    CHECK(!view_filter_add(view, &filter, &fail))) {
		listing_init(&listing, view);
		CHECK(!listing_seek(&listing, WALK_START, NULL) && !listing_ahead(&listing, 60, NULL));
		CHECK(listing.nr == 1 && !listing.rows[0].close);
		listing_release(&listing);
	}
	view_free(view);
	end(&world, &loom);
}

static char *details_of(struct view *view, uint64_t ts)
{
	struct rows rows = { .width = 200, .height = 40, .cursor = SIZE_MAX };
	struct pane *pane;

	view_move(view, (struct walk_place){ ts, 0 });
	CHECK(out_init(&rows.text, 4096));
	CHECK(!view_show(view, '5', NULL));
	pane = view_pane(view);
	CHECK(!pane->ops->draw(pane, &rows, NULL));
	out_char(&rows.text, '\0');
	return rows.text.start;
}

TEST(apart_is_told_of_the_event_of_the_cursor)
{
	struct query query = QUERY_INIT;
	struct view *view = NULL;
	struct world world;
	struct loom loom;

	if (make(&world, &loom) && CHECK(!view_new(world.trace, &query, NULL, &view, NULL)))
		for (size_t i = 0; i < EVENTS; i += 13) {
			char *text = details_of(view, world.events[i].ts),
			     *order = strstr(text, "order    known beside");

			if (CHECK(order))
				CHECK(!strncmp(order, "order    known beside events of ", 32) &&
				      !strncmp(order + 32, world.events[i].second ? "one " : "two ", 4) &&
				      strstr(order, " that are further away than 1.0 us"));
			CHECK(!!strstr(text, "not beside the one of ") == world.events[i].close);
			free(text);
		}
	view_free(view);
	end(&world, &loom);
}

TEST(apart_machines_wake_no_task_of_each_other)
{
	struct query query = QUERY_INIT;
	struct view *view = NULL;
	struct world world;
	struct loom loom;
	size_t first = 1;

	if (make(&world, &loom) && CHECK(!view_new(world.trace, &query, NULL, &view, NULL))) {
		while (world.events[first].second == world.events[0].second)
			first++;
		for (size_t i = first; i < first + 20; i++) {
			char *text = details_of(view, world.events[i].ts);

			/* Task 8 of its machine was woken before, in all but the first one. */
			CHECK(!!strstr(text, "woken by") == (i != first));
			free(text);
		}
	}
	view_free(view);
	end(&world, &loom);
}

TEST(apart_is_a_column_of_lines_and_a_track_for_perfetto)
{
	struct world world;
	struct loom loom;
	char *text;
	size_t len;

	if (make(&world, &loom)) {
		text = exported_fields(world.trace, "ts,clock_error");
		for (size_t i = 0; text && i < EVENTS; i++) {
			char line[64];

			snprintf(line, sizeof(line), "\n%" PRIu64 ",%d\n", world.events[i].ts,
				 world.events[i].second ? ERROR : 0);
			CHECK(strstr(text, line));
		}
		free(text);
		text = exported_by(world.trace, "jsonl", NULL, &len);
		CHECK(text && strstr(text, "\"instance\":\"two\"") && strstr(text, "\"clock_error\":1000}\n"));
		free(text);
		text = exported_by(world.trace, "perfetto", NULL, &len);
		CHECK(text && memmem(text, len, "clock of two", strlen("clock of two")));
		CHECK(text && memmem(text, len, "exact to within +-1.0 us", strlen("exact to within +-1.0 us")));
		free(text);
	}
	end(&world, &loom);
}
