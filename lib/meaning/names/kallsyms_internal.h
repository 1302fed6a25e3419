/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_KALLSYMS_INTERNAL_H
#define WEFT_MEANING_NAMES_KALLSYMS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;

/*
 * The lines of /proc/kallsyms, with the kernel's rules of lookup: an address belongs to the symbol at or below it; of
 * several names of one address the first counts. kernel/kallsyms.c: get_symbol_pos(), is_ksym_addr();
 * kernel/module/kallsyms.c: find_kallsyms_symbol(). It borrows the text.
 * Invariant: entries ascend strictly by address; names and modules lie inside the text.
 * The text does not tell where a module's memory ends: the last symbol of a section is assumed to reach to the end of
 * its page, because sections are aligned to pages.
 * A line of type '?' (among functions) or '!' (among data) begins a range without symbols: a file may contain a subset
 * of the symbols.
 * Not supported: texts of 4 GiB or more.
 */
enum { KALLSYMS_UNKNOWN_TEXT = '?', KALLSYMS_UNKNOWN_DATA = '!' };

struct kallsyms_entry {
	uint64_t address;
	uint32_t at; /* offset of the name in the text */
	uint16_t name_len;
	uint16_t module_len; /* 0: the kernel itself, or BPF, which is printed without one */
};

struct kallsyms {
	const char *text;
	size_t len;
	struct kallsyms_entry *entries;
	uint32_t nr_entries;
	uint64_t core_start, core_end; /* addresses of _stext and _end: beyond them the kernel has only modules */
	/*
	 * Kernels without CONFIG_KALLSYMS_ALL list no _end. They look up only addresses in their text and in their
	 * initial text (is_ksym_addr()), although some symbols of data are listed.
	 */
	bool text_only;
	uint64_t text_end, init_start, init_end; /* _etext, _sinittext, _einittext; 0: not listed */
};

/* Skips lines that are not symbols. False without memory: then there are no symbols. */
bool kallsyms_read(struct kallsyms *kallsyms, const char *text, size_t len);
void kallsyms_release(struct kallsyms *kallsyms);

/* The last entry at or below an address, even if it does not cover it: other programs do not check that. */
bool kallsyms_before(const struct kallsyms *kallsyms, uint64_t address, uint32_t *ret_index);

bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, uint32_t *ret_index);

/* Whether the entry is the symbol of an address; any index is allowed. */
bool kallsyms_covers(const struct kallsyms *kallsyms, uint32_t index, uint64_t address);

void kallsyms_symbol(const struct kallsyms *kallsyms, uint32_t index, struct symbol *ret);

/* Whether the entry lies in the code of the kernel or a module. */
bool kallsyms_is_text(const struct kallsyms *kallsyms, uint32_t index);

/* The address of the first line with that name and no module, aliases included. Walks the text. */
bool kallsyms_address(const struct kallsyms *kallsyms, const char *name, uint64_t *ret);

/* Reads hex digits and returns a pointer to the text after them; NULL when there are none or more than 64 bits. */
const char *kallsyms_take_hex(const char *at, const char *end, uint64_t *ret);

#endif
