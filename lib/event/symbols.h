/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_SYMBOLS_H
#define WEFT_EVENT_SYMBOLS_H

#include "lib/base/cleanup.h"
#include "lib/event/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct out;
struct trace;

/*
 * The traced kernel's symbols, from the stored kallsyms, and the strings of printk_formats. Read from the file and sorted
 * when first asked for; lookups may come from any thread. Sizes are distances to the next symbol, as in kernel/kallsyms.c.
 */
struct symbols;

/* Of a buffer: it may be of the kernel's last boot, then addresses are those of then, and so are the symbols'. */
int must_check symbols_new(struct trace *trace, size_t buffer, struct symbols **ret, struct fail *fail);
void symbols_free(struct symbols *symbols);

/*
 * Where the text of kallsyms comes from when the trace has none: asked once, by the first lookup, on its thread. Without a
 * text there are no symbols.
 */
void symbols_ask(struct symbols *symbols, int (*text)(void *arg, struct buf *buf), void *arg);

/*
 * Reads and sorts them now, so that no later lookup has to: for whoever reads the trace on one thread and looks up on
 * others. What cannot be read counts as absent.
 */
void symbols_load(const struct symbols *symbols);

/* Whether the kernel lay elsewhere when the buffer was written; and where an address of then lies now: the same if nothing has moved. */
bool symbols_moved(const struct symbols *symbols);
uint64_t symbols_now(const struct symbols *symbols, uint64_t address);

/* The symbol that covers an address; false when none does. */
bool symbols_find(const struct symbols *symbols, uint64_t address, struct symbol *ret);

/* Prints as the kernel's %ps ('s'), %pS ('S') and %pB ('B') do; false and nothing when there is no symbol. */
bool symbols_print(const struct symbols *symbols, uint64_t address, char how, struct out *out);

/* The address of the first symbol of exactly that name; false when there is none. Slow: for what is asked once. */
bool symbols_address(const struct symbols *symbols, const char *name, uint64_t *ret);

/* The text of printk_formats at an address; NULL. */
const char *symbols_string(const struct symbols *symbols, uint64_t address);

#endif
