// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/imported.h"

#include <string.h>

#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/trace/trace.h"

const char *imported_tracer(const struct context *context, size_t *ret_len)
{
	struct trace_text text = trace_setting(context->trace, context->buffer, "weft/tracer");

	*ret_len = text.text ? text.len : strlen(context->tracer);
	return text.text ? text.text : context->tracer;
}

bool imported_graph_is_relative(const struct context *context)
{
	return trace_setting(context->trace, context->buffer, "weft/graph_relative").text;
}

uint64_t imported_without_time(const struct context *context)
{
	struct trace_text text = trace_setting(context->trace, context->buffer, "weft/graph_no_time");

	return text.text ? number_of(text.text, 0) : 0;
}

bool imported_lacks_fields(const struct context *context, const char *name)
{
	const char *system, *event;
	int32_t id;

	for (size_t i = 0; schema_at(context->schema, i, &id, &system, &event); i++)
		if (!strcmp(system, "text") && text_glob(name, event))
			return true;
	return false;
}
