/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_ENV_H
#define WEFT_SCHEMA_ENV_H

#include <stdbool.h>
#include <stdint.h>

struct out;

/* What a program needs from the rest of the world. Every call may come from any thread. */
struct program_env {
	const void *arg;
	/*
	 * Prints an address as the kernel's %p extension `how` does: 's' name, 'S' name+offset/size, 'B' for backtraces.
	 * False when the address has no symbol: the program then prints it as hex.
	 */
	bool (*symbol)(const void *arg, uint64_t address, char how, struct out *out);
	/* The string that the kernel has at this address (printk_formats), or NULL. */
	const char *(*string)(const void *arg, uint64_t address);
	/* The address of a symbol (_stext and the like); may be NULL. False when it is not known. */
	bool (*address)(const void *arg, const char *name, uint64_t *ret);
	/* Where an address lies now that was written when the kernel lay elsewhere, as `fields` prints it; NULL: it has not moved. */
	uint64_t (*now)(const void *arg, uint64_t address);
	const char *machine; /* the traced one, as uname -m names it, for the names of errors; NULL: unknown */
	bool hash_pointers;  /* print a placeholder where the kernel printed a hash */
	bool bitmask_list;   /* print masks as "0-3,7": the kernel's option bitmask-list */
	/* What the kernel's option `fields` does: */
	bool fields_symbols;   /* names what a number as large as a pointer is the address of: 6.16 and later */
	bool fields_printable; /* shows the bytes of a dynamic string that cannot be printed: 6.19 and later */
};

#endif
