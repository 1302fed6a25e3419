// SPDX-License-Identifier: LGPL-2.1-or-later
/* Labels, and texts: as JSON, and those of events as words, most of which are numbers of labels. */
#include <string.h>

#include "formats/export/html/html_internal.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"

enum { WORD_MAX = 64, VARINT_MAX = 10 };

/* Behind a text that is split there are as many blanks as are read at once, twice. */
enum { PART = sizeof(uint64_t), PADDING = 2 * PART };

uint32_t html_label(struct html *html, const char *text, size_t len)
{
	bool is_new;
	uint32_t label = labels_add(&html->labels, text, len < HTML_NAME_MAX ? len : HTML_NAME_MAX, &is_new);

	if (label == LABEL_NONE)
		export_no_memory(&html->export);
	else if (is_new)
		html->label_bytes += html->labels.at[label].len + 3;
	return label;
}

void html_put_string(struct html *html, const char *text, size_t len)
{
	struct out *out = html->export.out;

	out_clear(&html->text);
	json_string(&html->text, text, len);
	for (const char *at = html->text.start; at < html->text.at; at++) {
		if (*at == '<')
			out_str(out, "\\u003c");
		else
			out_char(out, *at);
	}
}

static char *put_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

/* Until the numbered words take a quarter of the file. */
bool html_numbers_words(const struct html *html)
{
	return html->label_bytes < html->limit / 4;
}

static uint64_t part_at(const char *at)
{
	uint64_t part;

	memcpy(&part, at, sizeof(part));
	return part;
}

/* The first bytes of a part, as a number that tells them from others of the same number of bytes. */
static uint64_t first_of(uint64_t part, size_t len)
{
	unsigned other = 8 * (unsigned)(PART - len);

	if (len >= PART)
		return part;
	if (!len)
		return 0;
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? part >> other : part << other;
}

/* The label of a word; most words are short, and were met lately. */
static uint32_t number_of(struct html *html, const char *word, size_t len)
{
	uint64_t first, second;
	struct html_word *near;

	if (len > 2 * PART)
		return html_label(html, word, len);
	first = first_of(part_at(word), len);
	second = len > PART ? first_of(part_at(word + PART), len - PART) : 0;
	near = &html->near[((first ^ second * 3) + len) * 0x9e3779b97f4a7c15 >> (64 - HTML_NEAR_BITS)];
	if (__builtin_expect(near->label && near->first == first && near->second == second && near->len == len, 1))
		return near->label - 1;
	*near = (struct html_word){ first, second, (uint32_t)len, html_label(html, word, len) + 1 };
	return near->label - 1;
}

/* Words get numbers until these take a quarter of the file. */
static void pack_word(struct html *html, const char *word, size_t len, struct out *out)
{
	bool numbered = len <= WORD_MAX && html_numbers_words(html);
	uint32_t label = numbered ? number_of(html, word, len) : (uint32_t)LABEL_NONE;

	out_need(out, 2 * VARINT_MAX);
	if (label != LABEL_NONE) {
		out->at = put_varint(out->at, (uint64_t)label + 1);
		return;
	}
	out->at = put_varint(put_varint(out->at, 0), len);
	out_mem(out, word, len);
}

/* The first blank from here on; there is one. */
static const char *blank_of(const char *at)
{
	const uint64_t ones = UINT64_MAX / 0xff;

	for (;; at += PART) {
		uint64_t part = load_u64(at, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ^ ones * ' ';

		part = (part - ones) & ~part & ones * 0x80;
		if (part)
			return at + __builtin_ctzll(part) / 8;
	}
}

void html_pack_body(struct html *html, size_t most, struct out *out)
{
	struct out *body = &html->body;
	const char *at, *end;

	if (out_len(body) > most)
		body->at = body->start + most;
	out_need(body, PADDING);
	memset(body->at, ' ', PADDING);
	at = body->start;
	end = body->at;
	while (at < end) {
		const char *blank = blank_of(at);

		pack_word(html, at, (size_t)(blank - at), out);
		at = blank + 1;
	}
}

void html_pack_text(struct html *html, const char *text, size_t len, struct out *out)
{
	out_clear(&html->body);
	out_mem(&html->body, text, len);
	out_clear(out);
	html_pack_body(html, SIZE_MAX, out);
}
