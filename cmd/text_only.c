// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/text_only.h"

#include "cmd/command.h"
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool text_only_is(const struct context *context)
{
	return context->latency && !context->section;
}

static int refuse(struct trace *trace, const char *what, struct fail *fail)
{
	return fail_set(fail, -ENODATA,
			"'%s' holds the worst case of a latency tracer as the kernel's text, and no events: %s",
			trace_path(trace), what);
}

int text_only_refuse(struct trace *trace, const char *instance, struct fail *fail)
{
	bool text = false;

	for (size_t i = 0; i < trace_buffers(trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(trace, i);

		if (instance && strcmp(instance, buffer->name.text))
			continue;
		if (buffer->nr_cpus)
			return 0;
		text |= context_latency(trace, i) != NULL;
	}
	return text ? refuse(trace, "'weft report' prints this text, 'weft latency' explains it", fail) : 0;
}

/* Whether the output of this buffer would be its text, or nothing. */
static bool is_text(const struct context *context, bool kernel_text)
{
	bool shown = kernel_text && !context_option(context, OPTION_FIELDS);

	return text_only_is(context) && (shown || !trace_buffer(context->trace, context->buffer)->nr_cpus);
}

int text_only_refuse_option(const struct reader *reader, const char *option, bool kernel_text, struct fail *fail)
{
	struct trace *trace = reader->buffers[0].context->trace;
	size_t nr_texts = 0;
	char what[160];

	for (size_t i = 0; i < reader->nr_buffers; i++)
		nr_texts += is_text(reader->buffers[i].context, kernel_text);
	if (!nr_texts || !option)
		return 0;
	snprintf(what, sizeof(what), "leave out %s to read it%s", option,
		 strcmp(option, "-O") ? "" : ", or record again with it (weft record -O)");
	if (nr_texts == reader->nr_buffers)
		return refuse(trace, what, fail);
	command_warn(
		"note: '%s' holds the worst case of a latency tracer as the kernel's text, which %s does not change",
		trace_path(trace), option);
	return 0;
}
