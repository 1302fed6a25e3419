// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace.c: print_raw_fmt(), print_hex_fmt(), print_bin_fmt(). */
#include "formats/kernel/raw_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/base/out.h"

enum { PID_SIZE = 4, CPU_SIZE = 4, TIME_SIZE = 8 };

enum layout layout_of(const struct ftrace *ftrace)
{
	if (ftrace_option(ftrace, OPTION_BIN))
		return LAYOUT_BIN;
	if (ftrace_option(ftrace, OPTION_HEX))
		return LAYOUT_HEX;
	return ftrace_option(ftrace, OPTION_RAW) ? LAYOUT_RAW : LAYOUT_TEXT;
}

void raw_unknown(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	(void)ftrace;
	(void)binding;
	out_u64(out, event->id);
	out_mem(out, " ?\n", 3);
}

/* trace_nop_print() */
static void print_type(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       struct out *out)
{
	(void)ftrace;
	(void)binding;
	out_mem(out, "type: ", 6);
	out_u64(out, event->id);
	out_char(out, '\n');
}

static void raw_context(const struct event *event, struct out *out)
{
	out_s64(out, event->pid);
	out_char(out, ' ');
	out_u64(out, event->cpu);
	out_char(out, ' ');
	out_u64(out, event->ts);
	out_char(out, ' ');
}

static void put_context(const struct ftrace *ftrace, const struct event *event, put_fn *put, struct out *out)
{
	put(ftrace, (uint32_t)event->pid, PID_SIZE, out);
	put(ftrace, event->cpu, CPU_SIZE, out);
	put(ftrace, event->ts, TIME_SIZE, out);
}

void layout_line(enum layout layout, const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);
	const struct renderer *renderer = binding->renderer;
	bool context = context_option(ftrace->context, OPTION_CONTEXT_INFO);
	bool known = renderer || binding->format;
	render_fn *render = known ? print_type : layout == LAYOUT_RAW ? raw_unknown : put_nothing;

	switch (layout) {
	case LAYOUT_TEXT:
		return;
	case LAYOUT_RAW:
		if (context)
			raw_context(event, out);
		if (renderer && renderer->raw)
			render = renderer->raw;
		break;
	case LAYOUT_HEX:
		if (context)
			put_context(ftrace, event, put_hex, out);
		if (renderer && renderer->hex)
			render = renderer->hex;
		break;
	case LAYOUT_BIN:
		if (context)
			put_context(ftrace, event, put_bin, out);
		if (renderer && renderer->bin)
			render = renderer->bin;
		break;
	}
	render(ftrace, binding, event, out);
	if (layout == LAYOUT_HEX)
		out_char(out, '\n');
}
