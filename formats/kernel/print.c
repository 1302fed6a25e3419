// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace_output.c: trace_print_print(), trace_bputs_print(), trace_bprint_print(), their _raw(),
 * and trace_raw_data().
 */
#include "formats/kernel/renderers_internal.h"

#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/names/symbols.h"

enum { IP, TEXT, ARGS };
enum { ID, DATA };

static const char *const print_fields[] = { "ip", "buf", NULL };
static const char *const bputs_fields[] = { "ip", "str", NULL };
static const char *const bprint_fields[] = { "ip", "fmt", "buf", NULL };
static const char *const raw_fields[] = { "id", "buf", NULL };

static bool print_bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[IP].size && binding->places[TEXT].field;
}

static bool bprint_bind(struct ftrace *ftrace, struct binding *binding)
{
	return print_bind(ftrace, binding) && binding->places[TEXT].size && binding->places[ARGS].field;
}

/* The bytes from a field's place to the end of the record: these arrays have no length of their own. */
static struct bytes rest_of(const struct place *place, const struct ftrace *ftrace, const struct event *event)
{
	uint32_t at = place->offset < event->len ? place->offset : event->len;

	return bytes_of(event->data + at, event->len - at, ftrace->context->abi.swap);
}

static void print_origin(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	if (ftrace->message_only)
		return;
	symbol_print_ip(ftrace->context, place_u64(&binding->places[IP], event), out);
	out_mem(out, ": ", 2);
}

/* A kernel string that the file lacks is printed as its address. */
static void print_missing(uint64_t address, struct out *out)
{
	out_mem(out, "0x", 2);
	out_hex(out, address);
	out_char(out, '\n');
}

static void print_text(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       struct out *out)
{
	struct bytes text = rest_of(&binding->places[TEXT], ftrace, event);

	out_mem(out, text.at, strnlen((const char *)text.at, text.left));
}

static void bputs_text(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       struct out *out)
{
	uint64_t address = place_u64(&binding->places[TEXT], event);
	const char *text = symbols_string(ftrace->context->symbols, address);

	if (text)
		out_str(out, text);
	else
		print_missing(address, out);
}

static void bprint_text(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			struct out *out)
{
	const struct context *context = ftrace->context;
	uint64_t address = place_u64(&binding->places[TEXT], event);
	struct bytes args = rest_of(&binding->places[ARGS], ftrace, event);
	const char *format = symbols_string(context->symbols, address);

	if (format)
		program_bprintf(context->schema, &context->env, format, args.at, args.left, out);
	else
		print_missing(address, out);
}

static void print_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	print_origin(ftrace, binding, event, out);
	print_text(ftrace, binding, event, out);
}

static void bputs_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			 struct out *out)
{
	print_origin(ftrace, binding, event, out);
	bputs_text(ftrace, binding, event, out);
}

static void bprint_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	print_origin(ftrace, binding, event, out);
	bprint_text(ftrace, binding, event, out);
}

static void print_raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		      struct out *out)
{
	out_mem(out, "# ", 2);
	out_hex(out, place_u64(&binding->places[IP], event));
	out_char(out, ' ');
	print_text(ftrace, binding, event, out);
}

static void print_raw_origin(const struct binding *binding, const struct event *event, struct out *out)
{
	out_mem(out, ": ", 2);
	out_hex(out, place_u64(&binding->places[IP], event));
	out_mem(out, " : ", 3);
}

static void bputs_raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		      struct out *out)
{
	print_raw_origin(binding, event, out);
	bputs_text(ftrace, binding, event, out);
}

static void bprint_raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       struct out *out)
{
	print_raw_origin(binding, event, out);
	bprint_text(ftrace, binding, event, out);
}

static bool raw_bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[ID].size && binding->places[DATA].field;
}

static void raw_format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       struct out *out)
{
	struct bytes data = rest_of(&binding->places[DATA], ftrace, event);
	uint8_t byte;

	if (data.left)
		data.left += event->more;
	out_mem(out, "# ", 2);
	out_hex(out, place_u64(&binding->places[ID], event) & UINT32_MAX);
	out_mem(out, " buf:", 5);
	while (bytes_u8(&data, &byte)) {
		out_char(out, ' ');
		out_hex_pad(out, byte, 2, '0');
	}
	out_char(out, '\n');
}

const struct renderer print_renderer = {
	.format_name = "print",
	.fields = print_fields,
	.bind = print_bind,
	.format = print_format,
	.raw = print_raw,
};

const struct renderer bputs_renderer = {
	.format_name = "bputs",
	.fields = bputs_fields,
	.bind = print_bind,
	.format = bputs_format,
	.raw = bputs_raw,
};

const struct renderer bprint_renderer = {
	.format_name = "bprint",
	.fields = bprint_fields,
	.bind = bprint_bind,
	.format = bprint_format,
	.raw = bprint_raw,
};

const struct renderer raw_data_renderer = {
	.format_name = "raw_data",
	.fields = raw_fields,
	.bind = raw_bind,
	.format = raw_format,
	.raw = raw_format,
};
