// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages: their print formats, as libtraceevent reads them. */
#include "formats/tracecmd/tracecmd_internal.h"

#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/names/symbols.h"

enum { IP, TEXT, ARGS };
enum { ID, DATA };

static const char *const print_fields[] = { "ip", "buf", NULL };
static const char *const bputs_fields[] = { "ip", "str", NULL };
static const char *const bprint_fields[] = { "ip", "fmt", "buf", NULL };
static const char *const raw_fields[] = { "id", "buf", NULL };

/* The bytes from a field's place to the end of the record: these arrays have no length of their own. */
static struct bytes rest_of(const struct tracecmd *tracecmd, const struct place *place, const struct event *event)
{
	uint32_t at = place->offset < event->len ? place->offset : event->len;

	return bytes_of(event->data + at, place->field ? event->len - at : 0, tracecmd->context->abi.swap);
}

static void put_origin(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	uint64_t ip = place_u64(&binding->places[IP], event);

	if (!tracecmd_name(tracecmd, ip, out)) {
		out_mem(out, "0x", 2);
		out_hex(out, ip);
	}
	out_mem(out, ": ", 2);
}

static bool text_print(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	struct bytes text = rest_of(tracecmd, &binding->places[TEXT], event);

	put_origin(tracecmd, binding, event, out);
	out_mem(out, text.at, strnlen((const char *)text.at, text.left));
	return true;
}

static bool text_bputs(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	uint64_t address = place_u64(&binding->places[TEXT], event);
	const char *text = symbols_string(tracecmd->context->symbols, address);

	put_origin(tracecmd, binding, event, out);
	if (text)
		out_str(out, text);
	else
		out_hex(out, address);
	return true;
}

static bool text_bprint(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			const struct event *event, struct out *out)
{
	const struct context *context = tracecmd->context;
	uint64_t address = place_u64(&binding->places[TEXT], event);
	struct bytes args = rest_of(tracecmd, &binding->places[ARGS], event);
	const char *format = symbols_string(context->symbols, address);

	put_origin(tracecmd, binding, event, out);
	if (format)
		program_bprintf(context->schema, &tracecmd->env, format, args.at, args.left, out);
	else
		out_f(out, "NO FORMAT FOUND at %llx\n", (unsigned long long)address);
	return true;
}

static bool text_raw_data(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			  const struct event *event, struct out *out)
{
	struct bytes data = rest_of(tracecmd, &binding->places[DATA], event);
	uint8_t byte;

	out_mem(out, "# ", 2);
	out_hex(out, place_u64(&binding->places[ID], event));
	while (bytes_u8(&data, &byte)) {
		out_char(out, ' ');
		out_hex_pad(out, byte, 2, '0');
	}
	return true;
}

/* clang-format off */
const struct tracecmd_text tracecmd_print_texts[] = {
	{ "ftrace", "print", .builtin = true, .symbols = true, .fields = print_fields, .text = text_print },
	{ "ftrace", "bputs", .builtin = true, .symbols = true, .fields = bputs_fields, .text = text_bputs },
	{ "ftrace", "bprint", .builtin = true, .symbols = true, .fields = bprint_fields, .text = text_bprint },
	{ "ftrace", "raw_data", .fields = raw_fields, .text = text_raw_data },
	{ 0 },
};
/* clang-format on */
