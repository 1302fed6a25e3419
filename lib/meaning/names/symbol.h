/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_SYMBOL_H
#define WEFT_MEANING_NAMES_SYMBOL_H

#include <stdint.h>

/* The symbol that an address of the kernel belongs to. Its names have lengths and no NUL. */
struct symbol {
	const char *name;
	uint32_t name_len;
	const char *module; /* NULL for the kernel itself */
	uint32_t module_len;
	uint64_t address, size;
};

#endif
