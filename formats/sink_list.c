// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/sinks.h"

#include <string.h>

static const struct sink_ops *const sinks[] = {
	&ftrace_sink, &trace_pipe_sink, &json_sink, &pretty_sink, &trace_cmd_sink,
};

const struct sink_ops *sink_at(size_t index)
{
	return index < array_size(sinks) ? sinks[index] : NULL;
}

const struct sink_ops *sink_find(const char *name)
{
	for (size_t i = 0; i < array_size(sinks); i++)
		if (!strcmp(sinks[i]->name, name))
			return sinks[i];
	return NULL;
}
