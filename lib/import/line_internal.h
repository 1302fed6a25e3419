/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_LINE_INTERNAL_H
#define WEFT_IMPORT_LINE_INTERNAL_H

#include "lib/import/margin_internal.h"
#include "lib/import/typeset_internal.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A line as the kernel printed it, out of what a mail, a log or a page of HTML made of it: strings of JavaScript
 * ("\n\" at its end), entities of HTML, quoted-printable, marks of a quotation, prefixes of logs, numbers of
 * lines, colours of a terminal, what Markdown and editors made of it. Each of these is undone only where the text
 * shows that it was done.
 */
struct line_reader {
	struct margin margin;
	struct typeset typeset;
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
