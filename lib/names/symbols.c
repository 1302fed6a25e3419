// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/names/symbols.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/names/kallsyms_internal.h"
#include "lib/names/last_boot_internal.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MEMO_BITS = 12 };

struct string {
	uint64_t address;
	size_t at; /* offset in strings_text */
};

struct symbols {
	struct trace *trace;
	size_t buffer;
	pthread_mutex_t lock;
	atomic_bool loaded;
	struct kallsyms kallsyms;
	struct last_boot last_boot;
	bool moved;
	int (*ask)(void *arg, struct buf *buf);
	void *ask_arg;
	struct buf asked;       /* the text that symbols_ask()'s function provided */
	struct string *strings; /* ascending by address; the first of equal ones counts */
	size_t nr_strings;
	struct buf strings_text;
	/*
	 * Results of recent lookups. An entry is only a hint: its symbol is checked against the address, so a race
	 * costs time and nothing else.
	 */
	_Atomic uint32_t memo[1 << MEMO_BITS];
};

int symbols_new(struct trace *trace, size_t buffer, struct symbols **ret, struct fail *fail)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols || !last_boot_read(&symbols->last_boot, trace_setting(trace, buffer, "last_boot_info"),
					trace_setting(trace, 0, "weft/modules"))) {
		free(symbols);
		return fail_memory(fail);
	}
	symbols->trace = trace;
	symbols->buffer = buffer;
	pthread_mutex_init(&symbols->lock, NULL);
	*ret = symbols;
	return 0;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	kallsyms_release(&symbols->kallsyms);
	last_boot_release(&symbols->last_boot);
	free(symbols->strings);
	buf_release(&symbols->strings_text);
	buf_release(&symbols->asked);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols);
}

void symbols_ask(struct symbols *symbols, int (*text)(void *arg, struct buf *buf), void *arg)
{
	symbols->ask = text;
	symbols->ask_arg = arg;
}

/* t_show() of kernel/trace/trace_printk.c escapes newlines, tabs and quotes; a backslash stays alone. */
static bool add_unescaped(struct buf *buf, const char *at, const char *end)
{
	while (at < end) {
		char c = *at++;

		if (c == '\\' && at < end && (*at == 'n' || *at == 't' || *at == '"')) {
			c = *at == 'n' ? '\n' : *at == 't' ? '\t' : '"';
			at++;
		}
		if (!buf_add(buf, &c, 1))
			return false;
	}
	return buf_add(buf, "", 1);
}

/* 0x%lx : "TEXT" */
static bool add_string(struct symbols *symbols, const char *line, const char *end)
{
	struct string *string = &symbols->strings[symbols->nr_strings];
	uint64_t address;

	if (end - line > 2 && line[0] == '0' && line[1] == 'x')
		line += 2;
	line = kallsyms_take_hex(line, end, &address);
	if (!line || end - line < 5 || memcmp(line, " : \"", 4) || end[-1] != '"')
		return true;
	*string = (struct string){ .address = address, .at = symbols->strings_text.len };
	if (!add_unescaped(&symbols->strings_text, line + 4, end - 1))
		return false;
	symbols->nr_strings++;
	return true;
}

static int string_compare(const void *a, const void *b)
{
	const struct string *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool strings_read(struct symbols *symbols, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	size_t lines = 1;

	for (const char *c = text; (c = memchr(c, '\n', (size_t)(end - c))); c++)
		lines++;
	symbols->strings = calloc(lines, sizeof(*symbols->strings));
	if (!symbols->strings)
		return false;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!add_string(symbols, at, newline ? newline : end))
			return false;
		at = newline ? newline + 1 : end;
	}
	qsort(symbols->strings, symbols->nr_strings, sizeof(*symbols->strings), string_compare);
	return true;
}

/*
 * A file of several kernels has the texts of all kernels but the first as settings of their buffers (lib/event/unite).
 */
static int text_of(const struct symbols *symbols, enum trace_meta what, const char *setting, struct trace_text *ret)
{
	*ret = trace_setting(symbols->trace, symbols->buffer, setting);
	return ret->text ? 0 : trace_meta(symbols->trace, what, ret, NULL);
}

/* False without memory; a damaged text counts as absent. */
static bool load_strings(struct symbols *symbols)
{
	struct trace_text text;
	int r = text_of(symbols, TRACE_PRINTK, "printk_formats", &text);

	return r || !text.text ? r != -ENOMEM : strings_read(symbols, text.text, text.len);
}

static bool load_kallsyms(struct symbols *symbols)
{
	struct trace_text text;
	int r = text_of(symbols, TRACE_KALLSYMS, "kallsyms", &text);

	if (!r && text.len)
		return kallsyms_read(&symbols->kallsyms, text.text, text.len);
	if (symbols->ask && !symbols->ask(symbols->ask_arg, &symbols->asked) && symbols->asked.len)
		return kallsyms_read(&symbols->kallsyms, symbols->asked.data, symbols->asked.len);
	return r != -ENOMEM;
}

/* Computes from the symbols how far the kernel has moved between the boots. */
static void find_move(struct symbols *symbols)
{
	struct last_boot *boot = &symbols->last_boot;
	uint64_t text = 0;

	if (boot->text_then && kallsyms_address(&symbols->kallsyms, "_text", &text))
		last_boot_text_now(boot, text);
	symbols->moved = boot->delta;
	for (size_t i = 0; i < boot->nr; i++)
		symbols->moved |= boot->modules[i].delta != 0;
}

void symbols_load(const struct symbols *const_symbols)
{
	struct symbols *symbols = (struct symbols *)const_symbols;

	if (atomic_load_explicit(&symbols->loaded, memory_order_acquire))
		return;
	pthread_mutex_lock(&symbols->lock);
	if (!atomic_load_explicit(&symbols->loaded, memory_order_relaxed)) {
		if (!load_kallsyms(symbols) || !load_strings(symbols))
			trace_lacks_memory(symbols->trace);
		find_move(symbols);
		atomic_store_explicit(&symbols->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&symbols->lock);
}

static bool find_now(struct symbols *symbols, uint64_t address, struct symbol *ret)
{
	uint32_t slot = (uint32_t)(address * 0x9e3779b97f4a7c15u >> (64 - MEMO_BITS)), index;

	index = atomic_load_explicit(&symbols->memo[slot], memory_order_relaxed);
	if (!kallsyms_covers(&symbols->kallsyms, index, address)) {
		if (!kallsyms_find(&symbols->kallsyms, address, &index))
			return false;
		atomic_store_explicit(&symbols->memo[slot], index, memory_order_relaxed);
	}
	kallsyms_symbol(&symbols->kallsyms, index, ret);
	return true;
}

/*
 * The delta of an old address, as trace_adjust_address() of kernel/trace/trace.c has it: all addresses from the lowest
 * module on are those of modules, even where the kernel lies above its modules, as on riscv64. Below them an address
 * that is not the kernel's now is not converted.
 */
static uint64_t delta_of(struct symbols *symbols, uint64_t address)
{
	const struct last_boot *boot = &symbols->last_boot;
	struct symbol symbol;

	/* 6.12 adds the distance of the kernel to every address. */
	if (!boot->text_then)
		return boot->delta;
	if (boot->nr && boot->modules[0].then <= address)
		return last_boot_module_delta(boot, address);
	return find_now(symbols, address + boot->delta, &symbol) && !symbol.module ? boot->delta : 0;
}

static bool find_then(struct symbols *symbols, uint64_t address, struct symbol *ret)
{
	uint64_t delta = delta_of(symbols, address);
	bool found = find_now(symbols, address + delta, ret);

	ret->address -= delta;
	return found;
}

bool symbols_find(const struct symbols *const_symbols, uint64_t address, struct symbol *ret)
{
	struct symbols *symbols = (struct symbols *)const_symbols;

	symbols_load(symbols);
	return __builtin_expect(symbols->moved, 0) ? find_then(symbols, address, ret) : find_now(symbols, address, ret);
}

bool symbols_moved(const struct symbols *symbols)
{
	/* A buffer without facts of the last boot needs no conversion, and so no symbols. */
	if (!symbols->last_boot.delta && !symbols->last_boot.text_then)
		return false;
	symbols_load(symbols);
	return symbols->last_boot.delta != 0;
}

uint64_t symbols_now(const struct symbols *symbols, uint64_t address)
{
	symbols_load(symbols);
	return symbols->moved ? address + delta_of((struct symbols *)symbols, address) : address;
}

bool symbols_print(const struct symbols *symbols, uint64_t address, char how, struct out *out)
{
	struct symbol symbol;
	bool backtrace = how == 'B';

	/* A return address may lie after its function: sprint_backtrace() looks one byte before it. */
	if (!symbols_find(symbols, address - backtrace, &symbol))
		return false;
	out_mem(out, symbol.name, symbol.name_len);
	if (how != 's') {
		out_mem(out, "+0x", 3);
		out_hex(out, address - symbol.address);
		out_mem(out, "/0x", 3);
		out_hex(out, symbol.size);
	}
	if (symbol.module) {
		out_mem(out, " [", 2);
		out_mem(out, symbol.module, symbol.module_len);
		out_char(out, ']');
	}
	return true;
}

bool symbols_address(const struct symbols *symbols, const char *name, uint64_t *ret)
{
	symbols_load(symbols);
	/* Every preemptirq event needs the address of _stext. */
	if (!strcmp(name, "_stext") && symbols->kallsyms.core_start) {
		*ret = symbols->kallsyms.core_start - symbols->last_boot.delta;
		return true;
	}
	if (!kallsyms_address(&symbols->kallsyms, name, ret))
		return false;
	*ret -= symbols->last_boot.delta;
	return true;
}

const char *symbols_string(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high;

	symbols_load(symbols);
	for (high = symbols->nr_strings; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (symbols->strings[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == symbols->nr_strings || symbols->strings[low].address != address)
		return NULL;
	return symbols->strings_text.data + symbols->strings[low].at;
}
