// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/rounding_internal.h"

#include "lib/files/import/head_internal.h"
#include "lib/ground/base/cleanup.h"

enum { US = 1000 };

/* ns2usecs() rounds a half up. */
static const int64_t below = 500, above = 499;

/* trace_find_mark(): the mark is of the time in whole microseconds, which is more than this. */
static const struct {
	char mark;
	int64_t us;
} marks[] = {
	{ ' ', -1 }, { '+', 10 }, { '!', 100 }, { '#', 1000 }, { '*', 10000 }, { '@', 100000 }, { '$', 1000000 }
};

/* Before 3.19, a mark says more than 1 and more than 100. */
static void of_old_mark(struct rounding *rounding, char mark)
{
	if (mark != ' ')
		rounding->until_min = ((mark == '+' ? 1 : 100) + 1) * US - below;
	if (mark != '!')
		rounding->until_max = (mark == '+' ? 100 : 1) * US + above;
}

static void of_mark(struct rounding *rounding, char mark)
{
	for (size_t i = 0; i < array_size(marks); i++) {
		if (marks[i].mark != mark)
			continue;
		rounding->until_min = (marks[i].us + 1) * US - below;
		if (i + 1 < array_size(marks))
			rounding->until_max = marks[i + 1].us * US + above;
	}
}

struct rounding rounding_of(const struct head *head, bool old_marks)
{
	struct rounding rounding = {
		.wanted = (int64_t)head->ts, .since = -1, .until_min = 1, .until_max = INT64_MAX / 2
	};

	if (head->is_verbose) {
		rounding.since = (int64_t)head->since;
		rounding.until_min = (int64_t)head->until - below;
		rounding.until_max = (int64_t)head->until + above;
	} else if (head->mark) {
		(old_marks ? of_old_mark : of_mark)(&rounding, head->mark);
	}
	/* Events of the same time would be sorted by their CPU. */
	if (rounding.until_min < 1)
		rounding.until_min = 1;
	return rounding;
}

void rounding_part(struct rounding *rounding)
{
	rounding->until_min = INT64_MIN / 2;
	rounding->until_max = INT64_MAX / 2;
}

/* Narrows the range to the other one, unless nothing would be left. */
static bool narrow(int64_t *earliest, int64_t *latest, int64_t min, int64_t max)
{
	int64_t from = min > *earliest ? min : *earliest, to = max < *latest ? max : *latest;

	if (from > to)
		return false;
	*earliest = from;
	*latest = to;
	return true;
}

/*
 * Finds the times of each event that allow those of all events behind it. Returns how many printed times cannot be
 * had.
 */
static size_t reach(struct rounding *events, size_t nr, int64_t start)
{
	size_t failed = 0;

	for (size_t i = nr; i-- > 0;) {
		struct rounding *event = &events[i];
		const struct rounding *next = i + 1 < nr ? event + 1 : NULL;
		int64_t since;

		event->earliest = event->wanted < below ? 0 : event->wanted - below;
		event->latest = event->wanted + above;
		since = event->since < below ? start : start + event->since - below;
		failed += event->since >= 0 &&
			  !narrow(&event->earliest, &event->latest, since, start + event->since + above);
		failed += next && !narrow(&event->earliest, &event->latest, next->earliest - event->until_max,
					  next->latest - event->until_min);
	}
	return failed;
}

bool rounding_start(struct rounding *events, size_t nr, int64_t *ret)
{
	int64_t from = 0, to = 0, first = -1, begin = 0, best_from = 0, best_to = -1;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < nr; i++) {
		int64_t start = events[i].wanted - events[i].since;

		if (events[i].since < 0 || start < 0)
			continue;
		if (first < 0) {
			first = start;
			from = start - US + 1;
			to = start + US - 1;
		} else {
			(void)narrow(&from, &to, start - US + 1, start + US - 1);
		}
	}
	if (first < 0)
		return false;
	/* The middle of the longest row of the best ones. */
	for (int64_t start = from > 0 ? from : 0; start <= to; start++) {
		size_t failed = reach(events, nr, start);

		if (failed > best) {
			begin = start + 1;
			continue;
		}
		if (failed < best) {
			best_to = best_from - 1;
			begin = start;
		}
		best = failed;
		if (start - begin > best_to - best_from) {
			best_from = begin;
			best_to = start;
		}
	}
	*ret = best_from + (best_to - best_from) / 2;
	return true;
}

void rounding_solve(struct rounding *events, size_t nr, int64_t start, const struct rounding *before)
{
	(void)reach(events, nr, start);
	for (size_t i = 0; i < nr; i++) {
		struct rounding *event = &events[i];

		if (before)
			(void)narrow(&event->earliest, &event->latest, before->ts + before->until_min,
				     before->ts + before->until_max);
		event->ts = event->wanted < event->earliest ? event->earliest :
			    event->wanted > event->latest   ? event->latest :
							      event->wanted;
		before = event;
	}
}
