// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/timeline/call_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/uapi/names.h"

const char *call_name(const struct context *context, int64_t number, const struct event *event, char text[CALL_NAME])
{
	const char *name = event->type->format->name;

	if (!strncmp(name, "sys_exit_", 9))
		return name + 9;
	name = system_call_name(context->machine, number);
	if (name)
		return name;
	snprintf(text, CALL_NAME, "sys_%" PRId64, number);
	return text;
}
