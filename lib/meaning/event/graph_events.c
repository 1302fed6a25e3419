// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/graph_events.h"

#include <stddef.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/schema/format.h"

enum graph_event graph_event_of(const struct format *format)
{
	static const struct {
		const char *system, *name;
		enum graph_event event;
	} known[] = { GRAPH_EVENTS(GRAPH_EVENT_ENTRY, GRAPH_EVENT_EXIT) };

	for (size_t i = 0; format && i < array_size(known); i++)
		if (!strcmp(known[i].name, format->name) && !strcmp(known[i].system, format->system))
			return known[i].event;
	return GRAPH_EVENT_NONE;
}
