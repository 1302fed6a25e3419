/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_PAIRS_H
#define WEFT_IMPORT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Text of "name=value" pairs with blanks between, and words in front of them or behind a value: "comm=sh pid=62
 * runtime=4002564 [ns]". A format for it: numbers are fields of 64 bits, everything else is text; what stands between
 * is in the print fmt.
 */
bool pairs_are(const char *text, size_t len);

/*
 * The fields, as kinds.c takes them, and the print fmt; false: there are too many, or it has what a print fmt cannot.
 */
bool pairs_shape(const char *text, size_t len, struct buf *fields, struct buf *print);

#endif
