/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_NAMES_SYMBOLS_H
#define WEFT_NAMES_SYMBOLS_H

#include "lib/base/cleanup.h"
#include "lib/names/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct out;
struct trace;

/*
 * The traced kernel's symbols, from the stored kallsyms, and the strings of printk_formats. Read from the file and
 * sorted when first asked for; lookups may come from any thread. Sizes are distances to the next symbol, as in
 * kernel/kallsyms.c.
 */
struct symbols;

/* The symbols for one buffer. A buffer of the last boot has the addresses of that boot: they are converted. */
int must_check symbols_new(struct trace *trace, size_t buffer, struct symbols **ret, struct fail *fail);
void symbols_free(struct symbols *symbols);

/*
 * Sets a function that provides the text of kallsyms when the trace has none: called once, by the first lookup, on its
 * thread. Without a text there are no symbols.
 */
void symbols_ask(struct symbols *symbols, int (*text)(void *arg, struct buf *buf), void *arg);

/*
 * Reads and sorts the symbols now instead of at the first lookup: for a program that reads the trace on one thread and
 * looks symbols up on others. Symbols that cannot be read count as absent.
 */
void symbols_load(const struct symbols *symbols);

/*
 * symbols_moved(): whether the kernel was at other addresses when the buffer was written (KASLR). symbols_now(): the
 * present address for an address of that time.
 */
bool symbols_moved(const struct symbols *symbols);
uint64_t symbols_now(const struct symbols *symbols, uint64_t address);

/* The symbol that covers an address; false when none does. */
bool symbols_find(const struct symbols *symbols, uint64_t address, struct symbol *ret);

/* Prints as the kernel's %ps ('s'), %pS ('S') and %pB ('B') do; false and nothing when there is no symbol. */
bool symbols_print(const struct symbols *symbols, uint64_t address, char how, struct out *out);

/* The address of the first symbol with exactly this name; false when there is none. Slow: it searches all of them. */
bool symbols_address(const struct symbols *symbols, const char *name, uint64_t *ret);

/* The text of printk_formats at an address; NULL when there is none. */
const char *symbols_string(const struct symbols *symbols, uint64_t address);

#endif
