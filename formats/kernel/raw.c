// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace.c: print_raw_fmt(), print_hex_fmt(), print_bin_fmt(). */
#include "formats/kernel/raw_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"

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

/*
 * Mirrors kernel/trace/trace_output.h: SEQ_PUT_HEX_FIELD(), SEQ_PUT_FIELD(), and lib/seq_buf.c: seq_buf_putmem_hex().
 */

/* The most significant byte is printed first, whatever the byte order of the kernel. */
void put_hex(const struct ftrace *ftrace, uint64_t value, unsigned size, struct out *out)
{
	(void)ftrace;
	if (!size || size > sizeof(value))
		return;
	if (size < sizeof(value))
		value &= (UINT64_C(1) << size * 8) - 1;
	out_hex_pad(out, value, size * 2, '0');
	out_char(out, ' ');
}

/* Prints the bytes in the kernel's byte order. */
void put_bin(const struct ftrace *ftrace, uint64_t value, unsigned size, struct out *out)
{
	bool big_endian = ftrace->context->abi.big_endian;

	for (unsigned i = 0; i < size && size <= sizeof(value); i++) {
		unsigned byte = big_endian ? size - 1 - i : i;

		out_char(out, (char)(value >> byte * 8 & 0xff));
	}
}

static void put_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       unsigned count, put_fn *put, struct out *out)
{
	for (unsigned i = 0; i < count && i < BINDING_PLACES; i++) {
		const struct place *place = &binding->places[i];

		put(ftrace, place_u64(place, event), place->size, out);
	}
}

void put_hex_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out)
{
	put_places(ftrace, binding, event, count, put_hex, out);
}

void put_bin_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out)
{
	put_places(ftrace, binding, event, count, put_bin, out);
}

void put_nothing(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	(void)ftrace;
	(void)binding;
	(void)event;
	(void)out;
}
