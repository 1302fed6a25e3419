/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_SYMBOLS_H
#define WEFT_MEANING_NAMES_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/names/symbol.h"

struct buf;
struct fail;
struct out;
struct page_shape;
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

/* Lists the symbols in the order of their addresses, as they are today: false after the last. */
bool symbols_at(const struct symbols *symbols, size_t index, struct symbol *ret);

/* Prints as the kernel's %ps ('s'), %pS ('S') and %pB ('B') do; false and nothing when there is no symbol. */
bool symbols_print(const struct symbols *symbols, uint64_t address, char how, struct out *out);

/* The address of the first symbol with exactly this name; false when there is none. Slow: it searches all of them. */
bool symbols_address(const struct symbols *symbols, const char *name, uint64_t *ret);

/* The text of printk_formats at an address; NULL when there is none. */
const char *symbols_string(const struct symbols *symbols, uint64_t address);

/*
 * The lines of /proc/kallsyms that a trace may need: for every value in its pages that may be an address, at any byte
 * offset, the symbol and its neighbours. Symbols between them are left out: a line of type '?' or '!' says that nothing
 * is known from its address on (lib/meaning/names/kallsyms_internal.h).
 * Invariant: for a value in the pages, the subset gives the same symbol as the complete text. For another value it
 * gives that or none.
 */
struct symbol_subset;

/* Borrows the text. *ret is NULL when the text has no symbol with an address: then keep all of it. */
int must_check symbol_subset_new(const char *text, size_t len, uint8_t long_size, struct symbol_subset **ret,
				 struct fail *fail);
void symbol_subset_free(struct symbol_subset *subset);

/*
 * Adds the format of an event, whose records may hold offsets from one of the kernel's addresses. Call it before the
 * pages.
 */
int must_check symbol_subset_format(struct symbol_subset *subset, const char *text, size_t len, struct fail *fail);

/* Adds `len` bytes of whole pages. */
void symbol_subset_pages(struct symbol_subset *subset, const struct page_shape *shape, const uint8_t *data, size_t len);

/* Adds a text that may hold addresses as numbers. */
void symbol_subset_text(struct symbol_subset *subset, const char *text, size_t len);

/* Appends the lines, ascending. */
int must_check symbol_subset_take(struct symbol_subset *subset, struct buf *ret, struct fail *fail);

/*
 * The subset of a file's own symbols. Empty when all symbols must be kept: the file has none, or
 * more than `pages_max` bytes of pages, or a buffer of the kernel's last boot, or pages that cannot be read.
 */
int must_check symbol_subset_of_trace(struct trace *trace, uint64_t pages_max, struct buf *ret, struct fail *fail);

#endif
