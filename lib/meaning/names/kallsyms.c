// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/names/kallsyms_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/populate.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/names/symbol.h"

enum { PAGE_MASK = 4095 };

#define EACH(byte) (0x0101010101010101u * (byte))

/* Parses eight hex digits at once: false when any byte is not a hex digit. */
static inline bool hex_8(const char *at, uint64_t *ret)
{
	uint64_t text = load_u64(at, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__), lower = text | EACH(0x20), known,
		 value;

	/* The upper bit of each byte is set for '0' to '9' and for 'a' to 'f'. */
	known = (text + EACH(0x80 - '0')) & ~(text + EACH(0x7f - '9'));
	known |= (lower + EACH(0x80 - 'a')) & ~(lower + EACH(0x7f - 'f'));
	if (text & EACH(0x80) || (known & EACH(0x80)) != EACH(0x80))
		return false;
	value = (text & EACH(0x0f)) + (text >> 6 & EACH(0x01)) * 9;
	value = (value | value >> 4) & 0x00ff00ff00ff00ff;
	value = (value | value >> 8) & 0x0000ffff0000ffff;
	*ret = (value | value >> 16) & 0xffffffff;
	return true;
}

/* Parses the 16 digits and the blank at the beginning of a line of a 64-bit kernel. */
static inline const char *take_address(const char *at, const char *end, uint64_t *ret)
{
	uint64_t high, low;

	if (end - at < 17 || at[16] != ' ' || !hex_8(at, &high) || !hex_8(at + 8, &low))
		return kallsyms_take_hex(at, end, ret);
	*ret = high << 32 | low;
	return at + 16;
}

const char *kallsyms_take_hex(const char *at, const char *end, uint64_t *ret)
{
	const char *start = at;
	uint64_t value = 0;

	for (; at < end; at++) {
		unsigned char c = (unsigned char)*at;
		unsigned char digit = (unsigned char)(c - '0');

		if (digit > 9) {
			digit = (unsigned char)((c | 0x20) - 'a');
			if (digit > 5)
				break;
			digit = (unsigned char)(digit + 10);
		}
		value = value << 4 | digit;
	}
	if (at == start || at - start > 16)
		return NULL;
	*ret = value;
	return at;
}

/* Labels of assemblers and compilers that the kernel leaves out in modules: is_mapping_symbol(). */
static bool is_mapping_symbol(const char *name, size_t len)
{
	if (len >= 2 && ((name[0] == '.' && name[1] == 'L') || (name[0] == 'L' && name[1] == '0')))
		return true;
	/*
	 * Kernels before 6.16 left out $a, $d, $t and $x, which are all that ARM has; no other symbol begins with '$'.
	 */
	return len && name[0] == '$';
}

/* Takes note of the symbols that tell where the kernel's own text and data lie. */
static void note_bound(struct kallsyms *kallsyms, const char *name, size_t len, uint64_t address)
{
	const struct {
		const char *name;
		uint64_t *address;
	} bounds[] = {
		{ "_stext", &kallsyms->core_start },   { "_end", &kallsyms->core_end },
		{ "_etext", &kallsyms->text_end },     { "_sinittext", &kallsyms->init_start },
		{ "_einittext", &kallsyms->init_end },
	};

	if (len > strlen("_sinittext"))
		return;
	for (size_t i = 0; i < array_size(bounds); i++)
		if (strlen(bounds[i].name) == len && !memcmp(name, bounds[i].name, len))
			*bounds[i].address = address;
}

/* Parses "ADDRESS TYPE NAME[\t[MODULE]]": true for a symbol that the kernel looks up. */
static bool entry_parse(struct kallsyms *kallsyms, const char *line, const char *end, struct kallsyms_entry *ret)
{
	const char *at, *name, *tab, *module;
	size_t module_len = 0;
	uint64_t address;

	at = take_address(line, end, &address);
	if (!at || end - at < 4 || at[0] != ' ' || at[2] != ' ' || !address)
		return false;
	name = at + 3;
	tab = memchr(name, '\t', (size_t)(end - name));
	if (tab) {
		module = tab + 2;
		/* Trampolines and probes of ftrace and kprobes: listed, but not found by a lookup. */
		if (end - module < 2 || !memcmp(module, "__", 2))
			return false;
		module_len = (size_t)(end - module) - 1;
		if (module_len == 3 && !memcmp(module, "bpf", 3))
			module_len = 0;
		else if (is_mapping_symbol(name, (size_t)(tab - name)))
			return false;
		end = tab;
	} else if (*name == '_') {
		note_bound(kallsyms, name, (size_t)(end - name), address);
	}
	if (name == end || end - name > UINT16_MAX || module_len > UINT16_MAX)
		return false;
	*ret = (struct kallsyms_entry){
		.address = address,
		.at = (uint32_t)(name - kallsyms->text),
		.name_len = (uint16_t)(end - name),
		.module_len = (uint16_t)module_len,
	};
	return true;
}

static int entry_compare(const void *a, const void *b)
{
	const struct kallsyms_entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/*
 * A radix sort by one byte of the addresses, the last byte first; each pass keeps the order of equal ones, which is
 * that of the text.
 */
static void sort_by_byte(const struct kallsyms_entry *from, struct kallsyms_entry *to, size_t count, unsigned shift)
{
	size_t starts[256] = { 0 }, start = 0;

	for (size_t i = 0; i < count; i++)
		starts[from[i].address >> shift & 255]++;
	for (size_t i = 0; i < array_size(starts); i++) {
		size_t here = starts[i];

		starts[i] = start;
		start += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i].address >> shift & 255]++] = from[i];
}

/* Sorts by address, then by position in the text, which is the order at the beginning. */
static void entries_sort(struct kallsyms_entry *entries, size_t count)
{
	cleanup_free struct kallsyms_entry *room = malloc(count * sizeof(*room));
	struct kallsyms_entry *from = entries, *to = room;
	uint64_t differ = 0;

	if (!room) {
		qsort(entries, count, sizeof(*entries), entry_compare);
		return;
	}
	for (size_t i = 1; i < count; i++)
		differ |= entries[i].address ^ entries[0].address;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		struct kallsyms_entry *sorted = to;

		if (!(differ >> shift & 255))
			continue;
		sort_by_byte(from, to, count, shift);
		to = from;
		from = sorted;
	}
	if (from != entries)
		memcpy(entries, from, count * sizeof(*entries));
}

/* Merges two sorted parts; of equal addresses the first part has the first ones, as the text has. */
static void entries_merge(struct kallsyms_entry *entries, size_t half, size_t count)
{
	cleanup_free struct kallsyms_entry *first = malloc(half * sizeof(*first));
	size_t a = 0, b = half, to = 0;

	if (!first) {
		qsort(entries, count, sizeof(*entries), entry_compare);
		return;
	}
	memcpy(first, entries, half * sizeof(*first));
	while (a < half && b < count)
		entries[to++] = entries[b].address < first[a].address ? entries[b++] : first[a++];
	memcpy(entries + to, first + a, (half - a) * sizeof(*first));
}

static bool in_core(const struct kallsyms *kallsyms, uint64_t address)
{
	return address >= kallsyms->core_start && address < kallsyms->core_end;
}

static bool is_kernels_own(const struct kallsyms *kallsyms, const struct kallsyms_entry *entry)
{
	const char *behind = kallsyms->text + entry->at + entry->name_len;

	return !entry->module_len && *behind != '\t';
}

/*
 * The kernel's own symbols are sorted, those of modules follow in any order: usually only the latter have to be sorted.
 * Then the first symbol of each address is kept, except the kernel's own symbols outside its text and data.
 */
static void entries_settle(struct kallsyms *kallsyms)
{
	struct kallsyms_entry *entries = kallsyms->entries;
	size_t sorted = 1, count = kallsyms->nr_entries, kept = 0;

	while (sorted < count && entries[sorted - 1].address <= entries[sorted].address)
		sorted++;
	if (sorted < count) {
		entries_sort(entries + sorted, count - sorted);
		if (entries[sorted].address < entries[sorted - 1].address)
			entries_merge(entries, sorted, count);
	}
	for (size_t i = 0; i < count; i++) {
		const struct kallsyms_entry *entry = &entries[i];

		if (kallsyms->core_end && is_kernels_own(kallsyms, entry) && !in_core(kallsyms, entry->address) &&
		    entry->address != kallsyms->core_end)
			continue;
		if (kept && entries[kept - 1].address == entry->address)
			continue;
		entries[kept++] = *entry;
	}
	kallsyms->nr_entries = (uint32_t)kept;
}

/*
 * kallsyms_lookup() searches addresses inside the kernel only among the kernel's own symbols. Per-CPU symbols of
 * modules are listed as offsets, which on ppc64 look like addresses inside the kernel: they are dropped.
 */
static void entries_drop_strays(struct kallsyms *kallsyms)
{
	uint32_t kept = 0;

	for (size_t i = 0; i < kallsyms->nr_entries; i++) {
		const struct kallsyms_entry *entry = &kallsyms->entries[i];
		bool inside = entry->address >= kallsyms->core_start && entry->address < kallsyms->core_end;

		if (!inside || is_kernels_own(kallsyms, entry))
			kallsyms->entries[kept++] = *entry;
	}
	kallsyms->nr_entries = kept;
}

bool kallsyms_read(struct kallsyms *kallsyms, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	size_t size = len / 40 + 16;

	*kallsyms = (struct kallsyms){ .text = text, .len = len };
	if (len > UINT32_MAX)
		return true;
	kallsyms->entries = malloc(size * sizeof(*kallsyms->entries));
	if (!kallsyms->entries)
		return false;
	populate(kallsyms->entries, size * sizeof(*kallsyms->entries));
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (kallsyms->nr_entries == size) {
			struct kallsyms_entry *more = realloc(kallsyms->entries, size * 2 * sizeof(*more));

			if (!more) {
				kallsyms->nr_entries = 0;
				return false;
			}
			kallsyms->entries = more;
			size *= 2;
		}
		/* The last line needs its newline: is_kernels_own() looks at the byte after the name. */
		if (!newline)
			break;
		if (entry_parse(kallsyms, at, newline, &kallsyms->entries[kallsyms->nr_entries]))
			kallsyms->nr_entries++;
		at = newline + 1;
	}
	/* A choice of symbols that an old weft made may lack _end; it then also lacks _sinittext. */
	kallsyms->text_only = !kallsyms->core_end && kallsyms->core_start && kallsyms->init_start &&
			      kallsyms->text_end > kallsyms->core_start;
	if (kallsyms->core_end <= kallsyms->core_start && !kallsyms->text_only)
		kallsyms->core_start = kallsyms->core_end = 0;
	entries_drop_strays(kallsyms);
	entries_settle(kallsyms);
	return true;
}

void kallsyms_release(struct kallsyms *kallsyms)
{
	free(kallsyms->entries);
	*kallsyms = (struct kallsyms){ .text = NULL };
}

static bool is_text(const struct kallsyms *kallsyms, const struct kallsyms_entry *entry)
{
	char type = kallsyms->text[entry->at - 2];

	return type == 't' || type == 'T' || type == 'w' || type == 'W' || type == KALLSYMS_UNKNOWN_TEXT;
}

bool kallsyms_is_text(const struct kallsyms *kallsyms, uint32_t index)
{
	return is_text(kallsyms, &kallsyms->entries[index]);
}

static inline bool is_unknown(const struct kallsyms *kallsyms, const struct kallsyms_entry *entry)
{
	char type = kallsyms->text[entry->at - 2];

	return type == KALLSYMS_UNKNOWN_TEXT || type == KALLSYMS_UNKNOWN_DATA;
}

static bool same_module(const struct kallsyms *kallsyms, const struct kallsyms_entry *a, const struct kallsyms_entry *b)
{
	const char *text = kallsyms->text;

	return a->module_len == b->module_len &&
	       !memcmp(text + a->at + a->name_len, text + b->at + b->name_len, a->module_len + 2u);
}

/* The end of an entry's symbol: the first address after it. */
static uint64_t entry_end(const struct kallsyms *kallsyms, uint32_t index)
{
	const struct kallsyms_entry *entry = &kallsyms->entries[index], *next = entry + 1;
	bool last = index + 1 >= kallsyms->nr_entries;
	uint64_t page_end = (entry->address | PAGE_MASK) + 1;

	if (is_kernels_own(kallsyms, entry)) {
		if (kallsyms->core_end)
			return last || next->address > kallsyms->core_end ? kallsyms->core_end : next->address;
		return last || !is_kernels_own(kallsyms, next) ? page_end : next->address;
	}
	if (last)
		return page_end;
	if (same_module(kallsyms, entry, next) && is_text(kallsyms, entry) == is_text(kallsyms, next))
		return next->address;
	return next->address < page_end ? next->address : page_end;
}

/* is_kernel_text() and is_kernel_inittext() of include/linux/kallsyms.h and asm-generic/sections.h */
static bool in_text(const struct kallsyms *kallsyms, uint64_t address)
{
	return (address >= kallsyms->core_start && address < kallsyms->text_end) ||
	       (address >= kallsyms->init_start && address < kallsyms->init_end);
}

bool kallsyms_covers(const struct kallsyms *kallsyms, uint32_t index, uint64_t address)
{
	return index < kallsyms->nr_entries && address >= kallsyms->entries[index].address &&
	       address < entry_end(kallsyms, index) && !is_unknown(kallsyms, &kallsyms->entries[index]) &&
	       (!kallsyms->text_only || in_text(kallsyms, address) ||
		!is_kernels_own(kallsyms, &kallsyms->entries[index]));
}

bool kallsyms_before(const struct kallsyms *kallsyms, uint64_t address, uint32_t *ret_index)
{
	uint32_t low = vec_count(kallsyms->nr_entries, i, kallsyms->entries[i].address <= address);

	if (!low)
		return false;
	*ret_index = low - 1;
	return true;
}

bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, uint32_t *ret_index)
{
	uint32_t index;

	if (!kallsyms_before(kallsyms, address, &index) || !kallsyms_covers(kallsyms, index, address))
		return false;
	*ret_index = index;
	return true;
}

void kallsyms_symbol(const struct kallsyms *kallsyms, uint32_t index, struct symbol *ret)
{
	const struct kallsyms_entry *entry = &kallsyms->entries[index];
	const char *name = kallsyms->text + entry->at;

	*ret = (struct symbol){
		.name = name,
		.name_len = entry->name_len,
		.module = entry->module_len ? name + entry->name_len + 2 : NULL,
		.module_len = entry->module_len,
		.address = entry->address,
		.size = entry_end(kallsyms, index) - entry->address,
	};
}

bool kallsyms_address(const struct kallsyms *kallsyms, const char *name, uint64_t *ret)
{
	const char *text = kallsyms->text ? kallsyms->text : "", *end = text + kallsyms->len, *at = text;
	size_t len = strlen(name);

	if (!len)
		return false;
	while (at < end && (at = memmem(at, (size_t)(end - at), name, len))) {
		const char *line = memrchr(text, '\n', (size_t)(at - text));

		line = line ? line + 1 : text;
		if (at + len < end && at[len] == '\n' && at > text && at[-1] == ' ' && kallsyms_take_hex(line, at, ret))
			return true;
		at += len;
	}
	return false;
}
