/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_ENV_H
#define WEFT_MEANING_SCHEMA_ENV_H

#include <stdbool.h>
#include <stdint.h>

struct out;

/* Functions and facts that a program needs from its owner. The functions may be called from any thread. */
struct program_env {
	const void *arg;
	/*
	 * Prints an address like the kernel's %p with the extension `how`: 's' name, 'S' name+offset/size, 'B' for
	 * backtraces. False when the address has no symbol: the program then prints it as hex.
	 */
	bool (*symbol)(const void *arg, uint64_t address, char how, struct out *out);
	/* The string that the kernel has at this address (printk_formats), or NULL. */
	const char *(*string)(const void *arg, uint64_t address);
	/* The address of a symbol (_stext and the like); may be NULL. False when it is unknown. */
	bool (*address)(const void *arg, const char *name, uint64_t *ret);
	/*
	 * Converts an address that was recorded before the kernel moved (a previous boot) to the present one, as
	 * `fields` prints it; NULL: it has not moved.
	 */
	uint64_t (*now)(const void *arg, uint64_t address);
	/* the traced machine as uname -m names it, for the names of errors; NULL: unknown */
	const char *machine;
	bool hash_pointers; /* print a placeholder where the kernel printed a hash, or the hash itself: */
	const struct siphash_key *hash_key; /* the key of the kernel's hashes; NULL: unknown, as nearly always */
	bool null_text;                     /* %p of NULL is "(null)", as wide as an address: before 5.2 */
	bool libc_pointers;                 /* %p as the C library prints it: "0x12", "(nil)" */
	bool bitmask_list;                  /* print masks as "0-3,7": the kernel's option bitmask-list */
	/* Behaviour of the kernel's option `fields`: */
	bool fields_symbols;   /* name the symbol when a number has the size of a pointer: 6.16 and later */
	bool fields_printable; /* show the bytes of a dynamic string that is not printable: 6.19 and later */
};

#endif
