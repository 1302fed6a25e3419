// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/view.h"

#include "lib/ground/base/escape.h"

bool rows_end_line(struct rows *rows)
{
	out_char(&rows->text, '\n');
	return ++rows->nr < rows->height;
}

bool rows_move(const struct key *key, size_t *at, size_t page, size_t last)
{
	bool wheel = key->kind == KEY_MOUSE;

	if (key->kind == KEY_DOWN || key_is(key, 'j') || (wheel && key->act == MOUSE_WHEEL_DOWN))
		*at += *at < last;
	else if (key->kind == KEY_UP || key_is(key, 'k') || (wheel && key->act == MOUSE_WHEEL_UP))
		*at -= *at > 0;
	else if (key->kind == KEY_PAGE_DOWN || key_is(key, ' '))
		*at = *at + page < last ? *at + page : last;
	else if (key->kind == KEY_PAGE_UP)
		*at -= *at < page ? *at : page;
	else if (key->kind == KEY_HOME || key_is(key, 'g'))
		*at = 0;
	else if (key->kind == KEY_END || key_is(key, 'G'))
		*at = last;
	else
		return false;
	return true;
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
