// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/buffers.h"

#include "lib/meaning/event/context.h"
#include "lib/pages/trace/trace.h"

uint32_t buffers_cpu_count(const struct context *context)
{
	return trace_info(context->trace)->cpu_count;
}

size_t buffers_own_cpus(const struct context *context)
{
	return trace_buffer(context->trace, context->buffer)->nr_cpus;
}

bool buffers_own_is_first(const struct context *context)
{
	for (size_t i = 0; i < context->buffer; i++)
		if (trace_buffer(context->trace, i)->nr_cpus)
			return false;
	return true;
}

size_t buffers_count(const struct context *context, size_t *ret_width)
{
	size_t nr = trace_buffers(context->trace), width = 0;

	for (size_t i = 0; i < nr; i++)
		if (trace_buffer(context->trace, i)->name.len > width)
			width = trace_buffer(context->trace, i)->name.len;
	*ret_width = width;
	return nr;
}
