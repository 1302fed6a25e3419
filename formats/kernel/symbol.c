// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: seq_print_ip_sym(), trace_seq_print_sym(). */
#include "formats/kernel/symbol.h"

#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"

/* kretprobed() of trace_output.c: a return address that the kernel replaced by its trampoline's. */
static bool is_trampoline(const struct symbol *symbol, uint64_t address)
{
	static const char *const names[] = { "arch_rethook_trampoline", "__kretprobe_trampoline",
					     "kretprobe_trampoline" };

	if (symbol->address != address || symbol->module)
		return false;
	for (size_t i = 0; i < array_size(names); i++)
		if (symbol->name_len == strlen(names[i]) && !memcmp(symbol->name, names[i], symbol->name_len))
			return true;
	return false;
}

void symbol_print(const struct context *context, uint64_t address, bool offset, struct out *out)
{
	struct symbol symbol;
	bool found = symbols_find(context->symbols, address, &symbol);

	if (found && is_trampoline(&symbol, address)) {
		out_str(out, "[unknown/kretprobe'd]");
		return;
	}
	if (offset) {
		if (found && symbols_print(context->symbols, address, 'S', out))
			return;
		/* sprint_symbol() always prints something: the bare number without a symbol. */
		out_mem(out, "0x", 2);
		out_hex(out, symbols_now(context->symbols, address));
		return;
	}
	/* kallsyms_lookup() into a buffer: only the name, the module is left out. */
	if (found) {
		out_mem(out, symbol.name, symbol.name_len);
		return;
	}
	out_mem(out, "0x", 2);
	out_hex_pad(out, symbols_now(context->symbols, address), 8, '0');
}

void symbol_print_address(const struct context *context, uint64_t address, struct out *out)
{
	out_mem(out, " <", 2);
	out_hex_pad(out, symbols_now(context->symbols, address), context->abi.long_size * 2u, '0');
	out_char(out, '>');
}

void symbol_print_ip(const struct context *context, uint64_t ip, struct out *out)
{
	if (!ip) {
		out_char(out, '0');
		return;
	}
	symbol_print(context, ip, context_option(context, OPTION_SYM_OFFSET), out);
	if (context_option(context, OPTION_SYM_ADDR))
		symbol_print_address(context, ip, out);
}
