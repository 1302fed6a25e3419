// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/wreck/wreck_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Texts that tracefs and /proc would have printed. */
enum {
	MODULES_MAX = 4096,
	MODULE_SYMBOLS_MAX = 1 << 18,
	ELF_SYMBOL = 24,
	OPTIONS_MAX = 64,
	CLOCKS_MAX = 32,
	PRINTK_MAX = 1 << 16
};

static bool put_kernel(struct wreck *wreck)
{
	const struct image_symbols *symbols = wreck->symbols.nr ? &wreck->symbols : &wreck->given;

	for (size_t i = 0; i < symbols->nr; i++) {
		const struct image_symbol *symbol = &symbols->items[i];

		if (!buf_addf(&wreck->kallsyms, "%016" PRIx64 " %c %s\n", symbol->address, symbol->type,
			      image_symbol_name(symbols, symbol)))
			return false;
	}
	return true;
}

/* What a module's table says of a symbol (Elf64_Sym): the place of its name, and its value. */
static bool put_module_symbol(struct wreck *wreck, uint64_t table, uint64_t strings, uint64_t types, uint64_t index,
			      const char *module)
{
	uint8_t symbol[ELF_SYMBOL];
	char name[WRECK_NAME_MAX], type = 't';
	uint32_t place;
	uint64_t value;
	uint16_t section;

	if (!memory_read(&wreck->memory, table + index * ELF_SYMBOL, symbol, sizeof(symbol)))
		return true;
	memcpy(&place, symbol, sizeof(place));
	memcpy(&section, symbol + 6, sizeof(section));
	memcpy(&value, symbol + 8, sizeof(value));
	if (!section || !wreck_text(wreck, strings + place, name, sizeof(name)) || !*name)
		return true;
	if (types)
		(void)memory_read(&wreck->memory, types + index, &type, 1);
	return buf_addf(&wreck->kallsyms, "%016" PRIx64 " %c %s\t[%s]\n", value,
			isalpha((unsigned char)type) ? type : 't', name, module);
}

static bool put_module(struct wreck *wreck, uint64_t module)
{
	const struct wreck_layout *layout = &wreck->layout;
	uint64_t tables = wreck_at(wreck, module, &layout->module_symbols);
	uint64_t symbols = wreck_at(wreck, tables, &layout->table_symbols);
	uint64_t strings = wreck_at(wreck, tables, &layout->table_strings);
	uint64_t types = wreck_at(wreck, tables, &layout->table_types);
	uint64_t nr = wreck_at(wreck, tables, &layout->table_nr);
	char name[64];

	if (!symbols || !strings || !wreck_text(wreck, module + layout->module_name.offset, name, sizeof(name)))
		return true;
	for (uint64_t i = 1; i < nr && i < MODULE_SYMBOLS_MAX; i++)
		if (!put_module_symbol(wreck, symbols, strings, types, i, name))
			return false;
	return true;
}

static bool put_modules(struct wreck *wreck)
{
	const struct layout_member *list = &wreck->layout.module_list;
	struct wreck_walk walk;
	uint64_t head, module;

	if (!list->found || !wreck->layout.module_symbols.found || !wreck_symbol(wreck, "modules", &head) ||
	    !wreck_walk_begin(&walk, wreck, head, list, MODULES_MAX))
		return true;
	while (wreck_walk_next(&walk, &module))
		if (!put_module(wreck, module))
			return false;
	return true;
}

/* As t_show() of kernel/trace/trace_printk.c prints it. */
static bool put_printk(struct wreck *wreck, uint64_t address)
{
	char text[1024];

	if (!wreck_text(wreck, address, text, sizeof(text)))
		return true;
	if (!buf_addf(&wreck->printk, "0x%" PRIx64 " : \"", address))
		return false;
	for (const char *at = text; *at; at++) {
		const char *escaped = *at == '\n' ? "\\n" :
				      *at == '\t' ? "\\t" :
				      *at == '\\' ? "\\\\" :
				      *at == '"'  ? "\\\"" :
						    NULL;

		if (!(escaped ? buf_add_str(&wreck->printk, escaped) : buf_add(&wreck->printk, at, 1)))
			return false;
	}
	return buf_add_str(&wreck->printk, "\"\n");
}

/* The formats of trace_printk() and the strings of tracepoints: pointers between two symbols. */
static bool put_printks(struct wreck *wreck, const char *from, const char *to)
{
	uint64_t at, end, address;

	if (!wreck_symbol(wreck, from, &at) || !wreck_symbol(wreck, to, &end))
		return true;
	for (size_t i = 0; at < end && i < PRINTK_MAX; at += sizeof(address), i++)
		if (memory_u64(&wreck->memory, at, &address) && !put_printk(wreck, address))
			return false;
	return true;
}

int wreck_texts_read(struct wreck *wreck, struct fail *fail)
{
	bool ok = put_kernel(wreck) && put_modules(wreck) &&
		  put_printks(wreck, "__start___trace_bprintk_fmt", "__stop___trace_bprintk_fmt") &&
		  put_printks(wreck, "__start___tracepoint_str", "__stop___tracepoint_str");

	return ok ? 0 : fail_memory(fail);
}

bool wreck_put_options(struct wreck *wreck, const struct wreck_ring *ring, struct buf *into)
{
	uint64_t names, flags = wreck_at(wreck, ring->array, &wreck->layout.array_flags), name;
	char text[64];

	if (!wreck_symbol(wreck, "trace_options", &names))
		return true;
	for (unsigned i = 0; i < OPTIONS_MAX; i++) {
		if (!memory_u64(&wreck->memory, names + i * sizeof(name), &name) || !name ||
		    !wreck_text(wreck, name, text, sizeof(text)))
			break;
		if (!buf_addf(into, "%s%s\n", flags >> i & 1 ? "" : "no", text))
			return false;
	}
	return true;
}

/* trace_clocks[] of kernel/trace/trace.c: { func, name, in_ns }. */
void wreck_clock(struct wreck *wreck, const struct wreck_ring *ring, char into[32])
{
	uint64_t clocks, id = wreck_at(wreck, ring->array, &wreck->layout.array_clock), name;

	if (id >= CLOCKS_MAX || !wreck_symbol(wreck, "trace_clocks", &clocks) ||
	    !memory_u64(&wreck->memory, clocks + id * 24 + 8, &name) || !wreck_text(wreck, name, into, 32))
		snprintf(into, 32, "local");
}
