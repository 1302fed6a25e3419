// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: print_function_args(). */
#include "formats/kernel/call_args_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/base/out.h"
#include "lib/event/types.h"
#include "lib/names/symbols.h"

bool call_args_print(const struct ftrace *ftrace, const struct place *place, const struct event *event, uint64_t func,
		     struct out *out)
{
	const struct context *context = ftrace->context;
	struct call_args args = { .long_size = context->abi.long_size };
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
