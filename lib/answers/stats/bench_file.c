// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The runs of a command as a text, for later comparisons. A line is a word, and after it numbers and texts with tabs
 * between them:
 *	weft bench 1
 *	command	TEXT
 *	kernel	RELEASE
 *	for	ANALYSES          if the runs were recorded
 *	run	FIGURE... LEAST_MEMORY    of enum bench_figure
 *	row	COUNT	NS	TABLE	NAME      of the run above
 *	end
 * In texts, control characters and backslashes are written as in C, by three octal digits.
 */
#include "lib/answers/stats/bench_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

static const char first_line[] = "weft bench 1";

static bool put_text(struct buf *into, const char *text)
{
	bool ok = true;

	for (; ok && *text; text++)
		ok = (unsigned char)*text < ' ' || *text == '\\' || *text == 0x7f ?
			     buf_addf(into, "\\%03o", (unsigned char)*text) :
			     buf_add(into, text, 1);
	return ok;
}

static bool put_line(struct buf *into, const char *word, const char *text)
{
	return buf_addf(into, "%s\t", word) && put_text(into, text) && buf_add_str(into, "\n");
}

static bool put_rows(struct buf *into, const struct diff_run *rows)
{
	bool ok = true;

	for (size_t i = 0; ok && i < rows->nr; i++) {
		const struct diff_row *row = &rows->rows[i];
		const char *tab = strchr(row->name, '\t');

		ok = buf_addf(into, "row\t%" PRIu64 "\t%" PRIu64 "\t%.*s\t", row->count, row->sum,
			      (int)(tab - row->name), row->name) &&
		     put_text(into, tab + 1) && buf_add_str(into, "\n");
	}
	return ok;
}

bool bench_save(const struct bench *bench, const char *kernel, const char *of, struct buf *into)
{
	const struct bench_side *side = &bench->sides[0];
	bool ok = buf_addf(into, "%s\n", first_line) && put_line(into, "command", side->command) &&
		  put_line(into, "kernel", kernel) && (!of || put_line(into, "for", of));

	for (size_t i = 0; ok && i < side->nr; i++) {
		ok = buf_add_str(into, "run");
		for (size_t j = 0; ok && j < BENCH_FIGURES; j++)
			ok = buf_addf(into, "\t%" PRIu64, side->runs[i].figures[j]);
		ok = ok && buf_addf(into, "\t%" PRIu64 "\n", side->runs[i].least_memory);
		if (ok && bench->rows && i < bench->rows->sides[0].nr)
			ok = put_rows(into, &bench->rows->sides[0].runs[i]);
	}
	return ok && buf_add_str(into, "end\n");
}

/* Reads the rest of the line. NULL: it is no text, or memory ran out. */
static char *take_text(const char *at)
{
	cleanup_buf struct buf text = BUF_INIT;
	bool ok = true;

	while (ok && *at) {
		char c = *at++;

		if (c == '\\') {
			unsigned value = 0;

			for (size_t i = 0; ok && i < 3; i++, at++) {
				ok = *at >= '0' && *at <= '7';
				value = value * 8 + (unsigned)(ok ? *at - '0' : 0);
			}
			ok = ok && value && value < 256;
			c = (char)value;
		}
		ok = ok && buf_add(&text, &c, 1);
	}
	return ok && buf_add(&text, "", 0) ? buf_take(&text, NULL) : NULL;
}

static bool take_number(const char **at, uint64_t *ret)
{
	if (**at != '\t')
		return false;
	(*at)++;
	return number_u64(at, ret);
}

static bool take_run(struct bench_saved *saved, const char *at)
{
	struct bench_run run;

	if (saved->nr == BENCH_RUNS_MAX)
		return false;
	for (size_t i = 0; i < BENCH_FIGURES; i++)
		if (!take_number(&at, &run.figures[i]))
			return false;
	if (!take_number(&at, &run.least_memory) || *at)
		return false;
	saved->runs[saved->nr++] = run;
	return true;
}

/* A name is a table, a tab, and a row of it. */
static bool take_row(struct bench_saved *saved, const char *at)
{
	struct diff_row row = { .name = NULL }, *added;
	const char *tab;

	if (!saved->nr || !saved->of || !take_number(&at, &row.count) || !take_number(&at, &row.sum) || *at++ != '\t')
		return false;
	tab = strchr(at, '\t');
	if (!tab || tab == at || strchr(tab + 1, '\t'))
		return false;
	row.name = take_text(at);
	added = row.name ? vec_push(saved->rows[saved->nr - 1].rows, saved->rows[saved->nr - 1].nr) : NULL;
	if (!added) {
		free(row.name);
		return false;
	}
	*added = row;
	return true;
}

static bool take_once(char **ret, const char *at)
{
	if (*ret || *at != '\t')
		return false;
	*ret = take_text(at + 1);
	return *ret;
}

/* Returns the rest of the line after the word; NULL: it begins with another one. */
static const char *after(const char *line, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(line, word, len) && (line[len] == '\t' || !line[len]) ? line + len : NULL;
}

static bool take_line(struct bench_saved *saved, const char *line, bool *ended)
{
	const char *at;

	if (*ended)
		return false;
	if ((at = after(line, "row")))
		return take_row(saved, at);
	if ((at = after(line, "run")))
		return take_run(saved, at);
	if ((at = after(line, "command")))
		return take_once(&saved->command, at);
	if ((at = after(line, "kernel")))
		return take_once(&saved->kernel, at);
	if ((at = after(line, "for")))
		return take_once(&saved->of, at);
	*ended = !strcmp(line, "end");
	return *ended;
}

static int take_lines(struct bench_saved *saved, const char *text, size_t len, struct fail *fail)
{
	struct text_word line;
	bool ended = false;
	size_t nr = 0;

	while (text_next_line(&text, &len, &line)) {
		cleanup_free char *copy = strndup(line.at, line.len);
		bool ok = copy && strlen(copy) == line.len;

		nr++;
		ok = ok && (nr == 1 ? !strcmp(copy, first_line) : take_line(saved, copy, &ended));
		if (!ok && nr == 1)
			return fail_set(fail, -EBADMSG, "these are no runs that weft bench --save has saved");
		if (!ok)
			return fail_set(fail, -EBADMSG, "line %zu is wrong", nr);
	}
	return ended && saved->nr && saved->command && saved->kernel ? 0 :
								       fail_set(fail, -EBADMSG, "its end is missing");
}

int bench_load(const char *text, size_t len, struct bench_saved **ret, struct fail *fail)
{
	struct bench_saved *saved = calloc(1, sizeof(*saved));
	int r = saved ? take_lines(saved, text, len, fail) : fail_memory(fail);

	for (size_t i = 0; !r && i < saved->nr; i++)
		r = diff_run_settle(&saved->rows[i], true, fail);
	if (r) {
		bench_saved_free(saved);
		return r;
	}
	*ret = saved;
	return 0;
}

const char *bench_saved_for(const struct bench_saved *saved)
{
	return saved->of;
}

size_t bench_saved_runs(const struct bench_saved *saved)
{
	return saved->nr;
}

const char *bench_saved_kernel(const struct bench_saved *saved)
{
	return saved->kernel;
}

void bench_use(struct bench *bench, const struct bench_saved *saved)
{
	struct bench_side *side = &bench->sides[0];

	side->command = saved->command;
	side->nr = saved->nr;
	memcpy(side->runs, saved->runs, sizeof(side->runs));
	bench->nr_sides = 2;
}

void bench_use_rows(struct bench *bench, struct bench_saved *saved)
{
	struct diff_side *side = &bench->rows->sides[0];

	for (side->nr = 0; side->nr < saved->nr; side->nr++) {
		side->runs[side->nr] = saved->rows[side->nr];
		saved->rows[side->nr] = (struct diff_run){ .nr = 0 };
	}
}

void bench_saved_free(struct bench_saved *saved)
{
	if (!saved)
		return;
	for (size_t i = 0; i < BENCH_RUNS_MAX; i++)
		diff_run_release(&saved->rows[i]);
	free(saved->command);
	free(saved->kernel);
	free(saved->of);
	free(saved);
}
