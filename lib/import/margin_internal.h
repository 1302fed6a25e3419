/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_MARGIN_INTERNAL_H
#define WEFT_IMPORT_MARGIN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MARGIN_MAX = 64 };

/*
 * What a page, an editor or a patch put in front of every line: blanks, "+", " * ", or the line's number. The line
 * "# tracer: " shows it, because the kernel prints nothing in front of it. A number is right-aligned or not, and grows;
 * grep prints a file's name.
 */
struct margin {
	char before[MARGIN_MAX], behind[MARGIN_MAX]; /* the text around the number; without one, all is in `before` */
	size_t before_len, behind_len;
	bool is, has_number, grows, stays; /* a number that stays is part of a file's name */
	uint64_t number;
};

/* Returns how many bytes of the line are its margin. */
size_t margin_len(struct margin *margin, const char *line, size_t len);

#endif
