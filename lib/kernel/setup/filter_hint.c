// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/filter_hint_internal.h"

#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/event_fields.h"

/* Whether the kernel compares the pattern with the end of the field: it begins with the only star, and has text. */
static bool is_end_pattern(struct text_word pattern)
{
	if (pattern.len < 2 || *pattern.at != '*')
		return false;
	for (size_t i = 1; i < pattern.len; i++)
		if (strchr("*?[\\", pattern.at[i]))
			return false;
	return true;
}

/* Whether the string of the field has a fixed size. "comm" is a field of every event, with the name of the task. */
static bool is_static(const struct event_fields *fields, struct text_word name)
{
	for (size_t i = 0; i < fields->nr; i++) {
		const struct event_field *field = &fields->fields[i];

		if (text_word_is(name, field->name))
			return field->array && *field->array && strstr(field->type, "char") &&
			       !strstr(field->type, "_loc");
	}
	return text_word_is(name, "comm") || text_word_is(name, "COMM") || text_word_is(name, "common_comm");
}

/* The name that ends before `at`, without blanks between them. */
static struct text_word name_before(const char *filter, const char *at)
{
	const char *end;

	while (at > filter && at[-1] == ' ')
		at--;
	for (end = at; at > filter && text_is_name_char(at[-1]);)
		at--;
	return (struct text_word){ .at = at, .len = (size_t)(end - at) };
}

bool filter_hint(const char *filter, const struct event_fields *fields, struct buf *buf)
{
	for (const char *at = filter; *at; at++) {
		struct text_word pattern;
		const char *open, *close;

		if (*at == '"' || *at == '\'') {
			at = strchr(at + 1, *at);
			if (!at)
				return false;
		}
		if (*at != '~')
			continue;
		open = at + 1 + strspn(at + 1, " ");
		close = *open == '"' || *open == '\'' ? strchr(open + 1, *open) : NULL;
		if (!close)
			continue;
		pattern = (struct text_word){ .at = open + 1, .len = (size_t)(close - open - 1) };
		struct text_word name = name_before(filter, at);

		if (is_end_pattern(pattern) && is_static(fields, name))
			return buf_addf(buf, "%.*s ~ \"*%.*s\"", (int)name.len, name.at, (int)pattern.len, pattern.at);
		at = close;
	}
	return false;
}
