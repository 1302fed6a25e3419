// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/option_lines.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"

static struct text_word trim(const char *at, size_t len)
{
	while (len && memchr(" \t\r", at[len - 1], 3))
		len--;
	for (; len && text_is_blank(*at); len--)
		at++;
	return (struct text_word){ .at = at, .len = len };
}

static int wrong(struct text_word text, struct fail *fail)
{
	return fail_set(fail, -EINVAL, "'%.*s' is not NAME or NAME = VALUE", (int)(text.len < 200 ? text.len : 200),
			text.at);
}

static int read_line(struct text_word text, struct option_line *ret, struct fail *fail)
{
	const char *equals = memchr(text.at, '=', text.len);
	struct text_word name = trim(text.at, equals ? (size_t)(equals - text.at) : text.len);
	struct option_line line = { .has_value = equals, .value = { .at = text.at, .len = 0 } };

	if (memchr(text.at, 0, text.len))
		return wrong(text, fail);
	if (*text.at == '[' && text.at[text.len - 1] == ']') {
		*ret = (struct option_line){
			.name = "instance",
			.value = trim(text.at + 1, text.len - 2),
			.has_value = true,
			.is_section = true,
		};
		return 1;
	}
	if (name.len >= 2 && !memcmp(name.at, "--", 2))
		name = (struct text_word){ .at = name.at + 2, .len = name.len - 2 };
	if (!name.len || name.len >= sizeof(line.name) || memchr(name.at, ' ', name.len) ||
	    memchr(name.at, '\t', name.len))
		return wrong(text, fail);
	memcpy(line.name, name.at, name.len);
	if (equals)
		line.value = trim(equals + 1, (size_t)(text.at + text.len - equals - 1));
	*ret = line;
	return 1;
}

int option_lines_next(struct option_lines *lines, struct option_line *ret, struct fail *fail)
{
	struct text_word text;

	while (text_next_line(&lines->at, &lines->left, &text)) {
		lines->number++;
		text = trim(text.at, text.len);
		if (text.len && *text.at != '#' && *text.at != ';')
			return read_line(text, ret, fail);
	}
	return 0;
}
