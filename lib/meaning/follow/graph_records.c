// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/graph_records.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

void graph_records_release(struct graph_records *records)
{
	free(records->types);
}

/* Takes a place into account of which a plain type has this many bytes. */
static bool is_plain(struct graph_record_type *type, const struct place *place, uint8_t size)
{
	uint32_t end;

	if (place->size != size || place->swap || __builtin_add_overflow(place->offset, place->size, &end))
		return false;
	type->least = end > type->least ? end : type->least;
	return true;
}

static void find_plain(struct graph_record_type *type)
{
	type->plain = is_plain(type, &type->func, 8) && is_plain(type, &type->depth, 4);
	if (type->plain && type->rettime.size)
		type->plain = is_plain(type, &type->calltime, 8) && is_plain(type, &type->rettime, 8);
}

uint32_t graph_records_know(struct graph_records *records, const struct event_type *event_type)
{
	enum graph_event role = graph_event_of(event_type->format);
	struct graph_record_type *type = role == GRAPH_EVENT_NONE ? NULL : vec_push(records->types, records->nr_types);

	records->starved |= role != GRAPH_EVENT_NONE && !type;
	records->known[event_type->index] = 1;
	if (!type)
		return 1;
	type->role = role;
	(void)place_find(&type->func, event_type, "func");
	(void)place_find(&type->depth, event_type, "depth");
	/* The times are of use together. */
	if (role == GRAPH_EVENT_EXIT && place_find(&type->calltime, event_type, "calltime") && type->calltime.size)
		(void)place_find(&type->rettime, event_type, "rettime");
	find_plain(type);
	if (type->func.size && type->depth.size)
		records->known[event_type->index] = (uint32_t)records->nr_types + 1;
	return records->known[event_type->index];
}
