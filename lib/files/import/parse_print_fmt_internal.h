/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_PARSE_PRINT_FMT_INTERNAL_H
#define WEFT_FILES_IMPORT_PARSE_PRINT_FMT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"

struct format;

/*
 * Recovers the fields of a record from the text that its print fmt printed, if the print fmt is simple enough: numbers
 * and texts, names of numbers (__print_symbolic), x ? "a" : "b", the states of sched_switch, and names of functions
 * (%ps). The result is a guess until printing the record gives the same text: the caller must check that. Invariants:
 * the number of steps is bounded for any text; the record is not longer than the text plus the format's size.
 * Not supported: formats other than those of a 64-bit little-endian kernel.
 */
struct parse_print_fmt;

/* Returns NULL if the print fmt is not simple enough, or when memory runs out. Borrows the format. */
struct parse_print_fmt *parse_print_fmt_new(const struct format *format);
void parse_print_fmt_free(struct parse_print_fmt *parse);

/* Returns the address of a function whose name a text has; 0: it cannot have one. */
struct parse_print_fmt_symbols {
	uint64_t (*address)(void *arg, const char *text, size_t len);
	void *arg;
};

/* Fills the record behind its common fields, which are zero. Returns false if this print fmt cannot print the text. */
bool parse_print_fmt_run(const struct parse_print_fmt *parse, const struct parse_print_fmt_symbols *symbols,
			 const char *text, size_t len, struct buf *record);

#endif
