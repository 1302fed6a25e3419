// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_branch.c. */
#include "formats/kernel/renderers_internal.h"

#include <string.h>

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"

enum { FUNC, FILE_NAME, LINE, CORRECT };

static const char *const fields[] = { "func", "file", "line", "correct", NULL };

static bool bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[FUNC].field && binding->places[FILE_NAME].field;
}

static void print_string(const struct ftrace *ftrace, const struct place *place, const struct event *event,
			 struct out *out)
{
	const uint8_t *text;
	size_t len;

	if (field_bytes(place->field, &ftrace->context->abi, event->data, event->len, &text, &len))
		out_mem(out, text, strnlen((const char *)text, len));
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct place *places = binding->places;

	out_str(out, place_u64(&places[CORRECT], event) ? "[  ok  ] " : "[ MISS ] ");
	print_string(ftrace, &places[FUNC], event, out);
	out_char(out, ':');
	print_string(ftrace, &places[FILE_NAME], event, out);
	out_char(out, ':');
	out_s64(out, (int32_t)place_u64(&places[LINE], event));
	out_char(out, '\n');
}

static void header(const struct ftrace *ftrace, struct out *out)
{
	(void)ftrace;
	out_str(out, "#           TASK-PID    CPU#    TIMESTAMP  CORRECT  FUNC:FILE:LINE\n"
		     "#              | |       |          |         |       |\n");
}

const struct renderer branch_renderer = {
	.format_name = "branch",
	.fields = fields,
	.bind = bind,
	.format = format,
};

const struct tracer branch_tracer = { .name = "branch", .header = header };
