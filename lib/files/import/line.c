// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "lib/files/import/head_internal.h"
#include "lib/files/import/line_internal.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"

/*
 * What mails, consoles and logs put in front of a line of the kernel's text: marks of a quotation ("> > "), the name of
 * a host and a program, times, levels, the task or CPU that printed ("[   12.345678][  T123] "). Text of the kernel
 * itself begins with a blank or has none of these forms. The bytes may come from anywhere: nothing outside the line is
 * read.
 */
struct prefix {
	size_t len;      /* how many bytes of the line it has */
	unsigned quotes; /* how many of them are marks of a quotation */
	bool is_log;     /* printk or a log wrote the line */
};

enum { PARTS_MAX = 16, BRACKET_MAX = 64, HOST_MAX = 80, INITIALS_MAX = 3 };

/* The rest of a line. */
struct rest {
	const char *at, *end;
};

static bool prefix_accept(struct rest *rest, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(rest->end - rest->at) < len || memcmp(rest->at, text, len))
		return false;
	rest->at += len;
	return true;
}

static void blanks(struct rest *rest)
{
	while (rest->at < rest->end && *rest->at == ' ')
		rest->at++;
}

/*
 * Reads a text of this shape: '0' is a digit, 'a' a letter, '_' a digit or a blank, '+' as many digits as there are,
 * anything else is itself.
 */
static bool shape(struct rest *rest, const char *shape)
{
	struct rest at = *rest;

	for (; *shape; shape++) {
		unsigned char c = at.at < at.end ? (unsigned char)*at.at : '\0';

		if (*shape == '0' ? !isdigit(c) :
		    *shape == 'a' ? !isalpha(c) :
		    *shape == '_' ? !isdigit(c) && c != ' ' :
		    *shape == '+' ? !isdigit(c) :
				    c != (unsigned char)*shape)
			return false;
		do
			at.at++;
		while (*shape == '+' && at.at < at.end && isdigit((unsigned char)*at.at));
	}
	*rest = at;
	return true;
}

/* Reads "> ", ">>", "| ", or "JD> ". */
static bool quote(struct rest *rest)
{
	struct rest at = *rest;

	if (prefix_accept(&at, "| ")) {
		*rest = at;
		return true;
	}
	while (at.at < at.end && at.at - rest->at < INITIALS_MAX && isupper((unsigned char)*at.at))
		at.at++;
	if (!prefix_accept(&at, ">"))
		return false;
	prefix_accept(&at, " ");
	*rest = at;
	return true;
}

/* Reads "[   12.345678] ", "[Wed Nov 25 08:00:01 2026]", "[    C0]", "[  +0.000010]", "[0: swapper/0: 0]". */
static bool bracket(struct rest *rest)
{
	const char *at = rest->at + 1;
	bool digit = false;

	if (rest->at >= rest->end || *rest->at != '[')
		return false;
	for (; at < rest->end && *at != ']'; at++) {
		if (at - rest->at > BRACKET_MAX || (!isalnum((unsigned char)*at) && !strchr(" .,:+<>-/@_", *at)))
			return false;
		digit |= isdigit((unsigned char)*at) != 0;
	}
	if (at >= rest->end || !digit)
		return false;
	rest->at = at + 1;
	prefix_accept(rest, " ");
	return true;
}

/* Reads "(3)[1234:task]" and "-(1)[0:swapper]", of some vendors' kernels. */
static bool vendor(struct rest *rest)
{
	struct rest at = *rest;

	prefix_accept(&at, "-");
	if (!shape(&at, "(0)") || !bracket(&at))
		return false;
	*rest = at;
	return true;
}

/* Reads "2026-11-25T08:00:01,123456+00:00 " and "11-25 08:00:01.123 ". */
static bool date(struct rest *rest)
{
	struct rest at = *rest;

	if (!shape(&at, "0000-00-00T00:00:00") && !shape(&at, "0000-00-00 00:00:00") && !shape(&at, "00-00 00:00:00") &&
	    !shape(&at, "00:00:00"))
		return false;
	(void)(shape(&at, ".+") || shape(&at, ",+"));
	(void)(prefix_accept(&at, "Z") ||
	       ((prefix_accept(&at, "+") || prefix_accept(&at, "-")) && (shape(&at, "00:00") || shape(&at, "0000"))));
	if (!prefix_accept(&at, " "))
		return false;
	*rest = at;
	return true;
}

/* Reads what is behind the time of a log: "HOST kernel: ", also with a PID or a level. */
static bool host(struct rest *rest)
{
	const char *end = rest->end - rest->at > HOST_MAX ? rest->at + HOST_MAX : rest->end;
	const char *kernel = memmem(rest->at, (size_t)(end - rest->at), "kernel", 6);

	for (; kernel; kernel = memmem(kernel + 1, (size_t)(end - kernel - 1), "kernel", 6)) {
		struct rest at = { kernel + 6, rest->end };

		if (kernel > rest->at && kernel[-1] != ' ')
			continue;
		(void)shape(&at, "[+]");
		if (!prefix_accept(&at, ":"))
			continue;
		prefix_accept(&at, " ");
		*rest = at;
		return true;
	}
	return false;
}

/* Reads "Nov 25 08:00:01 HOST kernel: ". */
static bool syslog(struct rest *rest)
{
	struct rest at = *rest;

	if (!shape(&at, "aaa _0 00:00:00"))
		return false;
	(void)shape(&at, ".+");
	if (!prefix_accept(&at, " ") || !host(&at))
		return false;
	*rest = at;
	return true;
}

/* Reads "<6>" of printk, "6,1234,5678901,-;" of /dev/kmsg, "kern  :info  : " of dmesg -x. */
static bool level(struct rest *rest)
{
	static const char *const levels[] = { "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug" };
	struct rest at = *rest;

	if (shape(&at, "<+>")) {
		/* "<7952>-7952" is a task whose name systrace did not know. */
		if (at.at < at.end && *at.at == '-')
			return false;
		*rest = at;
		return true;
	}
	if (shape(rest, "+,+,+,-;") || shape(rest, "+,+,+,c;"))
		return true;
	while (at.at < at.end && islower((unsigned char)*at.at))
		at.at++;
	blanks(&at);
	if (at.at == rest->at || !prefix_accept(&at, ":"))
		return false;
	for (size_t i = 0; i < array_size(levels); i++) {
		struct rest behind = at;

		if (!prefix_accept(&behind, levels[i]))
			continue;
		blanks(&behind);
		if (!prefix_accept(&behind, ":"))
			continue;
		prefix_accept(&behind, " ");
		*rest = behind;
		return true;
	}
	return false;
}

static bool log_part(struct rest *rest)
{
	if (syslog(rest) || bracket(rest) || vendor(rest) || level(rest))
		return true;
	if (!date(rest))
		return false;
	(void)host(rest);
	return true;
}

/* Reads what ends in "kernel: [", or is "kernel: ": logs whose times have another form. */
static bool elsewhere(struct rest *rest)
{
	struct rest at = *rest;

	if (!host(&at) || (at.at < at.end && *at.at != '[' && at.end - at.at < rest->end - rest->at - 9))
		return false;
	*rest = at;
	return true;
}

static struct prefix prefix_read(const char *line, size_t len)
{
	struct rest rest = { line, line + len };
	struct prefix prefix = { .len = 0 };
	unsigned parts = 0;

	while (parts < PARTS_MAX && quote(&rest))
		parts++;
	prefix.quotes = parts;
	while (parts < PARTS_MAX && log_part(&rest)) {
		prefix.is_log = true;
		parts++;
	}
	if (!prefix.is_log && elsewhere(&rest))
		for (prefix.is_log = true; parts < PARTS_MAX && log_part(&rest); parts++)
			;
	prefix.len = (size_t)(rest.at - line);
	return prefix;
}

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
static void learn(struct line_prefix *margin, const char *line, size_t len)
{
	const char *end = line + len, *digits_end = end, *digits, *past;

	*margin = (struct line_prefix){ .is = len > 0 };
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

static size_t skip(struct line_prefix *margin, const char *line, size_t len)
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

size_t line_prefix_len(struct line_prefix *margin, const char *line, size_t len)
{
	const char *hash = memchr(line, '#', len < LINE_PREFIX_MAX ? len : LINE_PREFIX_MAX);
	const char *header = hash ? memmem(hash, len - (size_t)(hash - line), tracer, strlen(tracer)) : NULL;

	if (header && header - line < LINE_PREFIX_MAX) {
		learn(margin, line, (size_t)(header - line));
		return margin->is ? (size_t)(header - line) : 0;
	}
	return margin->is && len ? skip(margin, line, len) : 0;
}

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
	size_t margin = line_prefix_len(&reader->margin, line->text, line->len);

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
		size_t cut = unwrap_unwrap(text, &ret->len);

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
		ret->len = unwrap_undo(&reader->unwrap, ret->text, ret->len);
}
