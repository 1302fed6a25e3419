// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/fit.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/tasks.h"

/* Findings as text, JSON and CSV. */

/* Writes nanoseconds as seconds with all decimals, as --since takes them. */
static void put_stamp(struct out *out, uint64_t ns)
{
	out_decimal_u64(out, ns, 9);
}

static void put_line(struct out *out, const char *what, struct buf *line)
{
	out_f(out, "# %s: %s\n", what, line->len ? buf_str(line) : "none");
}

/* On a terminal it is one line, with the option to add: files and pipes have the reason for each. */
static void put_missing(struct findings *findings, unsigned width, struct out *out)
{
	static const char what[] = "wanted and not recorded";

	if (!width || !findings->missing_for || sizeof(what) + 3 + findings->missing.len <= width)
		put_line(out, what, &findings->missing);
	else
		out_f(out, "# %s: %u kind%s of events; weft record --for %s\n", what, findings->nr_missing,
		      text_plural(findings->nr_missing), findings->missing_for);
}

static bool has_face(const struct findings_options *options)
{
	return options->face && options->face->kind != FACE_TRACE;
}

int findings_moment(const struct findings_options *options, uint64_t ns, char into[TABLE_MOMENT_TEXT])
{
	int len = 0;

	if (!has_face(options))
		return (int)strlen(text_seconds(into, ns));
	if (options->format != TABLE_AS_TEXT && face_is_of_day(options->face))
		len = face_iso(into, options->face, options->wall, ns);
	return len ? len : face_text(into, options->face, options->wall, ns, MOMENT_DECIMALS);
}

static void put_moment(const struct findings_options *options, uint64_t ns, struct out *out)
{
	char text[TABLE_MOMENT_TEXT];

	if (has_face(options))
		out_mem(out, text, (size_t)findings_moment(options, ns, text));
	else
		put_stamp(out, ns);
}

/* A line to paste has times of the trace, which every command takes, whichever times the tables show. */
static void put_worst(const struct worst *worst, const struct findings_options *options, struct out *out)
{
	const char *input = options->input;
	char time[TEXT_HUMAN];

	out_f(out, "# longest %s: %s, ", worst->what, text_time(time, worst->lasted));
	if (worst->pid >= 0)
		out_f(out, "%s-%d on ", task_shown(worst->comm), worst->pid);
	out_f(out, "CPU %u%s", worst->cpu, input ? ": weft report" : "");
	if (worst->to) {
		out_str(out, input ? " --since " : ", from ");
		if (input)
			put_stamp(out, worst->from);
		else
			put_moment(options, worst->from, out);
		out_str(out, input ? " --until " : " to ");
		if (input)
			put_stamp(out, worst->to);
		else
			put_moment(options, worst->to, out);
	}
	out_f(out, "%s%s\n", input ? " " : "", input ? input : "");
}

static void put_span(const struct findings_options *options, struct out *out)
{
	const struct findings_span *span = options->span;
	char lasted[TEXT_HUMAN], events[TEXT_HUMAN];

	out_str(out, span->whole ? "# all, from " : "# from ");
	put_moment(options, span->from, out);
	out_str(out, " to ");
	put_moment(options, span->to, out);
	out_f(out, " (%s): %s event%s%s%s%s%s\n", text_time(lasted, span->to - span->from),
	      text_count(events, span->events), text_plural(span->events), span->nothing ? "; " : "",
	      span->nothing ? span->nothing : "", span->ended ? "; " : "", span->ended ? span->ended : "");
}

/* Names the columns for which the terminal is too narrow. Where the command prints several tables, CSV needs a name. */
static void put_left_out(const struct finding *finding, const struct findings_options *options, bool several,
			 uint32_t left_out, struct out *out)
{
	const struct table *table = &finding->table;
	const char *begin = left_out & (left_out - 1) ? "# no room for the columns " : "# no room for the column ";
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_columns; i++)
		if (left_out >> i & 1)
			out_f(out, "%s%s", nr++ ? ", " : begin, table->columns[i].title);
	if (!nr)
		return;
	out_f(out, ": a terminal of more than %u columns or ", table->width);
	if (options->for_columns)
		out_str(out, options->for_columns);
	else if (several)
		out_f(out, "--table %s --format csv", finding->name);
	else
		out_str(out, "--format csv");
	out_f(out, " shows %s\n", nr > 1 ? "them" : "it");
}

/* The bytes of a word that go on this line: a list that is wider than a line is divided behind a comma. */
static size_t part_of_list(const struct text_word *word, size_t room)
{
	size_t part = 0;

	if (utf8_columns(word->at, word->len) <= room)
		return word->len;
	for (size_t i = 0; i < word->len && i < room; i++)
		if (word->at[i] == ',')
			part = i + 1;
	return part ? part : word->len;
}

/* Lines that begin with '#' and are longer than the terminal is wide go on below, between words. */
static void wrap(const char *text, size_t left, unsigned width, struct out *out)
{
	static const char begin[] = "#    ";
	struct text_word line, word;

	while (text_next_line(&text, &left, &line)) {
		const char *at = line.at, *end = line.at + line.len;
		size_t used = 0;

		if (!width || *line.at != '#' || utf8_columns(line.at, line.len) <= width) {
			out_mem(out, line.at, line.len);
			out_char(out, '\n');
			continue;
		}
		for (; at < end; at = word.at + word.len) {
			size_t columns;

			at += *at == ' ';
			word = (struct text_word){ at, strcspn(at, " \n") };
			word.len = part_of_list(&word, width - (sizeof(begin) - 1));
			columns = utf8_columns(word.at, word.len);
			if (used + 1 + columns > width && used > sizeof(begin)) {
				out_f(out, "\n%s", begin);
				used = sizeof(begin) - 1;
			} else if (used) {
				out_char(out, ' ');
				used++;
			}
			out_mem(out, word.at, word.len);
			used += columns;
		}
		out_char(out, '\n');
	}
}

static bool print(struct findings *findings, const struct findings_options *options, struct out *out)
{
	const char *notes = buf_str(&findings->notes);
	size_t left = findings->notes.len;
	struct text_word line;
	char text[TEXT_HUMAN];
	size_t shown = 0;

	if (options->span)
		put_span(options, out);
	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];
		uint32_t left_out = 0;

		if (finding->data_only || (finding->more && !finding_has(finding, BRIEF) && !options->nr_tables))
			continue;
		out_f(out, "%s# %s", shown++ ? "\n" : "", finding->title);
		if (finding->more)
			out_f(out, " (more: weft %s)", finding->more);
		out_char(out, '\n');
		if (!finding->table.nr_items && !finding->left_away)
			out_str(out, "none among the events\n");
		else if (finding->table.nr_items && !table_print_fitting(&finding->table, out, &left_out))
			return false;
		put_left_out(finding, options, findings->nr > 1, left_out, out);
		if (finding->left_away)
			out_f(out, "... and %s more%s\n", text_count(text, finding->left_away),
			      finding->more ? "" : "; --top 0 shows all");
	}
	if (findings->nr || options->span)
		out_char(out, '\n');
	if (options->span && !options->span->whole)
		return true;
	/* The longest cases may be of other tables. */
	for (size_t i = 0; !options->nr_tables && !options->only_notes && i < findings->nr_worst; i++)
		put_worst(&findings->worst[i], options, out);
	while (text_next_line(&notes, &left, &line))
		out_f(out, "# %.*s\n", (int)line.len, line.at);
	if (findings->without_events)
		return true;
	put_line(out, "cut by the start or the end", &findings->cut);
	put_line(out, "broken by lost events", &findings->broken);
	put_missing(findings, options->width, out);
	return true;
}

static bool print_wrapped(struct findings *findings, const struct findings_options *options, struct out *out)
{
	struct out text;
	bool ok;

	if (!options->width)
		return print(findings, options, out);
	ok = out_init(&text, 0) && print(findings, options, &text) && !text.failed;
	if (ok)
		wrap(text.start, out_len(&text), options->width, out);
	out_release(&text);
	return ok;
}

static void put_json_text(struct json *json, const char *key, const struct buf *line)
{
	json_key(json, key);
	if (line->len)
		json_put_bytes(json, line->data, line->len);
	else
		json_put_null(json);
}

static void put_json_time(struct json *json, const char *key, uint64_t time, bool known)
{
	json_key(json, key);
	if (known)
		json_put_decimal_u64(json, time, 9);
	else
		json_put_null(json);
}

static void put_json_worst(const struct findings *findings, struct json *json)
{
	json_key(json, "longest");
	json_array(json);
	for (size_t i = 0; i < findings->nr_worst; i++) {
		const struct worst *worst = &findings->worst[i];

		json_object(json);
		json_key(json, "what");
		json_put_text(json, worst->what);
		json_key(json, "lasted_ns");
		json_put_u64(json, worst->lasted);
		put_json_time(json, "since", worst->from, worst->to);
		put_json_time(json, "until", worst->to, worst->to);
		json_key(json, "cpu");
		json_put_u64(json, worst->cpu);
		json_key(json, "pid");
		json_put_s64(json, worst->pid);
		json_key(json, "comm");
		json_put_bytes(json, worst->comm, strnlen(worst->comm, sizeof(worst->comm)));
		json_end(json);
	}
	json_end(json);
}

static void put_json_moment(const struct findings_options *options, const char *key, uint64_t ns, struct json *json)
{
	char text[TABLE_MOMENT_TEXT];

	json_key(json, key);
	if (has_face(options))
		json_put_bytes(json, text, (size_t)findings_moment(options, ns, text));
	else
		json_put_decimal_u64(json, ns, 9);
}

static void put_json_span(const struct findings_options *options, struct json *json)
{
	const struct findings_span *span = options->span;

	put_json_moment(options, "since", span->from, json);
	put_json_moment(options, "until", span->to, json);
	/* Tables may be called "events". */
	json_key(json, "span_events");
	json_put_u64(json, span->events);
	json_key(json, "whole");
	json_put_bool(json, span->whole);
}

/* Of an answer that is limited in bytes: the rows that each table lacks. */
static void put_json_left_out(const struct findings *findings, const struct findings_options *options,
			      struct json *json)
{
	json_key(json, "rows_left_out");
	json_object(json);
	for (size_t i = 0; i < findings->nr; i++)
		if (findings->items[i].left_away) {
			json_key(json, findings->items[i].name);
			json_put_u64(json, findings->items[i].left_away);
		}
	json_end(json);
	json_key(json, "for_more");
	json_put_text(json, options->for_more ? options->for_more :
						"--max-bytes with a larger number, --table NAME for one table, or "
						"--since and --until");
}

static bool put_json(struct findings *findings, const struct findings_options *options, struct out *out)
{
	struct json json;
	bool ok = true;

	json_init(&json, out);
	json_object(&json);
	if (options->span)
		put_json_span(options, &json);
	if (options->max_bytes)
		put_json_left_out(findings, options, &json);
	for (size_t i = 0; ok && i < findings->nr; i++) {
		json_key(&json, findings->items[i].name);
		ok = table_put_json(&findings->items[i].table, &json);
		json_break(&json);
	}
	put_json_worst(findings, &json);
	put_json_text(&json, "notes", &findings->notes);
	put_json_text(&json, "cut", &findings->cut);
	put_json_text(&json, "broken", &findings->broken);
	put_json_text(&json, "missing", &findings->missing);
	json_key(&json, "version");
	json_put_u64(&json, FINDINGS_VERSION);
	json_end(&json);
	json_line(&json);
	return ok;
}

static bool put_csv(const struct findings *findings, const struct findings_options *options, struct out *out)
{
	bool ok = true;

	for (size_t i = 0; ok && i < findings->nr; i++) {
		struct out table;

		ok = out_init(&table, 0) && table_put_csv(&findings->items[i].table, &table) && !table.failed;
		if (ok && options->csv_file)
			options->csv_file(out, findings->items[i].name, out_len(&table));
		else if (i)
			out_char(out, '\n');
		if (ok)
			out_mem(out, table.start, out_len(&table));
		out_release(&table);
	}
	return ok;
}

bool findings_write(struct findings *findings, const struct findings_options *options, struct out *out)
{
	if (findings->failed)
		return false;
	switch (options->format) {
	case TABLE_AS_TEXT:
		return print_wrapped(findings, options, out);
	case TABLE_AS_JSON:
		return put_json(findings, options, out);
	case TABLE_AS_CSV:
		return put_csv(findings, options, out);
	case TABLE_AS_SCHEMA:
		return findings_write_schema(findings, options, out);
	}
	return false;
}

/* What findings_arrange() would have removed. */
static size_t hide(struct finding *finding, uint64_t top, bool any)
{
	const size_t nr = finding->table.nr_items, columns = finding->table.nr_columns;

	if ((!finding->sort && !finding->ordered && !any) || !columns || top >= nr / columns)
		return nr;
	finding->left_away += nr / columns - (size_t)top;
	finding->table.nr_items = (size_t)top * columns;
	return nr;
}

bool findings_write_first(struct findings *findings, const struct findings_options *options, struct out *out)
{
	struct hidden {
		size_t nr_items, left_away;
		unsigned width;
	} *before = calloc(findings->nr + 1, sizeof(*before));
	bool ok = before;

	for (size_t i = 0; before && i < findings->nr; i++) {
		struct finding *finding = &findings->items[i];

		before[i].left_away = finding->left_away;
		before[i].nr_items = hide(finding, options->top, options->max_bytes);
		before[i].width = finding->table.width;
		finding->table.width = options->width;
	}
	ok = ok && findings_write(findings, options, out);
	for (size_t i = 0; before && i < findings->nr; i++) {
		findings->items[i].left_away = before[i].left_away;
		findings->items[i].table.nr_items = before[i].nr_items;
		findings->items[i].table.width = before[i].width;
	}
	free(before);
	return ok;
}

struct within {
	struct findings *findings;
	struct findings_options options;
};

static int write_first(void *arg, uint64_t rows, struct out *out, struct fail *fail)
{
	struct within *within = arg;

	within->options.top = rows;
	return findings_write_first(within->findings, &within->options, out) ? 0 : fail_memory(fail);
}

int findings_write_within(struct findings *findings, const struct findings_options *options, struct out *out,
			  struct fail *fail)
{
	struct within within = { findings, *options };
	struct fit fit = { write_first, &within, 0, options->max_bytes };
	uint64_t left_out;

	for (size_t i = 0; i < findings->nr; i++) {
		const struct table *table = &findings->items[i].table;
		uint64_t rows = table->nr_columns ? table->nr_items / table->nr_columns : 0;

		fit.rows = rows > fit.rows ? rows : fit.rows;
	}
	return fit_write(&fit, out, &left_out, fail);
}

void findings_init(struct findings *findings)
{
	*findings = (struct findings){ .items = NULL };
}

static void finding_release(struct finding *finding)
{
	table_release(&finding->table);
	free(finding->columns);
}

void findings_release(struct findings *findings)
{
	for (size_t i = 0; i < findings->nr; i++)
		finding_release(&findings->items[i]);
	for (size_t i = 0; i < findings->nr_worst; i++)
		free((char *)findings->worst[i].what);
	free(findings->items);
	free(findings->worst);
	buf_release(&findings->cut);
	buf_release(&findings->broken);
	buf_release(&findings->missing);
	buf_release(&findings->notes);
	findings_init(findings);
}

static size_t size_of_text(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

/* Copies a text to *at, and moves *at behind it. */
static const char *put_text(char **at, const char *text)
{
	size_t size = size_of_text(text);
	char *copy = *at;

	if (!text)
		return NULL;
	memcpy(copy, text, size);
	*at += size;
	return copy;
}

/* Copies the texts of a table and its columns into one block of memory, which the finding owns. */
static bool keep_texts(struct finding *finding, const struct table_column *columns)
{
	size_t size = size_of_text(finding->name) + size_of_text(finding->title), nr;
	struct table_column *copies;
	char *at;

	for (nr = 0; columns[nr].title; nr++)
		size += sizeof(*columns) + size_of_text(columns[nr].title) + size_of_text(columns[nr].key);
	copies = finding->columns = malloc(size);
	if (!copies)
		return false;
	at = (char *)(copies + nr);
	for (size_t i = 0; i < nr; i++)
		copies[i] = (struct table_column){ put_text(&at, columns[i].title), columns[i].kind,
						   put_text(&at, columns[i].key), columns[i].flags };
	finding->name = put_text(&at, finding->name);
	finding->title = put_text(&at, finding->title);
	table_init(&finding->table, copies, nr);
	return true;
}

struct table *findings_table(struct findings *findings, const char *name, const char *title, const char *sort,
			     const struct table_column *columns)
{
	struct finding *finding = vec_push(findings->items, findings->nr);

	if (finding) {
		*finding = (struct finding){ .name = name, .title = title, .sort = sort };
		if (keep_texts(finding, columns))
			return &finding->table;
		findings->nr--;
	}
	findings->failed = true;
	return NULL;
}

struct table *findings_facts(struct findings *findings, const char *name, const char *title)
{
	static const struct table_column columns[] = { { "", TABLE_TEXT, "fact", BRIEF },
						       { "", TABLE_TEXT, "value", BRIEF | WRAP },
						       { NULL, TABLE_TEXT, NULL, 0 } };

	return findings_table(findings, name, title, NULL, columns);
}

void findings_ordered(struct findings *findings)
{
	if (findings->nr)
		findings->items[findings->nr - 1].ordered = true;
}

void findings_flag(struct findings *findings, uint32_t of, uint32_t flag, bool on)
{
	struct finding *finding = findings->nr ? &findings->items[findings->nr - 1] : NULL;

	for (size_t i = 0; finding && i < finding->table.nr_columns; i++)
		if (finding->columns[i].flags & of)
			finding->columns[i].flags = (finding->columns[i].flags & ~flag) | (on ? flag : 0);
}

void findings_head_at(struct findings *findings, size_t at, const struct table_column *head)
{
	struct finding *finding = findings->nr ? &findings->items[findings->nr - 1] : NULL;

	if (finding)
		finding->columns[at] =
			(struct table_column){ head->title, head->kind, head->key, finding->columns[at].flags };
}

void findings_head(struct findings *findings, const struct table_column *head, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		findings_head_at(findings, i, &head[i]);
}

bool finding_has(const struct finding *finding, uint32_t flag)
{
	for (size_t i = 0; i < finding->table.nr_columns; i++)
		if (table_flagged(&finding->table, i, flag))
			return true;
	return false;
}

void findings_worst(struct findings *findings, const struct worst *worst)
{
	char *what = strdup(worst->what);
	struct worst *added = what ? vec_push(findings->worst, findings->nr_worst) : NULL;

	findings->failed |= !added;
	if (!added) {
		free(what);
		return;
	}
	*added = *worst;
	added->what = what;
	/* The name stays on one line. */
	for (size_t i = 0; i < sizeof(added->comm); i++)
		if (added->comm[i] && ((unsigned char)added->comm[i] < ' ' || added->comm[i] == 0x7f))
			added->comm[i] = '?';
	added->comm[sizeof(added->comm) - 1] = '\0';
}

void findings_detach(struct findings *findings)
{
	for (size_t i = 0; i < findings->nr; i++)
		table_detach(&findings->items[i].table);
}

static void add_count(struct findings *findings, struct buf *line, uint64_t count, const char *what)
{
	size_t word = strcspn(what, " ");
	const char *rest = what + word;
	char text[TEXT_HUMAN];

	if (count == 1 && word && what[word - 1] == 's')
		word--;
	if (count &&
	    !buf_addf(line, "%s%s %.*s%s", line->len ? ", " : "", text_count(text, count), (int)word, what, rest))
		findings->failed = true;
}

void findings_cut(struct findings *findings, uint64_t count, const char *what)
{
	add_count(findings, &findings->cut, count, what);
}

void findings_broken(struct findings *findings, uint64_t count, const char *what)
{
	add_count(findings, &findings->broken, count, what);
}

void findings_missing(struct findings *findings, const char *option, const char *value, const char *what_for)
{
	char told[512];

	/* Several analyses may miss the same event, each for its own reason: the first reason is kept. */
	snprintf(told, sizeof(told), "%s %s (", option, value);
	if (findings->missing.len && memmem(findings->missing.data, findings->missing.len, told, strlen(told)))
		return;
	findings->nr_missing++;
	if (!buf_addf(&findings->missing, "%s%s %s (%s)", findings->missing.len ? ", " : "", option, value, what_for))
		findings->failed = true;
}

void findings_missing_end(struct findings *findings, const char *analysis)
{
	findings->missing_for = analysis;
	if (findings->missing.len && !buf_addf(&findings->missing, "; 'weft record --for %s' records it all", analysis))
		findings->failed = true;
}

void findings_note(struct findings *findings, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!buf_addf(&findings->notes, "%s\n", text))
		findings->failed = true;
}

/* Adds the columns of the first table that people see and that --sort orders. */
static bool list_columns(const struct findings *findings, struct buf *into)
{
	const struct finding *finding = NULL;
	const char *between = "";
	char title[TABLE_KEY_SIZE];
	bool ok = true;

	for (size_t i = 0; !finding && i < findings->nr; i++)
		if (findings->items[i].sort || findings->items[i].ordered)
			finding = &findings->items[i];
	for (size_t c = 0; finding && c < finding->table.nr_columns; c++) {
		if (!*finding->table.columns[c].title || table_flagged(&finding->table, c, DATA))
			continue;
		ok = ok && buf_addf(into, "%s%s", between, table_title(&finding->table.columns[c], title));
		between = ", ";
	}
	return ok;
}

static int no_such_column(const struct findings *findings, const char *name, struct fail *fail)
{
	struct near near = near_to(name);
	cleanup_buf struct buf columns = BUF_INIT;
	char title[TABLE_KEY_SIZE], hint[3 * NEAR_NAME_SIZE];

	for (size_t i = 0; i < findings->nr; i++)
		for (size_t c = 0; c < findings->items[i].table.nr_columns; c++)
			near_offer(&near, table_title(&findings->items[i].table.columns[c], title));
	near_hint(&near, hint, sizeof(hint));
	if (*hint || !list_columns(findings, &columns) || !columns.len)
		(void)near_fail(&near, fail, -ENOENT, "--sort: no table has a column '%s'", name);
	else
		(void)fail_set(fail, -ENOENT, "--sort: no table has a column '%s'; there are %s", name,
			       buf_str(&columns));
	return fail_usage(fail, -ENOENT);
}

static int moment_text(const void *options, uint64_t ns, char into[TABLE_MOMENT_TEXT])
{
	return findings_moment(options, ns, into);
}

static void show_times(struct finding *finding, const struct findings_options *options)
{
	if (has_face(options))
		table_moments(&finding->table, moment_text, options);
}

static bool list_tables(const struct findings *findings, struct buf *into)
{
	for (size_t i = 0; i < findings->nr; i++)
		if (!buf_addf(into, "%s%s", i ? ", " : "", findings->items[i].name))
			return false;
	return true;
}

void findings_show_times(struct findings *findings, const struct findings_options *options)
{
	for (size_t i = 0; i < findings->nr; i++)
		show_times(&findings->items[i], options);
}

static int no_such_table(const struct findings *findings, const char *name, struct fail *fail)
{
	struct near near = near_to(name);
	cleanup_buf struct buf names = BUF_INIT;
	char hint[3 * NEAR_NAME_SIZE];

	for (size_t i = 0; i < findings->nr; i++)
		near_offer(&near, findings->items[i].name);
	if (!list_tables(findings, &names))
		return fail_memory(fail);
	near_hint(&near, hint, sizeof(hint));
	fail_set(fail, -ENOENT, "--table: there is no table '%s'; %s%s", name, *hint ? hint : "there are ",
		 *hint ? "" : buf_str(&names));
	return fail_usage(fail, -ENOENT);
}

int findings_one_csv(const struct findings *findings, const struct findings_options *options, struct fail *fail)
{
	cleanup_buf struct buf names = BUF_INIT;

	if (options->format != TABLE_AS_CSV || options->csv_file || findings->nr < 2)
		return 0;
	if (!list_tables(findings, &names))
		return fail_memory(fail);
	fail_set(fail, -ENOTUNIQ,
		 "--format csv prints one table, and there are %s; name one with --table, or write each into a file "
		 "of its own with -o DIR",
		 buf_str(&names));
	return fail_usage(fail, -ENOTUNIQ);
}

static bool is_chosen(const struct findings_options *options, const char *name)
{
	for (size_t i = 0; i < options->nr_tables; i++)
		if (!strcmp(options->tables[i], name))
			return true;
	return !options->nr_tables && !options->only_notes;
}

int findings_choose(struct findings *findings, const struct findings_options *options, bool all, struct fail *fail)
{
	size_t kept = 0;

	for (size_t i = 0; all && i < options->nr_tables; i++) {
		size_t at = 0;

		while (at < findings->nr && strcmp(findings->items[at].name, options->tables[i]))
			at++;
		if (at == findings->nr)
			return no_such_table(findings, options->tables[i], fail);
	}
	for (size_t i = 0; i < findings->nr; i++) {
		if (is_chosen(options, findings->items[i].name)) {
			/* Who names a table sees it, also one that text leaves out. */
			findings->items[i].data_only &= !options->nr_tables;
			findings->items[kept++] = findings->items[i];
		} else {
			finding_release(&findings->items[i]);
		}
	}
	findings->nr = kept;
	return 0;
}

int findings_arrange(struct findings *findings, const struct findings_options *options, struct fail *fail)
{
	bool found = !options->sort;
	int r = findings_choose(findings, options, true, fail);

	if (r)
		return r;

	for (size_t i = 0; i < findings->nr; i++) {
		struct finding *finding = &findings->items[i];
		int column = options->sort ? table_column_named(&finding->table, options->sort) : -1;

		found |= column >= 0;
		/* What the rows are sorted by is what was asked for. */
		if (column >= 0)
			finding->columns[column].flags =
				(finding->columns[column].flags & ~(uint32_t)(SPARE | DATA)) | KEEP;
		if (column < 0 && finding->sort)
			column = table_column_named(&finding->table, finding->sort);
		if (column >= 0 && !table_sort(&finding->table, (size_t)column))
			return fail_memory(fail);
		if ((finding->sort || finding->ordered) && options->top < SIZE_MAX)
			finding->left_away = table_keep(&finding->table, (size_t)options->top);
		finding->table.width = options->width;
		show_times(finding, options);
	}
	return found ? 0 : no_such_column(findings, options->sort, fail);
}
