// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/import_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/files/import/head_internal.h"
#include "lib/ground/base/vec.h"

static const uint64_t TIME_MAX = INT64_MAX / 4;

enum { LINES_MAX = 8192, BYTES_MAX = 1 << 22 };

void latency_lookahead_release(struct latency_lookahead *lookahead)
{
	buf_release(&lookahead->bytes);
	free(lookahead->lines);
	free(lookahead->events);
	lookahead->lines = NULL;
	lookahead->events = NULL;
}

bool latency_lookahead_wants(const struct head *head)
{
	/* Sums of such times fit. No clock of a kernel goes beyond. */
	return head->is_latency && head->has_unit && head->ts < TIME_MAX;
}

bool latency_lookahead_add(struct latency_lookahead *lookahead, const struct latency_lookahead_line *line,
			   const char *raw, const struct head *head, bool old_marks)
{
	struct rounding *event = head ? vec_push(lookahead->events, lookahead->nr_events) : NULL;
	struct latency_lookahead_line *added = vec_push(lookahead->lines, lookahead->nr);

	if (!added || (head && !event))
		return false;
	*added = *line;
	added->at = lookahead->bytes.len;
	added->is_event = head;
	if (head)
		*event = rounding_of(head, old_marks);
	return buf_add(&lookahead->bytes, raw, line->len);
}

void latency_lookahead_has_old_marks(struct latency_lookahead *lookahead)
{
	for (size_t i = 0, event = 0; i < lookahead->nr; i++) {
		const struct latency_lookahead_line *line = &lookahead->lines[i];
		struct rounding *rounding;
		struct head head;

		if (!line->is_event)
			continue;
		rounding = &lookahead->events[event++];
		if (rounding->until_min >= 0 &&
		    head_parse(lookahead->bytes.data + line->at + line->start, line->len - line->start, &head))
			*rounding = rounding_of(&head, true);
	}
}

void latency_lookahead_part(struct latency_lookahead *lookahead)
{
	if (lookahead->nr_events)
		rounding_part(&lookahead->events[lookahead->nr_events - 1]);
	else
		rounding_part(&lookahead->last);
}

bool latency_lookahead_is_full(const struct latency_lookahead *lookahead)
{
	return lookahead->nr >= LINES_MAX || lookahead->bytes.len >= BYTES_MAX;
}

size_t latency_lookahead_leave(struct latency_lookahead *lookahead, bool all)
{
	size_t leaving = all ? lookahead->nr : lookahead->nr / 2, event = 0;

	if (!lookahead->has_start)
		lookahead->has_start = rounding_start(lookahead->events, lookahead->nr_events, &lookahead->start);
	rounding_solve(lookahead->events, lookahead->nr_events, lookahead->start,
		       lookahead->has_last ? &lookahead->last : NULL);
	for (size_t i = 0; i < leaving; i++)
		if (lookahead->lines[i].is_event)
			lookahead->lines[i].ts = (uint64_t)lookahead->events[event++].ts;
	lookahead->has_last |= event > 0;
	if (event)
		lookahead->last = lookahead->events[event - 1];
	if (event < lookahead->nr_events)
		memmove(lookahead->events, lookahead->events + event,
			(lookahead->nr_events - event) * sizeof(*lookahead->events));
	lookahead->nr_events -= event;
	return leaving;
}

void latency_lookahead_drop(struct latency_lookahead *lookahead, size_t nr)
{
	size_t from = nr < lookahead->nr ? lookahead->lines[nr].at : lookahead->bytes.len;

	memmove(lookahead->bytes.data, lookahead->bytes.data + from, lookahead->bytes.len - from);
	lookahead->bytes.len -= from;
	for (size_t i = nr; i < lookahead->nr; i++) {
		lookahead->lines[i - nr] = lookahead->lines[i];
		lookahead->lines[i - nr].at -= from;
	}
	lookahead->nr -= nr;
}
