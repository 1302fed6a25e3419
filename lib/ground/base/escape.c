// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/escape.h"

#include <stdbool.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"

/* Unicode's control characters, direction marks and overrides, characters without a width, tags. Sorted. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{ 0x80, 0x9f },     { 0xad, 0xad },     { 0x61c, 0x61c },   { 0x115f, 0x1160 },   { 0x180b, 0x180f },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff },
};

static bool is_hidden(uint32_t character)
{
	for (size_t i = 0; i < array_size(hidden) && character >= hidden[i].first; i++)
		if (character <= hidden[i].last)
			return true;
	return false;
}

/* The number of bytes of the UTF-8 character that begins with this byte; 0: no character begins so. */
static unsigned utf8_len(uint8_t first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The second byte must not form an overlong form, a surrogate, or a character beyond U+10FFFF. */
static bool follows(const struct escape *escape, uint8_t byte)
{
	uint8_t first = escape->bytes[0], low = 0x80, high = 0xbf;

	if (escape->len == 1) {
		if (first == 0xe0)
			low = 0xa0;
		if (first == 0xed)
			high = 0x9f;
		if (first == 0xf0)
			low = 0x90;
		if (first == 0xf4)
			high = 0x8f;
	}
	return byte >= low && byte <= high;
}

static void put_octal(const uint8_t *bytes, size_t len, struct out *out)
{
	for (size_t i = 0; i < len; i++)
		out_f(out, "\\%03o", bytes[i]);
}

static uint32_t character_of(const struct escape *escape)
{
	uint32_t character = escape->bytes[0] & (0x7fu >> escape->len);

	for (unsigned i = 1; i < escape->len; i++)
		character = character << 6 | (escape->bytes[i] & 0x3f);
	return character;
}

/* Called when a byte completes a character. */
static void put_character(struct escape *escape, struct out *out)
{
	if (is_hidden(character_of(escape)))
		put_octal(escape->bytes, escape->len, out);
	else
		out_mem(out, escape->bytes, escape->len);
	escape->len = 0;
}

static bool is_plain(uint8_t byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
}

/* Whether eight bytes are all from ' ' to '~': the first one that is not sets the upper bit of its own byte. */
static bool are_plain(const char *at)
{
	const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return !(((bytes - each * ' ') | (bytes + each) | bytes) & (each << 7));
}

static void put_byte(struct escape *escape, uint8_t byte, struct out *out)
{
	if (escape->len && follows(escape, byte)) {
		escape->bytes[escape->len++] = byte;
		if (escape->len == utf8_len(escape->bytes[0]))
			put_character(escape, out);
		return;
	}
	put_octal(escape->bytes, escape->len, out);
	escape->len = 0;
	if (is_plain(byte))
		out_char(out, (char)byte);
	else if (utf8_len(byte))
		escape->bytes[escape->len++] = byte;
	else
		put_octal(&byte, 1, out);
}

void escape_text(struct escape *escape, const char *text, size_t len, struct out *out)
{
	size_t at = 0;

	while (at < len) {
		size_t plain = at;

		while (!escape->len && len - plain >= sizeof(uint64_t) && are_plain(text + plain))
			plain += sizeof(uint64_t);
		while (!escape->len && plain < len && is_plain((uint8_t)text[plain]))
			plain++;
		out_mem(out, text + at, plain - at);
		at = plain;
		if (at < len)
			put_byte(escape, (uint8_t)text[at++], out);
	}
}

void escape_end(struct escape *escape, struct out *out)
{
	put_octal(escape->bytes, escape->len, out);
	escape->len = 0;
}

static size_t count_newlines(const char *at, const char *end)
{
	size_t count = 0;

	for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		count++;
	return count;
}

void escape_newlines(struct out *out, size_t from)
{
	const char *end = out->at;
	size_t len, more;
	char *to;

	/* A lack of memory has emptied the out in the meantime. */
	if (from > out_len(out))
		return;
	while (end > out->start + from && end[-1] == '\n')
		end--;
	len = (size_t)(end - out->start);
	more = 3 * count_newlines(out->start + from, end);
	if (!more)
		return;
	out_fill(out, '\n', more);
	if (out->failed)
		return;
	/* From the end: each byte moves by the growth of all newlines in front of it. */
	memmove(out->start + len + more, out->start + len, out_len(out) - more - len);
	to = out->start + len + more;
	for (const char *at = out->start + len; to > at;) {
		if (*--at == '\n') {
			to -= 4;
			memcpy(to, "\\012", 4);
		} else {
			*--to = *at;
		}
	}
}
