// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/ahead_internal.h"

#include "lib/base/vec.h"
#include "lib/import/head_internal.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t TIME_MAX = INT64_MAX / 4;

enum { LINES_MAX = 8192, BYTES_MAX = 1 << 22 };

void ahead_release(struct ahead *ahead)
{
	buf_release(&ahead->bytes);
	free(ahead->lines);
	free(ahead->events);
	ahead->lines = NULL;
	ahead->events = NULL;
}

bool ahead_wants(const struct head *head)
{
	/* Sums of such times fit. No clock of a kernel goes beyond. */
	return head->is_latency && head->has_unit && head->ts < TIME_MAX;
}

bool ahead_add(struct ahead *ahead, const struct ahead_line *line, const char *raw, const struct head *head,
	       bool old_marks)
{
	struct rounding *event = head ? vec_push(ahead->events, ahead->nr_events) : NULL;
	struct ahead_line *added = vec_push(ahead->lines, ahead->nr);

	if (!added || (head && !event))
		return false;
	*added = *line;
	added->at = ahead->bytes.len;
	added->is_event = head;
	if (head)
		*event = rounding_of(head, old_marks);
	return buf_add(&ahead->bytes, raw, line->len);
}

void ahead_has_old_marks(struct ahead *ahead)
{
	for (size_t i = 0, event = 0; i < ahead->nr; i++) {
		const struct ahead_line *line = &ahead->lines[i];
		struct rounding *rounding;
		struct head head;

		if (!line->is_event)
			continue;
		rounding = &ahead->events[event++];
		if (rounding->until_min >= 0 &&
		    head_parse(ahead->bytes.data + line->at + line->start, line->len - line->start, &head))
			*rounding = rounding_of(&head, true);
	}
}

void ahead_part(struct ahead *ahead)
{
	if (ahead->nr_events)
		rounding_part(&ahead->events[ahead->nr_events - 1]);
	else
		rounding_part(&ahead->last);
}

bool ahead_is_full(const struct ahead *ahead)
{
	return ahead->nr >= LINES_MAX || ahead->bytes.len >= BYTES_MAX;
}

size_t ahead_leave(struct ahead *ahead, bool all)
{
	size_t leaving = all ? ahead->nr : ahead->nr / 2, event = 0;

	if (!ahead->has_start)
		ahead->has_start = rounding_start(ahead->events, ahead->nr_events, &ahead->start);
	rounding_solve(ahead->events, ahead->nr_events, ahead->start, ahead->has_last ? &ahead->last : NULL);
	for (size_t i = 0; i < leaving; i++)
		if (ahead->lines[i].is_event)
			ahead->lines[i].ts = (uint64_t)ahead->events[event++].ts;
	ahead->has_last |= event > 0;
	if (event)
		ahead->last = ahead->events[event - 1];
	if (event < ahead->nr_events)
		memmove(ahead->events, ahead->events + event, (ahead->nr_events - event) * sizeof(*ahead->events));
	ahead->nr_events -= event;
	return leaving;
}

void ahead_drop(struct ahead *ahead, size_t nr)
{
	size_t from = nr < ahead->nr ? ahead->lines[nr].at : ahead->bytes.len;

	memmove(ahead->bytes.data, ahead->bytes.data + from, ahead->bytes.len - from);
	ahead->bytes.len -= from;
	for (size_t i = nr; i < ahead->nr; i++) {
		ahead->lines[i - nr] = ahead->lines[i];
		ahead->lines[i - nr].at -= from;
	}
	ahead->nr -= nr;
}
