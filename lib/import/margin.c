// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/margin_internal.h"

#include "lib/base/text.h"

#include <ctype.h>
#include <string.h>

static const char tracer[] = "# tracer: ";

/* Returns the number at `at`, and where it ends; *ret_end is `at` if there is none. */
static uint64_t number(const char *at, const char *end, const char **ret_end)
{
	uint64_t value = 0;

	*ret_end = at;
	while (*ret_end < end && isdigit((unsigned char)**ret_end)) {
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**ret_end - '0'), &value)) {
			*ret_end = at;
			return 0;
		}
		++*ret_end;
	}
	return value;
}

/* Takes the text in front of "# tracer: ". Its last number is the line's, and the blanks before that align it. */
static void learn(struct margin *margin, const char *line, size_t len)
{
	const char *end = line + len, *digits_end = end, *digits, *past;

	*margin = (struct margin){ .is = len > 0 };
	while (digits_end > line && !isdigit((unsigned char)digits_end[-1]))
		digits_end--;
	for (digits = digits_end; digits > line && isdigit((unsigned char)digits[-1]);)
		digits--;
	margin->number = number(digits, digits_end, &past);
	margin->has_number = past > digits;
	if (margin->has_number) {
		margin->behind_len = (size_t)(end - digits_end);
		memcpy(margin->behind, digits_end, margin->behind_len);
		end = digits;
		while (end > line && text_is_blank(end[-1]))
			end--;
	}
	margin->before_len = (size_t)(end - line);
	memcpy(margin->before, line, margin->before_len);
	/* Words are a prompt, or a file's name, which has a colon and no blank. "#" alone is a heading's. */
	for (size_t i = 0; margin->is && !margin->has_number && i < len; i++)
		margin->is = !isalnum((unsigned char)line[i]) || (line[len - 1] == ':' && !memchr(line, ' ', len));
	margin->is &= margin->has_number || line[0] != '#' || len > 1;
	margin->is &= !margin->has_number || margin->behind_len > 0;
}

/* An empty line has lost the blanks at the margin's end. */
static bool accept(const char **at, const char *end, const char *text, size_t len)
{
	size_t rest = (size_t)(end - *at);

	if (rest < len) {
		while (len > rest && text_is_blank(text[len - 1]))
			len--;
		if (len != rest || !len)
			return false;
	}
	if (memcmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

static size_t skip(struct margin *margin, const char *line, size_t len)
{
	const char *at = line, *end = line + len, *past;
	uint64_t value;

	if (!accept(&at, end, margin->before, margin->before_len))
		return 0;
	if (!margin->has_number)
		return (size_t)(at - line);
	while (at < end && text_is_blank(*at))
		at++;
	value = number(at, end, &past);
	if (past == at || (margin->stays ? value != margin->number : value < margin->number) ||
	    (margin->grows && value == margin->number))
		return 0;
	at = past;
	if (!accept(&at, end, margin->behind, margin->behind_len))
		return 0;
	*(value == margin->number ? &margin->stays : &margin->grows) = true;
	margin->number = value;
	return (size_t)(at - line);
}

size_t margin_len(struct margin *margin, const char *line, size_t len)
{
	const char *hash = memchr(line, '#', len < MARGIN_MAX ? len : MARGIN_MAX);
	const char *header = hash ? memmem(hash, len - (size_t)(hash - line), tracer, strlen(tracer)) : NULL;

	if (header && header - line < MARGIN_MAX) {
		learn(margin, line, (size_t)(header - line));
		return margin->is ? (size_t)(header - line) : 0;
	}
	return margin->is && len ? skip(margin, line, len) : 0;
}
