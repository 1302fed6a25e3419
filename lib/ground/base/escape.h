/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_ESCAPE_H
#define WEFT_GROUND_BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

struct out;

/*
 * Writes characters that a terminal would obey instead of showing as octal ("\033"), like ls and git: control
 * characters except newline and tab, DEL, Unicode's control characters, characters that change the direction of text or
 * have no width, and bytes that are not UTF-8. Everything else stays as it is. A character may arrive in pieces: an
 * incomplete one waits in the state for the next text.
 */
struct escape {
	uint8_t bytes[4];
	uint8_t len; /* bytes so far of a character that is not complete */
};

void escape_text(struct escape *escape, const char *text, size_t len, struct out *out);

/* Ends the text: an incomplete character is shown as octal. */
void escape_end(struct escape *escape, struct out *out);

/*
 * Turns the bytes after the first `from` bytes of the out into one line: newlines except those at the end become
 * "\012". Only the writer of a line knows where the line ends; a newline in a name would make the rest of the line look
 * like another line.
 */
void escape_newlines(struct out *out, size_t from);

#endif
