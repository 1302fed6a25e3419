// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/intervals.h"

#include <errno.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"

int intervals_begin(struct intervals *intervals, struct reader *reader, const struct pass_filter *filter,
		    struct fail *fail)
{
	int r;

	intervals->fail = fail;
	r = pass_init(&intervals->whole, reader, filter, fail);
	if (!r)
		r = pass_init(&intervals->part, reader, filter, fail);
	intervals->whole.divides = intervals->part.divides = true;
	if (!r)
		r = pass_add(&intervals->whole, intervals->ops, intervals->options, fail);
	return r ? r : pass_add(&intervals->part, intervals->ops, intervals->options, fail);
}

void intervals_release(struct intervals *intervals)
{
	pass_release(&intervals->whole);
	pass_release(&intervals->part);
}

static int put(struct intervals *intervals, struct pass *pass, struct findings_span *span)
{
	struct fail why = FAIL_INIT;
	struct findings findings;
	int r = pass_end(pass, intervals->fail);

	findings_init(&findings);
	if (!r) {
		r = pass_finish(pass, 0, &findings, &why);
		intervals->any |= !r;
		span->nothing = r == -ENODATA ? why.text : NULL;
		if (r == -ENODATA && !(span->whole && intervals->tells && !intervals->any))
			r = 0;
		if (r)
			fail_set(intervals->fail, r, "%s", why.text);
	}
	/* Whoever takes the findings may keep them longer than the pass. */
	findings_detach(&findings);
	if (!r)
		r = intervals->found(intervals->arg, &findings, span, intervals->fail);
	findings_release(&findings);
	return r;
}

/* Memory must not grow with each task that has ever lived. */
static const char too_many[] = "more tasks have lived than are counted at once, so the next tables begin here";

/* Ends the interval at `to`. The next one begins there. */
static int end_part(struct intervals *intervals, uint64_t to)
{
	struct findings_span span = { .from = intervals->from,
				      .to = to,
				      .events = intervals->events,
				      .ended = pass_is_full(&intervals->part) ? too_many : NULL };
	int r;

	state_advance(&intervals->part.state, to);
	r = put(intervals, &intervals->part, &span);
	if (!r)
		r = pass_restart(&intervals->part, intervals->fail);
	intervals->from = to;
	intervals->events = 0;
	return r;
}

/* Ends what is counted of all events at `to`, and counts anew from there on. */
static int end_whole(struct intervals *intervals, uint64_t to)
{
	struct findings_span span = {
		.from = intervals->first, .to = to, .events = intervals->all_events, .whole = true, .ended = too_many
	};
	int r;

	state_advance(&intervals->whole.state, to);
	r = put(intervals, &intervals->whole, &span);
	if (!r)
		r = pass_restart(&intervals->whole, intervals->fail);
	intervals->first = to;
	intervals->all_events = 0;
	return r;
}

/* Ends the tables for which too many tasks have lived. */
static int make_room(struct intervals *intervals, uint64_t now)
{
	int r = pass_is_full(&intervals->part) ? end_part(intervals, now) : 0;

	return !r && pass_is_full(&intervals->whole) ? end_whole(intervals, now) : r;
}

/* Several intervals without an event are one. */
static int pass_time(struct intervals *intervals, uint64_t now)
{
	uint64_t over = (now - intervals->from) / intervals->every_ns;
	int r = over ? end_part(intervals, intervals->from + intervals->every_ns) : 0;

	return !r && over > 1 ? end_part(intervals, intervals->from + (over - 1) * intervals->every_ns) : r;
}

/* An event that comes late counts in the present interval. */
static void see_late(struct intervals *intervals, const struct event *event)
{
	struct event now = *event;

	now.ts = intervals->from;
	pass_see(&intervals->whole, &now);
	pass_see(&intervals->part, &now);
}

/* The rest of a damaged file is told as damage. */
static void see_gap(struct intervals *intervals, const struct event *event)
{
	const struct reader *reader = intervals->whole.reader;

	if (event->lost == EVENT_LOST_REST || !context_is_loss(reader->buffers[event->buffer].context, event->first))
		return;
	intervals->more_lost |= event->lost < 0;
	intervals->lost += event->lost < 0 ? 0 : (uint64_t)event->lost;
}

bool intervals_see(struct intervals *intervals, const struct event *event)
{
	bool is_record = event->kind == EVENT_RECORD;

	if (intervals->failed)
		return false;
	/* A live loss before the first event has no time; one of a file has that of its CPU's next event. */
	if (event->ts && !intervals->begun) {
		intervals->begun = true;
		intervals->first = event->ts;
		intervals->from = event->ts;
	}
	if (!intervals->begun)
		return false;
	intervals->part.pending = intervals->whole.pending = is_record ? event->type : NULL;
	if (is_record && event->ts > intervals->from)
		intervals->failed = pass_time(intervals, event->ts);
	if (is_record && !intervals->failed && event->ts > intervals->from)
		intervals->failed = make_room(intervals, event->ts);
	intervals->part.pending = intervals->whole.pending = NULL;
	if (intervals->failed)
		return false;
	if (!is_record)
		see_gap(intervals, event);
	intervals->events += is_record;
	intervals->all_events += is_record;
	if (event->ts < intervals->from) {
		see_late(intervals, event);
		return true;
	}
	pass_see(&intervals->whole, event);
	pass_see(&intervals->part, event);
	return true;
}

int intervals_end(struct intervals *intervals)
{
	struct findings_span span = { .from = intervals->first,
				      .to = intervals->whole.state.now,
				      .events = intervals->all_events,
				      .whole = true };

	if (intervals->ended || intervals->failed || !intervals->begun)
		return intervals->failed;
	intervals->ended = true;
	if (intervals->events)
		intervals->failed = end_part(intervals, intervals->whole.state.now);
	if (!intervals->failed)
		intervals->failed = put(intervals, &intervals->whole, &span);
	return intervals->failed;
}

/* What intervals_run() reads with. */
struct running {
	struct intervals *intervals;
	struct reader *reader;
};

static void see_all(void *arg, const struct event *event)
{
	const struct running *running = arg;

	(void)intervals_see(running->intervals, event);
	if (running->intervals->failed)
		reader_stop(running->reader);
}

int intervals_run(struct intervals *intervals, struct reader *reader, const struct pass_filter *filter,
		  struct fail *fail)
{
	struct running running = { intervals, reader };
	int r = intervals_begin(intervals, reader, filter, fail);

	intervals->tells = true;
	if (!r)
		r = reader_run(reader, &(struct reader_consumer){ see_all, &running }, 1, fail);
	return r ? r : intervals_end(intervals);
}
