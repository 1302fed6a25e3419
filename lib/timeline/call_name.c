// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/call_name.h"

#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/uapi/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *call_name(const struct context *context, const struct place *number, const struct event *event,
		      char text[CALL_NAME])
{
	const char *name = event->type->format->name;
	int64_t id;

	if (!strncmp(name, "sys_exit_", 9))
		return name + 9;
	id = place_s64(number, event);
	name = system_call_name(context->machine, id);
	if (name)
		return name;
	snprintf(text, CALL_NAME, "sys_%" PRId64, id);
	return text;
}
