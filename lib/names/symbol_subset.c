// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/names/symbol_subset.h"

#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/names/kallsyms_internal.h"
#include "lib/ring/page.h"

#include <stdlib.h>
#include <string.h>

enum { MEMO_BITS = 12, SLACK = 4096, DIGITS_MIN = 8 };

enum { NR_ASKED = 8, NR_BASES = 3 }; /* fields may hold offsets from the first NR_BASES */

/*
 * Symbols that print fmts and the kernel's own renderers look up by name; formats/kernel, lib/schema/expr_names.c and
 * lib/names/kallsyms.c use them.
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
