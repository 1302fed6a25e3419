/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_NAMES_SYMBOL_SUBSET_H
#define WEFT_NAMES_SYMBOL_SUBSET_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct page_shape;
struct trace;

/*
 * The lines of /proc/kallsyms that a trace may need: for every value in its pages that may be an address, at any byte
 * offset, the symbol and its neighbours. Symbols between them are left out: a line of type '?' or '!' says that nothing
 * is known from its address on (lib/names/kallsyms_internal.h).
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
 * symbol_subset_trace.c: the subset of a file's own symbols. Empty when all symbols must be kept: the file has none, or
 * more than `pages_max` bytes of pages, or a buffer of the kernel's last boot, or pages that cannot be read.
 */
int must_check symbol_subset_of_trace(struct trace *trace, uint64_t pages_max, struct buf *ret, struct fail *fail);

#endif
