// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_mmiotrace.c: a format of its own, without other entries. */
#include "formats/kernel/renderers_internal.h"

#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/raw_internal.h"
#include "lib/ground/base/out.h"

enum { PHYS, MAP_ID, OPCODE, VALUE, PC, WIDTH }; /* places of mmiotrace_rw */
enum { VIRT = VALUE, LEN = PC };                 /* places of mmiotrace_map */

/* include/linux/mmiotrace.h */
enum { MMIO_READ = 1, MMIO_WRITE = 2, MMIO_PROBE = 3, MMIO_UNPROBE = 4, MMIO_UNKNOWN_OP = 5 };

static const char *const rw_fields[] = { "phys", "map_id", "opcode", "value", "pc", "width", NULL };
static const char *const map_fields[] = { "phys", "map_id", "opcode", "virt", "len", NULL };

/* " %u.%06lu" with microseconds rounded half up, as ns2usecs() does. */
static void print_time(uint64_t ts, struct out *out)
{
	uint64_t us = (ts + 500) / 1000;

	out_char(out, ' ');
	out_u64(out, (uint32_t)(us / 1000000));
	out_char(out, '.');
	out_u64_pad(out, us % 1000000, 6, '0');
	out_char(out, ' ');
}

static void print_hex(uint64_t value, struct out *out)
{
	out_mem(out, " 0x", 3);
	out_hex(out, value);
}

static void print_place(const struct place *place, const struct event *event, struct out *out)
{
	print_hex(place_u64(place, event), out);
}

static void print_access(const struct place *places, const struct event *event, char letter, struct out *out)
{
	out_char(out, letter);
	out_char(out, ' ');
	out_u64(out, place_u64(&places[WIDTH], event));
	print_time(event->ts, out);
	out_s64(out, (int32_t)place_u64(&places[MAP_ID], event));
	print_place(&places[PHYS], event, out);
	print_place(&places[VALUE], event, out);
	print_place(&places[PC], event, out);
	out_mem(out, " 0\n", 3);
}

static void print_unknown(const struct place *places, const struct event *event, struct out *out)
{
	unsigned value = (unsigned)place_u64(&places[VALUE], event);

	out_str(out, "UNKNOWN");
	print_time(event->ts, out);
	out_s64(out, (int32_t)place_u64(&places[MAP_ID], event));
	print_place(&places[PHYS], event, out);
	out_f(out, " %02x,%02x,%02x", value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff);
	print_place(&places[PC], event, out);
	out_mem(out, " 0\n", 3);
}

static void print_rw(const struct place *places, const struct event *event, struct out *out)
{
	switch (place_u64(&places[OPCODE], event)) {
	case MMIO_READ:
		print_access(places, event, 'R', out);
		break;
	case MMIO_WRITE:
		print_access(places, event, 'W', out);
		break;
	case MMIO_UNKNOWN_OP:
		print_unknown(places, event, out);
		break;
	default:
		out_str(out, "rw what?\n");
	}
}

static void print_map(const struct place *places, const struct event *event, struct out *out)
{
	uint64_t opcode = place_u64(&places[OPCODE], event);

	if (opcode != MMIO_PROBE && opcode != MMIO_UNPROBE) {
		out_str(out, "map what?\n");
		return;
	}
	out_str(out, opcode == MMIO_PROBE ? "MAP" : "UNMAP");
	print_time(event->ts, out);
	out_s64(out, (int32_t)place_u64(&places[MAP_ID], event));
	if (opcode == MMIO_PROBE) {
		print_place(&places[PHYS], event, out);
		print_place(&places[VIRT], event, out);
		print_place(&places[LEN], event, out);
	}
	out_str(out, " 0x0 0\n");
}

/* The newline is part of the message. */
static void print_mark(const struct binding *binding, const struct event *event, struct out *out)
{
	const struct field *buf = format_field(binding->format, "buf");

	out_str(out, "MARK");
	print_time(event->ts, out);
	if (buf && buf->offset < event->len) {
		const char *text = (const char *)event->data + buf->offset;

		out_mem(out, text, strnlen(text, event->len - buf->offset));
	}
}

static bool line(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct binding *binding = ftrace_binding(ftrace, event);

	if (binding->renderer == &mmiotrace_rw_renderer)
		print_rw(binding->places, event, out);
	else if (binding->renderer == &mmiotrace_map_renderer)
		print_map(binding->places, event, out);
	else if (binding->format && !strcmp(binding->format->name, "print") &&
		 !strcmp(binding->format->system, "ftrace"))
		print_mark(binding, event, out);
	return true;
}

/* With another tracer these types are not registered. */
static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	(void)ftrace;
	(void)binding;
	out_str(out, "Unknown type ");
	out_u64(out, event->id);
	out_char(out, '\n');
}

const struct renderer mmiotrace_rw_renderer = {
	.format_name = "mmiotrace_rw",
	.fields = rw_fields,
	.format = format,
	.raw = raw_unknown,
	.hex = put_nothing,
	.bin = put_nothing,
};

const struct renderer mmiotrace_map_renderer = {
	.format_name = "mmiotrace_map",
	.fields = map_fields,
	.format = format,
	.raw = raw_unknown,
	.hex = put_nothing,
	.bin = put_nothing,
};

const struct tracer mmiotrace_tracer = { .name = "mmiotrace", .line = line };
