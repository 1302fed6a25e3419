// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/utf8.h"

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

size_t utf8_len(const void *text, size_t left)
{
	/* The range of the second byte excludes overlong forms, surrogates, and characters beyond U+10FFFF. */
	const uint8_t *at = text;
	uint8_t low = 0x80, high = 0xbf;
	size_t len;

	if (!left)
		return 0;
	if (*at < 0x80)
		return 1;
	if (*at >= 0xc2 && *at <= 0xdf)
		len = 2;
	else if (*at >= 0xe0 && *at <= 0xef)
		len = 3;
	else if (*at >= 0xf0 && *at <= 0xf4)
		len = 4;
	else
		return 0;
	if (*at == 0xe0)
		low = 0xa0;
	else if (*at == 0xed)
		high = 0x9f;
	else if (*at == 0xf0)
		low = 0x90;
	else if (*at == 0xf4)
		high = 0x8f;
	if (len > left || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

struct range {
	uint32_t first, last;
};

/* Blocks of combining marks and of characters without a width. Sorted. */
static const struct range narrow[] = {
	{ 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },   { 0x610, 0x61a },   { 0x64b, 0x65f },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 },
	{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0000, 0xe01ef },
};

/* Blocks that are wide (East Asian Width W and F of Unicode), and pictures. Sorted. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },   { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool is_in(const struct range *ranges, size_t nr, uint32_t character)
{
	for (size_t i = 0; i < nr && character >= ranges[i].first; i++)
		if (character <= ranges[i].last)
			return true;
	return false;
}

static uint32_t character_of(const uint8_t *at, size_t len)
{
	uint32_t character = at[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		character = character << 6 | (at[i] & 0x3fu);
	return character;
}

/* The width of the character at `text` in terminal columns, and its number of bytes: at least one. */
static size_t columns_at(const char *text, size_t left, size_t *ret_len)
{
	size_t len = utf8_len(text, left);
	uint32_t character;

	*ret_len = len ? len : 1;
	if (len < 2)
		return 1;
	character = character_of((const uint8_t *)text, len);
	if (is_in(narrow, array_size(narrow), character))
		return 0;
	return is_in(wide, array_size(wide), character) ? 2 : 1;
}

unsigned utf8_next(const char *text, size_t left, uint32_t *ret_character, size_t *ret_len)
{
	size_t len = utf8_len(text, left), columns = columns_at(text, left, ret_len);

	*ret_character = len > 1 ? character_of((const uint8_t *)text, len) : len ? (uint8_t)*text : 0xfffd;
	return (unsigned)columns;
}

size_t utf8_fit(const char *text, size_t len, size_t columns)
{
	size_t at = 0, size;

	while (at < len) {
		size_t more = columns_at(text + at, len - at, &size);

		if (more > columns)
			break;
		columns -= more;
		at += size;
	}
	return at;
}

size_t utf8_columns(const char *text, size_t len)
{
	size_t columns = 0, size;

	for (size_t at = 0; at < len; at += size)
		columns += columns_at(text + at, len - at, &size);
	return columns;
}
