// SPDX-License-Identifier: LGPL-2.1-or-later
/* A line of which an import kept the text alone (lib/files/import): it is printed as it was. */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"

enum { TEXT };

static const char *const fields[] = { "text", NULL };

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const char *text;
	size_t len;

	(void)ftrace;
	if (place_string(&binding->places[TEXT], event, &text, &len))
		out_mem(out, text, len);
	out_char(out, '\n');
}

const struct renderer text_line_renderer = {
	.format_name = "text_line",
	.plain = true,
	.fields = fields,
	.format = format,
};
