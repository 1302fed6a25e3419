/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_SYMBOL_H
#define WEFT_EVENT_SYMBOL_H

#include <stdint.h>

/* What an address of the kernel belongs to. The names are no strings: they have lengths. */
struct symbol {
	const char *name;
	uint32_t name_len;
	const char *module; /* NULL for the kernel itself */
	uint32_t module_len;
	uint64_t address, size;
};

#endif
