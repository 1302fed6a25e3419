// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/document_internal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/codec/inflate.h"

enum { BLOCK = 1 << 16, HEX_DIGITS = 4 };

enum encoding { ENCODING_BYTES, ENCODING_UTF16_LITTLE, ENCODING_UTF16_BIG };

/* Where a document with strings is: in its own text, or in the string that has the lines. */
enum place { PLACE_OUTSIDE, PLACE_INSIDE, PLACE_ESCAPE, PLACE_HEX };

static const char *const keys[] = { "systemTraceEvents", "linuxPerfData", "body" };

struct document {
	const struct document_ends *ends;
	enum encoding encoding;
	bool begun, has_strings, has_newline; /* has_strings: it is HTML or JSON */
	unsigned half;                        /* UTF-16: the first byte of a unit, plus 1; 0: none */
	uint32_t high;                        /* UTF-16: the first half of a character */
	enum place place;
	size_t matched[array_size(keys)]; /* how much of each key was just read */
	bool after_key;                   /* only blanks, quotes, ':' and '=' were read since a key */
	uint32_t escape;
	unsigned digits;
	uint8_t block[BLOCK];
	size_t at, filled;
	size_t len;
	char line[DOCUMENT_LINE_MAX];
};

static int end_line(struct document *document, struct fail *fail)
{
	size_t len = document->len;

	document->len = 0;
	return document->ends->line(document->ends->arg, document->line, len, fail);
}

static int put(struct document *document, char c, struct fail *fail)
{
	if (c == '\n')
		return end_line(document, fail);
	if (document->len < sizeof(document->line))
		document->line[document->len++] = c;
	return 0;
}

static int put_code(struct document *document, uint32_t code, struct fail *fail)
{
	int r = 0;

	if (code < 0x80)
		return put(document, (char)code, fail);
	if (code >= 0x10000)
		r = put(document, (char)(0xf0 | code >> 18), fail);
	if (!r && code >= 0x800)
		r = put(document, (char)(code >= 0x10000 ? 0x80 | (code >> 12 & 0x3f) : 0xe0 | code >> 12), fail);
	if (!r)
		r = put(document, (char)(code >= 0x800 ? 0x80 | (code >> 6 & 0x3f) : 0xc0 | code >> 6), fail);
	return r ? r : put(document, (char)(0x80 | (code & 0x3f)), fail);
}

/* Follows the text outside of strings: a key, then ':' or '=', then a quote, begin the string with the lines. */
static int outside(struct document *document, char c, struct fail *fail)
{
	if (document->after_key && c == '"' && document->escape) {
		document->place = PLACE_INSIDE;
		document->after_key = false;
		return end_line(document, fail);
	}
	document->escape |= document->after_key && (c == ':' || c == '=');
	document->after_key &= c == ' ' || c == '"' || c == ':' || c == '=';
	for (size_t i = 0; i < array_size(keys); i++) {
		size_t *matched = &document->matched[i];

		*matched = c == keys[i][*matched] ? *matched + 1 : c == keys[i][0];
		if (keys[i][*matched])
			continue;
		*matched = 0;
		document->after_key = true;
		document->escape = 0;
	}
	return put(document, c, fail);
}

static int escaped(struct document *document, char c, struct fail *fail)
{
	static const char letters[] = "nrtbf", values[] = "\n\r\t\b\f";
	const char *letter = c ? strchr(letters, c) : NULL;

	document->place = c == 'u' ? PLACE_HEX : PLACE_INSIDE;
	document->escape = document->digits = 0;
	/* JavaScript: a backslash at the end of a line continues the string. */
	if (c == 'u' || c == '\n' || c == '\r')
		return 0;
	return put(document, letter ? values[letter - letters] : c, fail);
}

static int take_char(struct document *document, char c, struct fail *fail)
{
	switch (document->place) {
	case PLACE_OUTSIDE:
		return outside(document, c, fail);
	case PLACE_INSIDE:
		if (c == '\\')
			document->place = PLACE_ESCAPE;
		else if (c == '"')
			document->place = PLACE_OUTSIDE;
		return c == '\\' ? 0 : c == '"' ? end_line(document, fail) : put(document, c, fail);
	case PLACE_ESCAPE:
		return escaped(document, c, fail);
	case PLACE_HEX:
		document->escape = document->escape << 4 |
				   (isxdigit((unsigned char)c) ?
					    (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10) :
					    0);
		if (++document->digits < HEX_DIGITS)
			return 0;
		document->place = PLACE_INSIDE;
		return put_code(document, document->escape, fail);
	}
	return 0;
}

/* A plain text goes line by line. */
static int take_plain(struct document *document, const char *at, const char *end, struct fail *fail)
{
	int r = 0;

	while (!r && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at), room = sizeof(document->line) - document->len;

		memcpy(document->line + document->len, at, len < room ? len : room);
		document->len += len < room ? len : room;
		at += len + (newline != NULL);
		if (newline)
			r = end_line(document, fail);
	}
	return r;
}

/* Decides by the first byte that is no blank whether the text is HTML or JSON. */
static void begin(struct document *document, const char *at, size_t len)
{
	for (size_t i = 0; !document->begun && i < len; i++)
		if (!isspace((unsigned char)at[i])) {
			document->begun = true;
			document->has_strings =
				strchr("<{[", at[i]) && at[i] &&
				(at[i] != '<' || i + 1 >= len || isalpha((unsigned char)at[i + 1]) || at[i + 1] == '!');
		}
}

static int take_text(struct document *document, const char *at, size_t len, struct fail *fail)
{
	int r = 0;

	begin(document, at, len);
	if (!document->has_strings)
		return take_plain(document, at, at + len, fail);
	for (size_t i = 0; !r && i < len; i++)
		r = take_char(document, at[i], fail);
	return r;
}

/* A unit of UTF-16. A half of a character without the other one is dropped. */
static int take_unit(struct document *document, uint32_t unit, struct fail *fail)
{
	char text[4];
	size_t len = 0;

	if (unit >= 0xd800 && unit < 0xdc00) {
		document->high = unit;
		return 0;
	}
	if (unit >= 0xdc00 && unit < 0xe000) {
		if (!document->high)
			return 0;
		unit = 0x10000 + ((document->high - 0xd800) << 10) + (unit - 0xdc00);
	}
	document->high = 0;
	if (unit >= 0x10000)
		text[len++] = (char)(0xf0 | unit >> 18);
	if (unit >= 0x800)
		text[len++] = (char)(unit >= 0x10000 ? 0x80 | (unit >> 12 & 0x3f) : 0xe0 | unit >> 12);
	if (unit >= 0x80)
		text[len++] = (char)(unit >= 0x800 ? 0x80 | (unit >> 6 & 0x3f) : 0xc0 | unit >> 6);
	text[len++] = (char)(unit >= 0x80 ? 0x80 | (unit & 0x3f) : unit);
	return take_text(document, text, len, fail);
}

static int take_bytes(void *arg, const uint8_t *bytes, size_t len, struct fail *fail)
{
	struct document *document = arg;
	int r = 0;

	if (document->encoding == ENCODING_BYTES)
		return take_text(document, (const char *)bytes, len, fail);
	for (size_t i = 0; !r && i < len; i++) {
		uint32_t first = document->half - 1;

		if (!document->half) {
			document->half = bytes[i] + 1u;
			continue;
		}
		document->half = 0;
		r = take_unit(document,
			      document->encoding == ENCODING_UTF16_BIG ? first << 8 | bytes[i] :
									 (uint32_t)bytes[i] << 8 | first,
			      fail);
	}
	return r;
}

/* Reads on if nothing is left. Returns how many bytes are there. */
static int fill(struct document *document, struct fail *fail)
{
	int r;

	if (document->at < document->filled)
		return (int)(document->filled - document->at);
	r = document->ends->read(document->ends->arg, document->block, sizeof(document->block), fail);
	document->at = 0;
	document->filled = r > 0 ? (size_t)r : 0;
	return r;
}

static int read_compressed(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct document *document = arg;
	int r = fill(document, fail);

	if (r <= 0)
		return r;
	size = size < (size_t)r ? size : (size_t)r;
	memcpy(to, document->block + document->at, size);
	document->at += size;
	return (int)size;
}

/*
 * Finds where a zlib stream begins: at the start, or behind the line "TRACE:" of atrace -z. Returns 0 if there is none
 * in this block.
 */
static size_t compressed_at(const struct document *document, bool first)
{
	static const char trace[] = "TRACE:\n", carriage[] = "TRACE:\r\n";
	const uint8_t *start = document->block,
		      *at = first ? memmem(start, document->filled, trace, strlen(trace)) : NULL;
	size_t skip = strlen(trace);

	if (first && !at) {
		at = memmem(start, document->filled, carriage, strlen(carriage));
		skip = strlen(carriage);
	}
	if (!at || document->filled - (size_t)(at - start) < skip + 2)
		return 0;
	at += skip;
	return (at[0] & 15) == 8 && (at[0] << 8 | at[1]) % 31 == 0 ? (size_t)(at - start) : 0;
}

/* Skips the mark of the encoding. */
static void see_encoding(struct document *document)
{
	const uint8_t *at = document->block;
	size_t len = document->filled;

	if (len >= 2 && at[0] == 0xff && at[1] == 0xfe)
		document->encoding = ENCODING_UTF16_LITTLE;
	else if (len >= 2 && at[0] == 0xfe && at[1] == 0xff)
		document->encoding = ENCODING_UTF16_BIG;
	if (document->encoding != ENCODING_BYTES)
		document->at = 2;
	else if (len >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		document->at = 3;
}

static int read_all(struct document *document, struct fail *fail)
{
	const struct inflate_ends compressed = { .read = read_compressed, .write = take_bytes, .arg = document };
	bool first = true;
	int r;

	while ((r = fill(document, fail)) > 0) {
		size_t at = compressed_at(document, first);

		if (first)
			see_encoding(document);
		first = false;
		if (at) {
			r = take_bytes(document, document->block, at, fail);
			document->at = at;
			r = r ? r : inflate_run(&compressed, fail);
			break;
		}
		r = take_bytes(document, document->block + document->at, document->filled - document->at, fail);
		document->at = document->filled;
		if (r)
			return r;
	}
	return r || !document->len ? r : end_line(document, fail);
}

int document_read(const struct document_ends *ends, struct fail *fail)
{
	struct document *document = calloc(1, sizeof(*document));
	int r;

	if (!document)
		return fail_memory(fail);
	document->ends = ends;
	r = read_all(document, fail);
	free(document);
	return r;
}
