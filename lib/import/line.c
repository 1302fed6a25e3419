// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/line_internal.h"

#include "lib/base/cleanup.h"
#include "lib/import/head_internal.h"
#include "lib/import/prefix_internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { SOFT_MIN = 60, SOFT_MAX = 78 };

static bool ends_with(const struct line *line, const char *end)
{
	size_t len = strlen(end);

	return line->len >= len && !memcmp(line->text + line->len - len, end, len);
}

/* "\n\" ends a line of a JavaScript string that goes on, "\n";" its last one. */
static void decode_javascript(struct line_reader *reader, struct line *line)
{
	size_t kept = 0;

	if (ends_with(line, "\\n\\"))
		line->len -= 3;
	else if (reader->javascript && ends_with(line, "\\n\";"))
		line->len -= 4;
	else if (reader->javascript && ends_with(line, "\\n\""))
		line->len -= 3;
	else
		return;
	reader->javascript = true;
	for (size_t i = 0; i < line->len; i++) {
		i += line->text[i] == '\\' && i + 1 < line->len && strchr("\\\"'/", line->text[i + 1]) &&
		     line->text[i + 1];
		line->text[kept++] = line->text[i];
	}
	line->len = kept;
}

static int hex(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Whether each '=' is one of quoted-printable, and at least one stands for another '='. */
static bool is_quoted_printable(const struct line *line)
{
	const char *at = line->text, *end = at + line->len;
	bool found = false;

	while ((at = memchr(at, '=', (size_t)(end - at)))) {
		if (end - at == 1)
			return found;
		if (end - at < 3 || hex(at[1]) < 0 || hex(at[2]) < 0)
			return false;
		found |= at[1] == '3' && at[2] == 'D';
		at += 3;
	}
	return found;
}

size_t line_unquote(char *text, size_t len)
{
	size_t kept = 0;

	len -= len && text[len - 1] == '=';
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '=' && i + 2 < len && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
			c = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
			i += 2;
		}
		text[kept++] = c;
	}
	return kept;
}

static void decode_quoted_printable(struct line_reader *reader, struct line *line)
{
	bool soft = line->len && line->text[line->len - 1] == '=';

	if (!reader->quoted_printable && !is_quoted_printable(line)) {
		/* It may be the first line of such a text. */
		line->ends_soft = soft && line->len >= SOFT_MIN && line->len <= SOFT_MAX;
		return;
	}
	reader->quoted_printable = true;
	line->ends_soft = soft;
	line->len = line_unquote(line->text, line->len);
}

static bool has(const struct line *line, const char *text)
{
	return memmem(line->text, line->len, text, strlen(text));
}

static bool has_tag(const struct line *line, const char *tag)
{
	for (const char *at = line->text; (at = memchr(at, '<', line->len - (size_t)(at - line->text))); at++)
		if (line->len - (size_t)(at - line->text) >= strlen(tag) && !strncasecmp(at, tag, strlen(tag)))
			return true;
	return false;
}

static void decode_entities(struct line *line)
{
	static const struct {
		const char *name;
		char is;
	} entities[] = { { "&lt;", '<' },   { "&gt;", '>' },  { "&amp;", '&' }, { "&quot;", '"' }, { "&#39;", '\'' },
			 { "&nbsp;", ' ' }, { "&#60;", '<' }, { "&#62;", '>' }, { "&#x27;", '\'' } };
	size_t kept = 0;

	for (size_t i = 0; i < line->len; i++) {
		char c = line->text[i];

		for (size_t e = 0; c == '&' && e < array_size(entities); e++) {
			size_t len = strlen(entities[e].name);

			if (line->len - i >= len && !memcmp(line->text + i, entities[e].name, len)) {
				c = entities[e].is;
				i += len - 1;
				break;
			}
		}
		line->text[kept++] = c;
	}
	line->len = kept;
}

/* Removes tags such as <br> and <span> around and in a line of HTML. "<idle>" and "<...>" are none. */
static void drop_tags(struct line *line)
{
	static const char *const tags[] = { "br",  "br/",  "br /", "pre", "/pre",  "code",   "/code", "p",     "/p",
					    "div", "/div", "/a",   "tt",  "/tt",   "b",      "/b",    "span",  "/span",
					    "td",  "/td",  "tr",   "/tr", "tbody", "/tbody", "table", "/table" };
	size_t kept = 0;

	for (size_t i = 0; i < line->len; i++) {
		const char *end = line->text[i] == '<' ? memchr(line->text + i, '>', line->len - i) : NULL;
		size_t len = end ? (size_t)(end - line->text) - i - 1 : 0;
		bool tag =
			len > 3 &&
			(!strncasecmp(line->text + i + 1, "span ", 5) || !strncasecmp(line->text + i + 1, "pre ", 4) ||
			 !strncasecmp(line->text + i + 1, "td ", 3) || !strncasecmp(line->text + i + 1, "tr ", 3) ||
			 !strncasecmp(line->text + i + 1, "a href", 6));

		for (size_t t = 0; end && t < array_size(tags); t++)
			tag |= strlen(tags[t]) == len && !strncasecmp(line->text + i + 1, tags[t], len);
		if (tag)
			i += len + 1;
		else
			line->text[kept++] = line->text[i];
	}
	line->len = kept;
}

/* Whether the line may have a tag: most lines with '<' have "<idle>" or "<-". */
static bool may_have_tag(const struct line *line)
{
	const char *at = line->text, *end = at + line->len;

	while ((at = memchr(at, '<', (size_t)(end - at))) && ++at < end)
		if (*at && strchr("/aAbBcCdDpPsStT", *at))
			return true;
	return false;
}

/* Pages escape what <pre> contains; a text without tags shows by its tasks and arrows that it was escaped. */
static void decode_html(struct line_reader *reader, struct line *line)
{
	bool tags = may_have_tag(line), pre = tags && (has_tag(line, "<pre") || has_tag(line, "<code"));
	bool end = tags && (has_tag(line, "</pre") || has_tag(line, "</code"));
	bool inside = reader->in_pre || pre;

	if (!reader->entities && memchr(line->text, '&', line->len))
		reader->entities = has(line, "&lt;idle&gt;-") || has(line, "&lt;...&gt;-") || has(line, " ==&gt; ") ||
				   has(line, " &lt;-");
	reader->tags |= tags && (has_tag(line, "<br") || has_tag(line, "<td"));
	if (tags && (inside || reader->tags))
		drop_tags(line);
	if (inside || reader->entities)
		decode_entities(line);
	reader->in_pre = inside && !end;
}

/*
 * Removes what colours a line on a terminal: "ESC[31m", "ESC[K". A marker may have such text itself, so only those in
 * front of an event's time show that a program coloured the lines, or the one that grep ends a colour with.
 */
static void drop_colors(struct line_reader *reader, struct line *line)
{
	static const char clear[] = "\x1b[K";
	const char *escape = memchr(line->text, '\x1b', line->len), *colon;
	size_t kept = 0;

	if (!escape)
		return;
	colon = memmem(escape, line->len - (size_t)(escape - line->text), ": ", 2);
	reader->colors |= escape == line->text || has(line, clear) || (colon && isdigit((unsigned char)colon[-1]));
	if (!reader->colors)
		return;
	for (size_t i = 0; i < line->len; i++) {
		size_t end = i + 2;

		if (line->text[i] == '\x1b' && i + 1 < line->len && line->text[i + 1] == '[') {
			while (end < line->len && (isdigit((unsigned char)line->text[end]) || line->text[end] == ';'))
				end++;
			if (end < line->len && (line->text[end] == 'm' || line->text[end] == 'K')) {
				i = end;
				continue;
			}
		}
		line->text[kept++] = line->text[i];
	}
	line->len = kept;
}

/* Editors of pages make U+00A0 of every second blank of several, or of all. One alone may be a marker's. */
static void narrow_blanks(struct line_reader *reader, struct line *line)
{
	static const char wide[] = "\xc2\xa0";
	size_t kept = 0;

	if (!memmem(line->text, line->len, wide, 2))
		return;
	reader->wide_blanks |= has(line, " \xc2\xa0") || has(line, "\xc2\xa0 ") || has(line, "\xc2\xa0\xc2\xa0");
	for (size_t i = 0; reader->wide_blanks && i < line->len; i++) {
		bool is = line->len - i >= 2 && !memcmp(line->text + i, wide, 2);

		line->text[kept++] = is ? ' ' : line->text[i];
		i += is;
	}
	if (reader->wide_blanks)
		line->len = kept;
}

static void drop_margin(struct line_reader *reader, struct line *line)
{
	size_t margin = margin_len(&reader->margin, line->text, line->len);

	line->text += margin;
	line->len -= margin;
}

void line_decode(struct line_reader *reader, char *text, size_t len, struct line *ret)
{
	struct prefix prefix;

	*ret = (struct line){ .text = text, .len = len, .width = len };
	if (ret->len && text[ret->len - 1] == '\r')
		ret->width = --ret->len;
	if (ret->len && (text[ret->len - 1] == '\\' || text[ret->len - 1] == '"' || text[ret->len - 1] == ';'))
		decode_javascript(reader, ret);
	if (reader->quoted_printable || memchr(text, '=', ret->len))
		decode_quoted_printable(reader, ret);
	if (reader->in_pre || memchr(text, '<', ret->len) || memchr(text, '&', ret->len))
		decode_html(reader, ret);
	if (ret->len && memchr(text, '\x1b', ret->len))
		drop_colors(reader, ret);
	if (ret->len && memchr(text, '\xc2', ret->len))
		narrow_blanks(reader, ret);
	if (ret->len && (*text == '`' || *text == '|')) {
		size_t cut = typeset_unwrap(text, &ret->len);

		ret->text = text += cut;
	}
	if (ret->len && *text != ' ' && *text != '#') {
		prefix = prefix_read(text, ret->len);
		ret->quotes = prefix.quotes;
		ret->is_log = prefix.is_log;
		ret->text += prefix.len;
		ret->len -= prefix.len;
	}
	drop_margin(reader, ret);
	if (ret->len && memchr(ret->text, '\xe2', ret->len))
		ret->len = typeset_undo(&reader->typeset, ret->text, ret->len);
}
