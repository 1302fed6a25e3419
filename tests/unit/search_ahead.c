// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/view/search_internal.h"
#include "tests/unit/loom.h"
#include "tests/unit/sliced.h"
#include "tests/unit/test.h"

enum { EVENTS = 4000, SLICES = 9 };

/* Events on two CPUs, at times of which some are the same; each has a name of its own. */
static struct trace *many_names(void)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	for (int i = 0; i < EVENTS; i++)
		CHECK(buf_addf(&script, "%d %d 7 sched_waking comm=W%d. pid=8\n", i & 1, 1000000 + i / 3 * 1000, i));
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	loom_release(&loom);
	return trace;
}

static int look(struct view *view, const uint64_t *times, size_t nr, const char *text, bool any_case, uint64_t *ret)
{
	struct slices slices = { .nr = SLICES, .parts = SLICES, .threads = 3 };
	struct reader reader;
	int r;

	reader_init(&reader);
	r = reader_share(&reader, &view->reader, 0, UINT64_MAX, NULL);
	slices.reader = &reader;
	slices.times = calloc(SLICES, sizeof(*slices.times));
	if (!CHECK(slices.times != NULL))
		r = -ENOMEM;
	for (size_t i = 1; !r && i < SLICES; i++)
		slices.times[i - 1] = times[i * nr / SLICES];
	if (!r)
		r = search_slices(view, &slices, text, any_case, ret);
	slices_release(&slices);
	reader_release(&reader);
	return r;
}

TEST(search_ahead_finds_the_time_at_which_reading_in_order_finds_the_text)
{
	static const struct {
		const char *text;
		bool any_case;
	} searches[] = { { "W1.", false },    { "W0.", false },          { "W3999.", false },
			 { "w2345.", true },  { "w12", true },           { "w12", false },
			 { "W4000.", false }, { "sched_waking", false }, { "W777.", false } };
	const struct query query = QUERY_INIT;
	struct trace *trace = many_names();
	struct view *view = NULL;
	uint64_t *times = NULL, found = 0;
	size_t nr = 0;

	REQUIRE(trace && !view_new(trace, &query, NULL, &view, NULL) && !sliced_times(trace, &times, &nr, NULL));
	CHECK(nr == EVENTS);
	for (size_t i = 0; i < array_size(searches); i++) {
		int r = look(view, times, nr, searches[i].text, searches[i].any_case, &found);

		view_move(view, WALK_START);
		view->message[0] = '\0';
		/* A text without capitals is looked for in any case. */
		if (searches[i].any_case || strcmp(searches[i].text, "w12") != 0) {
			CHECK(!search_text(view, searches[i].text, true, NULL));
			CHECK(r == !strstr(view->message, "no such text"));
			CHECK(!r || found == view->cursor.ts);
		} else {
			CHECK(!r);
		}
	}
	free(times);
	view_free(view);
	trace_free(trace);
}

static bool waits(void *arg, const char *what, unsigned percent)
{
	unsigned *asked = arg;

	(void)what;
	CHECK(percent <= 100);
	return ++*asked == 3;
}

TEST(search_ahead_stops_when_a_key_waits_and_says_how_far_it_looked)
{
	const struct query query = QUERY_INIT;
	struct trace *trace = many_names();
	struct view *view = NULL;
	uint64_t *times = NULL, found = 0;
	unsigned asked = 0;
	size_t nr = 0;

	REQUIRE(trace && !view_new(trace, &query, NULL, &view, NULL) && !sliced_times(trace, &times, &nr, NULL));
	view->waits = waits;
	view->waits_arg = &asked;
	CHECK(look(view, times, nr, "W3999.", false, &found) == -ECANCELED);
	CHECK(asked == 3);
	CHECK(found < times[3 * nr / SLICES] && found >= times[2 * nr / SLICES]);
	/* What was found before is found. */
	asked = 0;
	CHECK(look(view, times, nr, "W777.", false, &found) == 1);
	free(times);
	view_free(view);
	trace_free(trace);
}
