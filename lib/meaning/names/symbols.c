// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/names/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/names/kallsyms_internal.h"
#include "lib/meaning/names/last_boot_internal.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"

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
 * A file of several kernels has the texts of all kernels but the first as settings of their buffers
 * (lib/meaning/event/unite).
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

bool symbols_at(const struct symbols *symbols, size_t index, struct symbol *ret)
{
	symbols_load(symbols);
	if (index >= symbols->kallsyms.nr_entries)
		return false;
	kallsyms_symbol(&symbols->kallsyms, (uint32_t)index, ret);
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
	size_t low;

	symbols_load(symbols);
	low = vec_count(symbols->nr_strings, i, symbols->strings[i].address < address);
	if (low == symbols->nr_strings || symbols->strings[low].address != address)
		return NULL;
	return symbols->strings_text.data + symbols->strings[low].at;
}

/* The objects for reading one file. */
struct work {
	struct trace *trace;
	struct symbol_subset *subset;
	struct frame_reader *reader;
	struct buf scratch, data;
	uint64_t left; /* bytes of pages that may still be read */
};

static int see_cpu(struct work *work, size_t buffer, size_t cpu, struct fail *fail)
{
	enum { READ_SIZE = 1 << 18 };
	const struct trace_info *info = trace_info(work->trace);
	struct page_shape shape = { .size = trace_buffer(work->trace, buffer)->page_size,
				    .long_size = info->long_size,
				    .swap = info->swap };
	struct trace_pages pages;
	size_t size;
	int r = trace_pages_init(&pages, work->trace, buffer, cpu, fail);

	while (!r) {
		r = trace_pages_size(&pages, READ_SIZE, &size, fail);
		if (r <= 0)
			break;
		if (size > work->left)
			return -EFBIG;
		work->left -= size;
		buf_clear(&work->data);
		if (!buf_reserve(&work->data, size))
			return fail_memory(fail);
		r = trace_pages_read(&pages, work->reader, &work->scratch, work->data.data, size, fail);
		if (!r)
			symbol_subset_pages(work->subset, &shape, (uint8_t *)work->data.data, size);
	}
	return r;
}

static int see_texts(struct work *work, struct fail *fail)
{
	const struct trace_format *formats;
	struct trace_text text;
	const char *name;
	size_t nr, buffer;
	int r = 0;

	formats = trace_formats(work->trace, &nr);
	for (size_t i = 0; !r && i < nr; i++)
		r = symbol_subset_format(work->subset, formats[i].text.text, formats[i].text.len, fail);
	for (size_t i = 0; trace_setting_at(work->trace, i, &buffer, &name, &text); i++) {
		if (!strcmp(name, "last_boot_info") && text.len)
			return -ESTALE;
		symbol_subset_text(work->subset, text.text, text.len);
	}
	if (!r)
		r = trace_meta(work->trace, TRACE_LATENCY, &text, fail);
	if (!r && text.text)
		symbol_subset_text(work->subset, text.text, text.len);
	return r;
}

static int see_trace(struct work *work, struct fail *fail)
{
	int r = see_texts(work, fail);

	for (size_t i = 0; !r && i < trace_buffers(work->trace); i++)
		for (size_t j = 0; !r && j < trace_buffer(work->trace, i)->nr_cpus; j++)
			r = see_cpu(work, i, j, fail);
	return r;
}

int symbol_subset_of_trace(struct trace *trace, uint64_t pages_max, struct buf *ret, struct fail *fail)
{
	struct work work = { .trace = trace, .scratch = BUF_INIT, .data = BUF_INIT, .left = pages_max };
	struct trace_text text;
	int r = trace_meta(trace, TRACE_KALLSYMS, &text, fail);

	if (!r && text.len)
		r = symbol_subset_new(text.text, text.len, trace_info(trace)->long_size, &work.subset, fail);
	if (!r && work.subset) {
		r = frame_reader_new(&work.reader, fail);
		if (!r)
			r = see_trace(&work, fail);
		if (!r)
			r = symbol_subset_take(work.subset, ret, fail);
	}
	symbol_subset_free(work.subset);
	frame_reader_free(work.reader);
	buf_release(&work.scratch);
	buf_release(&work.data);
	return r == -ENOMEM ? r : 0;
}

enum { SLACK = 4096, DIGITS_MIN = 8 };

enum { NR_ASKED = 8, NR_BASES = 3 }; /* fields may hold offsets from the first NR_BASES */

/*
 * Symbols that print fmts and the kernel's own renderers look up by name; formats/kernel,
 * lib/meaning/schema/expr_names.c and lib/meaning/names/kallsyms.c use them.
 */
static const char *const asked_names[NR_ASKED] = {
	"_stext", "_text", "_etext", "_end", "_sinittext", "_einittext", "__irqentry_text_start", "__irqentry_text_end",
};

struct symbol_subset {
	struct kallsyms kallsyms;
	bool *kept;                       /* for each entry */
	uint64_t low, span;               /* the range of all symbols */
	struct text_word asked[NR_ASKED]; /* the lines of asked_names; .at is NULL if there is none */
	uint64_t bases[NR_BASES];
	size_t nr_bases;
	uint8_t long_size;
	uint16_t *types; /* ids of the events whose fields hold such offsets */
	size_t nr_types;
	uint64_t memo[1 << MEMO_BITS]; /* addresses that were already handled */
};

/* Keeps the symbol of an address and its neighbours: for a return address the kernel looks up the byte before it. */
static void keep(struct symbol_subset *subset, uint64_t address)
{
	uint32_t index = 0, last = subset->kallsyms.nr_entries - 1;

	(void)kallsyms_before(&subset->kallsyms, address, &index);
	subset->kept[index] = true;
	subset->kept[index ? index - 1 : 0] = true;
	subset->kept[index < last ? index + 1 : last] = true;
}

static inline void see(struct symbol_subset *subset, uint64_t value)
{
	uint64_t *memo = &subset->memo[value * 0x9e3779b97f4a7c15u >> (64 - MEMO_BITS)];

	if (value - subset->low > subset->span || *memo == value)
		return;
	*memo = value;
	keep(subset, value);
}

/*
 * Finds all of these names in one walk, because the text is long. A line is "ADDRESS TYPE NAME" without a module; all
 * addresses have as many digits.
 */
static void find_asked(struct symbol_subset *subset)
{
	const char *at = subset->kallsyms.text;
	size_t left = subset->kallsyms.len;
	const char *blank = memchr(at, ' ', left);
	size_t name_at = blank ? (size_t)(blank - at) + 3 : left;
	struct text_word line;

	while (text_next_line(&at, &left, &line)) {
		if (line.len <= name_at || line.at[name_at] != '_')
			continue;
		for (size_t i = 0; i < NR_ASKED; i++)
			if (!subset->asked[i].at &&
			    text_word_is((struct text_word){ line.at + name_at, line.len - name_at }, asked_names[i]))
				subset->asked[i] = line;
	}
	for (size_t i = 0; i < NR_ASKED; i++) {
		uint64_t address;

		line = subset->asked[i];
		if (!line.at || !kallsyms_take_hex(line.at, line.at + line.len, &address))
			continue;
		see(subset, address);
		if (i < NR_BASES)
			subset->bases[subset->nr_bases++] = address;
	}
}

int symbol_subset_new(const char *text, size_t len, uint8_t long_size, struct symbol_subset **ret, struct fail *fail)
{
	struct symbol_subset *subset = calloc(1, sizeof(*subset));
	const struct kallsyms *kallsyms;

	if (!subset)
		return fail_memory(fail);
	kallsyms = &subset->kallsyms;
	subset->long_size = long_size;
	if (!kallsyms_read(&subset->kallsyms, text, len) ||
	    !(subset->kept = calloc(kallsyms->nr_entries + 1, sizeof(bool)))) {
		symbol_subset_free(subset);
		return fail_memory(fail);
	}
	if (!kallsyms->nr_entries) {
		symbol_subset_free(subset);
		*ret = NULL;
		return 0;
	}
	subset->low = kallsyms->entries[0].address;
	subset->span = kallsyms->entries[kallsyms->nr_entries - 1].address - subset->low;
	if (subset->span < UINT64_MAX - subset->low - SLACK)
		subset->span += SLACK;
	find_asked(subset);
	*ret = subset;
	return 0;
}

void symbol_subset_free(struct symbol_subset *subset)
{
	if (!subset)
		return;
	kallsyms_release(&subset->kallsyms);
	free(subset->kept);
	free(subset->types);
	free(subset);
}

int symbol_subset_format(struct symbol_subset *subset, const char *text, size_t len, struct fail *fail)
{
	const char *id = memmem(text, len, "\nID: ", 5);
	uint16_t *type;

	if (!id ||
	    (!memmem(text, len, "_stext", 6) && !memmem(text, len, "_text", 5) && !memmem(text, len, "_etext", 6)))
		return 0;
	type = vec_push(subset->types, subset->nr_types);
	if (!type)
		return fail_memory(fail);
	*type = (uint16_t)strtoul(id + 5, NULL, 10);
	return 0;
}

static bool counts_from_base(const struct symbol_subset *subset, const struct record *record, bool swap)
{
	uint16_t type = record->len >= sizeof(type) ? load_u16(record->data, swap) : 0;

	for (size_t i = 0; i < subset->nr_types; i++)
		if (subset->types[i] == type)
			return true;
	return false;
}

static void see_offsets(struct symbol_subset *subset, const struct record *record, bool swap)
{
	for (uint32_t at = 0; record->len - at >= sizeof(uint32_t); at += sizeof(uint32_t)) {
		uint32_t offset = load_u32(record->data + at, swap);

		for (size_t i = 0; i < subset->nr_bases; i++) {
			see(subset, subset->bases[i] + offset);
			see(subset, subset->bases[i] + (uint64_t)(int32_t)offset);
		}
	}
}

/* Fields of probes and dynamic arrays begin at any byte. */
static void see_words(struct symbol_subset *subset, const uint8_t *data, size_t len, bool swap)
{
	uint64_t low = subset->low, span = subset->span;

	if (subset->long_size == sizeof(uint32_t)) {
		for (; len >= sizeof(uint32_t); len--, data++)
			see(subset, load_u32(data, swap));
		return;
	}
	for (; len >= sizeof(uint64_t); len--, data++) {
		uint64_t value = load_u64(data, swap);

		if (__builtin_expect(value - low <= span, 0))
			see(subset, value);
	}
}

void symbol_subset_pages(struct symbol_subset *subset, const struct page_shape *shape, const uint8_t *data, size_t len)
{
	struct record record;
	struct page page;

	for (; len; data += shape->size, len = len > shape->size ? len - shape->size : 0) {
		size_t size = len < shape->size ? len : shape->size;

		/* In a damaged page another reader may find more records than weft, so all its bytes are searched. */
		if (page_init(&page, shape, data, size, NULL)) {
			see_words(subset, data, size, shape->swap);
			continue;
		}
		see_words(subset, page.data, page.commit, shape->swap);
		while (subset->nr_types && page_next(&page, &record, NULL) > 0)
			if (counts_from_base(subset, &record, shape->swap))
				see_offsets(subset, &record, shape->swap);
	}
}

void symbol_subset_text(struct symbol_subset *subset, const char *text, size_t len)
{
	const char *at = text, *end = text + len;

	while (at < end) {
		const char *start = at;
		uint64_t value;

		while (at < end && ((*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f')))
			at++;
		if (at - start >= DIGITS_MIN) {
			if (kallsyms_take_hex(start, at, &value))
				see(subset, value);
			see(subset, strtoull(start, NULL, 10));
		}
		at += at == start;
	}
}

/* The line of a name, its newline included. */
static const char *line_of(const struct kallsyms *kallsyms, uint32_t at, size_t *ret_len)
{
	const char *name = kallsyms->text + at, *end = kallsyms->text + kallsyms->len;
	const char *before = memrchr(kallsyms->text, '\n', at);
	const char *start = before ? before + 1 : kallsyms->text;
	const char *newline = memchr(name, '\n', (size_t)(end - name));

	*ret_len = (size_t)((newline ? newline + 1 : end) - start);
	return start;
}

static bool add_entry(const struct kallsyms *kallsyms, uint32_t index, bool known, struct buf *ret)
{
	const struct kallsyms_entry *entry = &kallsyms->entries[index];
	size_t len, type;
	const char *line = line_of(kallsyms, entry->at, &len);

	type = (size_t)(kallsyms->text + entry->at - line) - 2;
	if (!buf_add(ret, line, len))
		return false;
	if (!known)
		ret->data[ret->len - len + type] =
			kallsyms_is_text(kallsyms, index) ? KALLSYMS_UNKNOWN_TEXT : KALLSYMS_UNKNOWN_DATA;
	return true;
}

/* These names may be aliases of other symbols. Their lines come last, so that they hide no symbol. */
static bool add_asked(const struct symbol_subset *subset, struct buf *ret)
{
	for (size_t i = 0; i < NR_ASKED; i++)
		if (subset->asked[i].at &&
		    !(buf_add(ret, subset->asked[i].at, subset->asked[i].len) && buf_add(ret, "\n", 1)))
			return false;
	return true;
}

/* Trampolines of ftrace and of probes: the kernel does not look them up, other readers do. There are few. */
static bool add_trampolines(const struct kallsyms *kallsyms, struct buf *ret)
{
	static const char module[] = "\t[__builtin__ftrace]";
	const char *at = kallsyms->text, *end = at + kallsyms->len;

	while ((at = memmem(at, (size_t)(end - at), module, sizeof(module) - 1))) {
		size_t len;
		const char *line = line_of(kallsyms, (uint32_t)(at - kallsyms->text), &len);

		if (!buf_add(ret, line, len))
			return false;
		at = line + len;
	}
	return true;
}

int symbol_subset_take(struct symbol_subset *subset, struct buf *ret, struct fail *fail)
{
	const struct kallsyms *kallsyms = &subset->kallsyms;

	for (uint32_t i = 0; i < kallsyms->nr_entries; i++) {
		bool ends = i && subset->kept[i - 1] && !subset->kept[i];

		if ((subset->kept[i] || ends) && !add_entry(kallsyms, i, subset->kept[i], ret))
			return fail_memory(fail);
	}
	if (!add_trampolines(kallsyms, ret) || !add_asked(subset, ret))
		return fail_memory(fail);
	return 0;
}
