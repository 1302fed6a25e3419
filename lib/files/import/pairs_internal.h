/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_PAIRS_INTERNAL_H
#define WEFT_FILES_IMPORT_PAIRS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * A text of "name=value" pairs with blanks between them, and words before them or after a value: "comm=sh pid=62
 * runtime=4002564 [ns]". This makes a format for it: numbers become fields of 64 bits, all other values become texts,
 * and what stands between them goes into the print fmt.
 */
bool pairs_are(const char *text, size_t len);

/*
 * Makes the fields, in the form that kinds.c reads, and the print fmt. Returns false if there are too many fields, or
 * if the text has something that a print fmt cannot contain.
 */
bool pairs_shape(const char *text, size_t len, struct buf *fields, struct buf *print);

/* The same for pairs behind what the print fmt `before` prints, whose fields are in `fields`. */
bool pairs_shape_behind(const char *before, const char *text, size_t len, struct buf *fields, struct buf *print);

#endif
