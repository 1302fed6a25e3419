// SPDX-License-Identifier: LGPL-2.1-or-later
/* A brief as lines of 80 columns; what has no room is left out, the least important first. */
#include <stdio.h>
#include <string.h>

#include "lib/answers/explain/brief.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"

enum { WIDTH = 80, NAME_MAX_COLUMNS = 60, REASON_MAX_COLUMNS = 240, LEVELS = 5 };

/* How much is told, from the first on which fits. */
static const struct level {
	size_t findings;
	bool usual, commands;
} levels[LEVELS] = {
	{ 3, true, true }, { 3, false, true }, { 2, false, true }, { 1, false, true }, { 1, false, false }
};

static const struct table *table_of(const struct findings *findings, const char *name)
{
	for (size_t i = 0; i < findings->nr; i++)
		if (!strcmp(findings->items[i].name, name))
			return &findings->items[i].table;
	return NULL;
}

static size_t rows_of(const struct table *table)
{
	return table && table->nr_columns ? table->nr_items / table->nr_columns : 0;
}

/* The value of a fact; "": there is none. */
static const char *fact(const struct table *facts, const char *name)
{
	for (size_t row = 0; row < rows_of(facts); row++)
		if (!strcmp(table_text_at(facts, row, 0), name))
			return table_text_at(facts, row, 1);
	return "";
}

/* The length of a word, to which a unit behind a number belongs: "12.3 ms", "99 %". */
static size_t word_of(const char *text)
{
	static const char *const units[] = { "%", "ns", "us", "ms", "s" };
	size_t len = strcspn(text, " ");

	for (size_t i = 0; i < array_size(units) && text[len] && *text >= '0' && *text <= '9'; i++) {
		size_t unit = strlen(units[i]);

		if (!strncmp(text + len + 1, units[i], unit) && strchr(" ,.;:)", text[len + 1 + unit]))
			return len + 1 + unit + strspn(text + len + 1 + unit, ",.;:)");
	}
	return len;
}

/* Adds words, with line breaks and `indent` blanks behind each; names may have any bytes. */
static void put_words(struct buf *into, const char *text, unsigned indent)
{
	size_t used = 0, start = into->len;

	while (start && into->data[start - 1] != '\n')
		start--;
	used = utf8_columns(into->data ? into->data + start : "", into->len - start);
	while (*text) {
		size_t len = word_of(text), columns = utf8_columns(text, len);

		if (used > indent && used + columns > WIDTH) {
			while (into->len && into->data[into->len - 1] == ' ')
				into->len--;
			if (!buf_addf(into, "\n%*s", (int)indent, ""))
				return;
			used = indent;
		}
		for (size_t i = 0; i < len; i++) {
			char c = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];

			if (!buf_add(into, &c, 1))
				return;
		}
		text += len;
		used += columns;
		if (*text == ' ' && !buf_add_str(into, " "))
			return;
		used += *text == ' ';
		text += *text == ' ';
	}
}

/* One that begins with the words before it. */
static void put_line(struct buf *into, unsigned indent, const char *before, const char *text)
{
	if (!*text || !buf_addf(into, "%*s", (int)indent, ""))
		return;
	put_words(into, before, indent + 2);
	put_words(into, text, indent + 2);
	(void)buf_add_str(into, "\n");
}

static void put_title(const struct brief_options *options, const struct table *facts, const struct table *cases,
		      const char *nothing, struct buf *into)
{
	const char *trigger = fact(facts, "trigger");
	const char *slash = strrchr(options->input, '/'), *name = slash ? slash + 1 : options->input;
	cleanup_buf struct buf title = BUF_INIT;

	if (!buf_addf(&title, "weft brief %.*s", NAME_MAX_COLUMNS, name) ||
	    (options->ask != BRIEF_KINDS && !buf_addf(&title, ", asked for %s", brief_kinds[options->ask])) ||
	    (*trigger && !buf_addf(&title, ": weft flight saved it for the trigger %.*s", NAME_MAX_COLUMNS, trigger)) ||
	    (!*trigger && !buf_addf(&title, ": %s", rows_of(cases) ? table_text_of(cases, 0, "what") : nothing)))
		return;
	put_words(into, buf_str(&title), 2);
	(void)buf_add_str(into, "\n");
}

/* The text of the event that was the trigger, which a file of weft flight is about. */
static void put_trigger(const struct brief_options *options, const struct table *facts, struct buf *into)
{
	cleanup_buf struct buf reason = BUF_INIT, see = BUF_INIT;

	if (!*fact(facts, "trigger") || !buf_addf(&reason, "%.*s", REASON_MAX_COLUMNS, fact(facts, "reason")) ||
	    !buf_addf(&see, "weft flight explain %s", options->input))
		return;
	put_line(into, 2, "", buf_str(&reason));
	put_line(into, 2, "see: ", buf_str(&see));
}

static void put_recording(const struct table *facts, struct buf *into)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (buf_addf(&line, "kernel %s; CPUs: %s; HZ: %s; %s events in %s; lost: %s; recorded: ", fact(facts, "kernel"),
		     fact(facts, "CPUs"), fact(facts, "HZ"), fact(facts, "events"), fact(facts, "span"),
		     fact(facts, "lost")) &&
	    buf_add_str(&line, fact(facts, "recorded")))
		put_line(into, 2, "", buf_str(&line));
}

static void put_case(const struct table *cases, size_t row, const struct level *level, struct buf *into)
{
	const char *moment = table_text_of(cases, row, "moment");
	cleanup_buf struct buf number = BUF_INIT;

	if (!buf_addf(&number, "%zu. ", row + 1))
		return;
	put_line(into, 0, buf_str(&number), table_text_of(cases, row, "what"));
	put_line(into, 2, "why: ", table_text_of(cases, row, "why"));
	if (level->usual)
		put_line(into, 2, "usual: ", table_text_of(cases, row, "usual"));
	if (!level->commands)
		return;
	put_line(into, 2, "see: ", table_text_of(cases, row, "command"));
	put_line(into, 2, "moment: ", moment);
}

/* What was looked at and how much of it, or what was not recorded. */
static void put_looked(const struct table *looked, bool recorded, struct buf *into)
{
	cleanup_buf struct buf line = BUF_INIT;
	char count[TEXT_HUMAN], time[TEXT_HUMAN];
	int column = table_column_named(looked, "count");
	uint64_t number, longest;
	bool ok = true;

	for (size_t row = 0; row < rows_of(looked); row++) {
		const char *between = line.len ? recorded ? "; " : ", " : "",
			   *what = table_text_of(looked, row, "what");
		bool known = table_number_at(looked, row, (size_t)column, &number);

		if (known != recorded)
			continue;
		longest = table_number_of(looked, row, "max_ns");
		if (!known)
			ok &= buf_addf(&line, "%s%s (-e %s)", between, what, table_text_of(looked, row, "record_with"));
		else if (longest)
			ok &= buf_addf(&line, "%s%s: %s (longest %s)", between, what, text_count(count, number),
				       text_time(time, longest));
		else
			ok &= buf_addf(&line, "%s%s: %s", between, what, text_count(count, number));
	}
	if (ok && line.len)
		put_line(into, 0, recorded ? "- looked at: " : "- not recorded, so not seen: ", buf_str(&line));
}

static void put_notes(const struct findings *findings, struct buf *into)
{
	const char *notes = findings->notes.data;
	size_t left = findings->notes.len;
	struct text_word line;

	while (left && text_next_line(&notes, &left, &line)) {
		cleanup_buf struct buf text = BUF_INIT;

		if (buf_add(&text, line.at, line.len))
			put_line(into, 0, "- ", buf_str(&text));
	}
}

static const char *nothing_of(const struct table *looked)
{
	int column = table_column_named(looked, "count");
	uint64_t number;

	for (size_t row = 0; row < rows_of(looked); row++)
		if (table_number_at(looked, row, (size_t)column, &number))
			return "nothing stands out";
	return "nothing can be said: no event of it was recorded";
}

static void put_all(const struct brief_options *options, const struct findings *findings, const struct level *level,
		    struct buf *into)
{
	const struct table *cases = table_of(findings, "stands_out"), *looked = table_of(findings, "looked_at"),
			   *facts = table_of(findings, "recording");

	put_title(options, facts, cases, nothing_of(looked), into);
	put_trigger(options, facts, into);
	put_recording(facts, into);
	for (size_t row = 0; row < rows_of(cases) && row < level->findings; row++)
		put_case(cases, row, level, into);
	put_looked(looked, true, into);
	put_looked(looked, false, into);
	put_notes(findings, into);
}

bool brief_is_empty(const struct findings *findings)
{
	return !rows_of(table_of(findings, "stands_out"));
}

static bool fits(const struct buf *text, size_t more)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines + more <= BRIEF_LINES && text->len + more * 16 <= BRIEF_BYTES;
}

/* A fence that no line of the text can end. */
static size_t fence_of(const struct buf *text)
{
	size_t longest = 2, run = 0;

	for (size_t i = 0; i < text->len; i++) {
		run = text->data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest + 1;
}

bool brief_write(const struct brief_options *options, const struct findings *findings, bool markdown, struct out *out)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t fence;

	if (findings->failed)
		return false;
	for (size_t i = 0; i < LEVELS; i++) {
		buf_clear(&text);
		put_all(options, findings, &levels[i], &text);
		if (fits(&text, markdown ? 2 : 0))
			break;
	}
	fence = markdown ? fence_of(&text) : 0;
	for (size_t i = 0; i < fence; i++)
		out_char(out, '`');
	out_str(out, fence ? "text\n" : "");
	out_mem(out, buf_str(&text), text.len);
	for (size_t i = 0; i < fence; i++)
		out_char(out, '`');
	out_str(out, fence ? "\n" : "");
	return !out->failed;
}
