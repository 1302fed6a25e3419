/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_KALLSYMS_H
#define WEFT_EVENT_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;

/*
 * The lines of /proc/kallsyms as the kernel looks addresses up in them: the first of several names of one address, up to the
 * next address with a name. kernel/kallsyms.c: get_symbol_pos(), is_ksym_addr(); kernel/module/kallsyms.c:
 * find_kallsyms_symbol(). It borrows the text.
 * Invariant: entries ascend strictly by address; names and modules lie inside the text.
 * The text does not tell where a module's memory ends: the last symbol of a section is taken to reach to the end
 * of its page, as strictly aligned sections do.
 * Not supported: texts of 4 GiB or more.
 */
struct kallsyms_entry {
	uint64_t address;
	uint32_t at; /* of the name in the text */
	uint16_t name_len;
	uint16_t module_len; /* 0: the kernel itself, or BPF, which is printed without one */
};

struct kallsyms {
	const char *text;
	size_t len;
	struct kallsyms_entry *entries;
	uint32_t nr_entries;
	uint64_t core_start, core_end; /* addresses of _stext and _end: beyond them the kernel has only modules */
};

/* Lines that are none are skipped. False without memory: then there are no symbols. */
bool kallsyms_read(struct kallsyms *kallsyms, const char *text, size_t len);
void kallsyms_release(struct kallsyms *kallsyms);

bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address, uint32_t *ret_index);

/* Whether this entry is the one to be found for an address; any index may be asked for. */
bool kallsyms_covers(const struct kallsyms *kallsyms, uint32_t index, uint64_t address);

void kallsyms_symbol(const struct kallsyms *kallsyms, uint32_t index, struct symbol *ret);

/* The address of the first line with that name and no module, aliases included. Walks the text. */
bool kallsyms_address(const struct kallsyms *kallsyms, const char *name, uint64_t *ret);

/* Reads hex digits: what follows them, or NULL when there are none or more than 64 bits. */
const char *kallsyms_take_hex(const char *at, const char *end, uint64_t *ret);

#endif
