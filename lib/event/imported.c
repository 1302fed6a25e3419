// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/event/imported.h"

#include "lib/base/number.h"
#include "lib/event/context.h"
#include "lib/trace/trace.h"

#include <string.h>

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
