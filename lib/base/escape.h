/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_ESCAPE_H
#define WEFT_BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

struct out;

/*
 * What a terminal would obey instead of showing it is written as octal, "\033", as ls and git do: control characters but newline
 * and tab, DEL, the control characters of Unicode, those that turn the direction of text or have no width, and bytes that are no
 * UTF-8. All else stays as it is. A character may come in pieces: what is not complete waits in the state for the next text.
 */
struct escape {
	uint8_t bytes[4];
	uint8_t len; /* of the character that has begun */
};

void escape_text(struct escape *escape, const char *text, size_t len, struct out *out);

/* Nothing follows: what waits is shown. */
void escape_end(struct escape *escape, struct out *out);

/*
 * Makes one line of what came into the out behind its first `from` bytes: newlines are written as "\012" but for those at the end. Where a line
 * of text ends only its writer knows; a newline in a name would make the rest of the line look like another one.
 */
void escape_newlines(struct out *out, size_t from);

#endif
