// SPDX-License-Identifier: LGPL-2.1-or-later
/* Enters the events of a file anywhere, for reading in slices of time. */
#include "lib/event/events_internal.h"
#include "lib/stream/merge.h"
#include "lib/stream/source.h"

uint64_t events_raw_time(const struct events *events, uint64_t ts)
{
	uint64_t raw = ts < (uint64_t)events->ts_offset && events->ts_offset > 0 ? 0 : ts - (uint64_t)events->ts_offset;

	if (!events->scale)
		return raw;
	if (!events->mult)
		return 0;
	return scale_shift_div(raw, events->shift, events->mult);
}

int events_enter(struct events *events, uint64_t ts, struct fail *fail)
{
	events->hidden = true;
	events->before = events->count;
	return merge_restart(events->merge, ts ? events_raw_time(events, ts) : 0, fail);
}

void events_pause(struct events *events, uint64_t last)
{
	events->last = last < events->options.until ? last : events->options.until;
	events->hidden = true;
}

int events_time_at(struct events *events, size_t cpu_index, uint64_t part, uint64_t parts, uint64_t *ret,
		   struct fail *fail)
{
	struct source *source = events->merge->source;
	uint64_t raw = 0;
	int r = source->ops->time_at(source, cpu_index, part, parts, &raw, fail);

	if (r > 0)
		*ret = events_time(events, raw);
	return r;
}

bool events_can_enter(const struct events *events)
{
	return events->merge->source->ops->restart && !events->options.pool;
}

size_t events_nr_places(const struct events *events)
{
	return events->merge->nr_cursors;
}

void events_places(const struct events *events, struct cursor_place *ret)
{
	for (size_t i = 0; i < events->merge->nr_cursors; i++)
		cursor_place(&events->merge->cursors[i], &ret[i]);
}

bool events_need_all(const struct events *events, uint64_t parts)
{
	const struct source *source = events->merge->source;

	return events_damage(events) || merge_has_remains(events->merge) || source->ops->is_much(source, parts);
}
