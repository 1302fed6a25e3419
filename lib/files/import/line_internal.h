/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_LINE_INTERNAL_H
#define WEFT_FILES_IMPORT_LINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What Markdown and editors make of a line: `code`, the bars of a table, and characters in place of "=>", "<-", "-" and
 * "...". They are undone where the kernel can have printed nothing else; anywhere else a marker may have them itself.
 */
struct unwrap {
	bool dashes, dots; /* a task showed that those of the text were replaced */
};

/*
 * Takes off what stands both in front of the line and at its end. Returns how much of its beginning is taken; *len is
 * that of the rest, which is changed in its place.
 */
size_t unwrap_unwrap(char *text, size_t *len);

/* Puts back the kernel's characters, in their place. Returns the new length, which is not longer. */
size_t unwrap_undo(struct unwrap *unwrap, char *text, size_t len);

enum { LINE_PREFIX_MAX = 64 };

/*
 * What a page, an editor or a patch put in front of every line: blanks, "+", " * ", or the line's number. The line
 * "# tracer: " shows it, because the kernel prints nothing in front of it. A number is right-aligned or not, and grows;
 * grep prints a file's name.
 */
struct line_prefix {
	char before[LINE_PREFIX_MAX],
		behind[LINE_PREFIX_MAX]; /* the text around the number; without one, all is in `before` */
	size_t before_len, behind_len;
	bool is, has_number, grows, stays; /* a number that stays is part of a file's name */
	uint64_t number;
};

/* Returns how many bytes of the line are its margin. */
size_t line_prefix_len(struct line_prefix *margin, const char *line, size_t len);

/*
 * A line as the kernel printed it, out of what a mail, a log or a page of HTML made of it: strings of JavaScript
 * ("\n\" at its end), entities of HTML, quoted-printable, marks of a quotation, prefixes of logs, numbers of
 * lines, colours of a terminal, what Markdown and editors made of it. Each of these is undone only where the text
 * shows that it was done.
 */
struct line_reader {
	struct line_prefix margin;
	struct unwrap unwrap;
	bool javascript, quoted_printable, entities, in_pre;
	bool tags, colors, wide_blanks; /* tags outside of <pre>, escapes of a terminal, blanks of U+00A0 */
	bool soft;                      /* quoted-printable: the line before ends with '=', so this one continues it */
};

struct line {
	char *text;
	size_t len, width; /* width: of the line with what was in front of it, before it was decoded */
	unsigned quotes;   /* marks of a quotation in front of it */
	bool is_log;       /* a log wrote it, with a prefix of its own */
	bool ends_soft;    /* the next line continues it without a blank */
};

/* Decodes the line in its place: it does not become longer. */
void line_decode(struct line_reader *reader, char *text, size_t len, struct line *ret);

/* Decodes quoted-printable of a line that ends with "=", where it was not known before. Returns its new length. */
size_t line_unquote(char *text, size_t len);

#endif
