/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_TYPESET_INTERNAL_H
#define WEFT_IMPORT_TYPESET_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What Markdown and editors make of a line: `code`, the bars of a table, and characters in place of "=>", "<-", "-" and
 * "...". They are undone where the kernel can have printed nothing else; anywhere else a marker may have them itself.
 */
struct typeset {
	bool dashes, dots; /* a task showed that those of the text were replaced */
};

/*
 * Takes off what stands both in front of the line and at its end. Returns how much of its beginning is taken; *len is
 * that of the rest, which is changed in its place.
 */
size_t typeset_unwrap(char *text, size_t *len);

/* Puts back the kernel's characters, in their place. Returns the new length, which is not longer. */
size_t typeset_undo(struct typeset *typeset, char *text, size_t len);

#endif
