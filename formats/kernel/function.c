// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_fn_trace(), trace_fn_raw(), trace_fn_hex(), trace_fn_bin(). */
#include "formats/kernel/function_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/raw_internal.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/memo.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/types.h"
#include "lib/meaning/names/symbols.h"

/* Mirrors kernel/trace/trace_output.c: print_function_args(). */

bool call_args_print(const struct ftrace *ftrace, const struct place *place, const struct event *event, uint64_t func,
		     struct out *out)
{
	const struct context *context = ftrace->context;
	struct call_args args = { .long_size = context->abi.long_size, .enumerators = context_since(context, 7, 1) };
	struct symbol symbol;
	const uint8_t *at;

	if (!place->field || !has_call_args(place->offset, event->len))
		return false;
	at = event->data + place->offset;
	while (args.nr < array_size(args.values) && (args.nr + 1) * args.long_size <= event->len - place->offset) {
		args.values[args.nr] =
			args.long_size == 4 ? load_u32(at, context->abi.swap) : load_u64(at, context->abi.swap);
		at += args.long_size;
		args.nr++;
	}
	if (symbols_find(context->symbols, func, &symbol))
		types_print_args(context->types, symbol.name, symbol.name_len, &args, out);
	else
		out_mem(out, "()", 2);
	return true;
}

void call_args_print_text(const struct place *text, const struct event *event, struct out *out)
{
	const char *args;
	size_t len;

	out_char(out, '(');
	if (place_string(text, event, &args, &len))
		out_mem(out, args, len);
	out_char(out, ')');
}

enum { IP, PARENT_IP, NR_PLACES, ARGS = NR_PLACES, ARGS_TEXT };

static const char *const fields[] = { "ip", "parent_ip", "args", "args_text", NULL };

void *function_names(void)
{
	return memo_new();
}

void function_print_ip(const struct ftrace *ftrace, const struct binding *binding, uint64_t ip, struct out *out)
{
	/* The renderer owns this data and may change it; the binding is const because nothing else in it may change. */
	struct memo *names = (struct memo *)binding->data;
	size_t start = out_len(out);

	if (memo_print(names, ip, out))
		return;
	symbol_print_ip(ftrace->context, ip, out);
	if (!out->failed)
		memo_add(names, ip, out->start + start, out_len(out) - start);
}

static bool bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	binding->data = function_names();
	return binding->places[IP].size;
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	uint64_t parent_ip = place_u64(&binding->places[PARENT_IP], event);
	uint64_t ip = place_u64(&binding->places[IP], event);

	function_print_ip(ftrace, binding, ip, out);
	if (__builtin_expect(has_call_args(binding->places[ARGS].offset, event->len), 0))
		call_args_print(ftrace, &binding->places[ARGS], event, ip, out);
	if (__builtin_expect(binding->places[ARGS_TEXT].field != NULL, 0))
		call_args_print_text(&binding->places[ARGS_TEXT], event, out);
	if (parent_ip && context_option(ftrace->context, OPTION_PRINT_PARENT)) {
		out_mem(out, " <-", 3);
		function_print_ip(ftrace, binding, parent_ip, out);
	}
	out_char(out, '\n');
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	(void)ftrace;
	out_hex(out, place_u64(&binding->places[IP], event));
	out_char(out, ' ');
	out_hex(out, place_u64(&binding->places[PARENT_IP], event));
	out_char(out, '\n');
}

static void hex(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	put_hex_places(ftrace, binding, event, NR_PLACES, out);
}

static void bin(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	put_bin_places(ftrace, binding, event, NR_PLACES, out);
}

const struct renderer function_renderer = {
	.format_name = "function",
	.fields = fields,
	.bind = bind,
	.format = format,
	.raw = raw,
	.hex = hex,
	.bin = bin,
};
