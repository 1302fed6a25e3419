// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/view.h"

#include "lib/base/escape.h"

bool rows_end_line(struct rows *rows)
{
	out_char(&rows->text, '\n');
	return ++rows->nr < rows->height;
}

void rows_foreign(struct rows *rows, const char *text, size_t len)
{
	struct escape escape = { .len = 0 };
	size_t from = out_len(&rows->text);

	escape_text(&escape, text, len, &rows->text);
	escape_end(&escape, &rows->text);
	/* Newlines at the end are escaped, too. */
	out_char(&rows->text, '.');
	escape_newlines(&rows->text, from);
	if (out_len(&rows->text))
		rows->text.at--;
}
