// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/measure/hist_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/control.h"

enum {
	ROWS_MAX = 1 << 20,
	STACK_INDENT = 8, /* at least so many blanks before a line of a stack */
	BAR_WIDTH = 20,   /* of the modifier graph */
};

void hist_text_release(struct hist_text *hist)
{
	free(hist->rows);
	*hist = (struct hist_text){ .nr = 0 };
}

static struct text_word word_between(const char *from, const char *to)
{
	return (struct text_word){ .at = from, .len = (size_t)(to - from) };
}

static struct text_word trim_end(struct text_word word)
{
	while (word.len && isspace((unsigned char)word.at[word.len - 1]))
		word.len--;
	return word;
}

static struct text_word trim(struct text_word word)
{
	while (word.len && isspace((unsigned char)*word.at)) {
		word.at++;
		word.len--;
	}
	return trim_end(word);
}

static const char *line_end(const char *at, const char *end)
{
	const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

	return newline ? newline : end;
}

static const char *find(const char *at, const char *end, const char *what)
{
	return memmem(at, (size_t)(end - at), what, strlen(what));
}

/* Reads "a,b.log2,c.buckets=10". */
static size_t take_columns(struct text_word list, struct hist_column columns[HIST_COLUMNS_MAX])
{
	const char *at = list.at, *end = at + list.len;
	size_t nr = 0;

	while (at < end && nr < HIST_COLUMNS_MAX) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
		const char *dot = memchr(at, '.', (size_t)(stop - at));

		columns[nr++] = (struct hist_column){
			.name = control_field_name(word_between(at, dot ? dot : stop)),
			.modifier = dot ? word_between(dot + 1, stop) : word_between(stop, stop),
		};
		at = stop + 1;
	}
	return nr;
}

static struct text_word part(struct text_word trigger, const char *name)
{
	const char *end = trigger.at + trigger.len, *at = find(trigger.at, end, name), *stop;

	if (!at)
		return word_between(end, end);
	at += strlen(name);
	stop = memchr(at, ':', (size_t)(end - at));
	if (!stop)
		stop = memchr(at, ' ', (size_t)(end - at));
	return word_between(at, stop ? stop : end);
}

static bool starts(const char *at, const char *end, struct text_word name, const char *behind)
{
	size_t len = strlen(behind);

	return (size_t)(end - at) >= name.len && (size_t)(end - at) - name.len >= len &&
	       !memcmp(at, name.at, name.len) && !memcmp(at + name.len, behind, len);
}

/* Reads a decimal number, or the number in brackets: "bash            [       123]", "[ffffffff81000000] vfs_read". */
static void read_number(struct hist_cell *cell)
{
	struct text_word text = cell->text;
	char digits[24];
	const char *open;

	if (text.len && text.at[text.len - 1] == ']' && (open = memrchr(text.at, '[', text.len)))
		text = trim(word_between(open + 1, text.at + text.len - 1));
	else
		cell->number = true;
	if (!text.len || text.len >= sizeof(digits)) {
		cell->number = false;
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		if (!isdigit((unsigned char)text.at[i])) {
			cell->number = false;
			return;
		}
		digits[i] = text.at[i];
	}
	digits[text.len] = '\0';
	cell->value = strtoull(digits, NULL, 10);
}

/* Takes a key: the kernel pads strings to 50 on the right, numbers to 10 on the left. */
static void fill_key(struct hist_cell *cell, const char *at, const char *end, struct text_word modifier)
{
	enum { STRING_WIDTH = 50 };

	*cell = (struct hist_cell){ .text = end - at >= STRING_WIDTH ? trim_end(word_between(at, end)) :
								       trim(word_between(at, end)) };
	if (modifier.len == 4 && !memcmp(modifier.at, "log2", 4)) {
		const char *power = find(at, end, "2^");

		cell->value = power ? strtoull(power + 2, NULL, 10) : 0;
		return;
	}
	if (modifier.len >= 6 && !memcmp(modifier.at, "bucket", 6)) {
		const char *tilde = memchr(at, '~', (size_t)(end - at));

		cell->value = tilde ? strtoull(tilde + 1, NULL, 10) : 0;
		return;
	}
	read_number(cell);
	if (end - at >= STRING_WIDTH)
		cell->number = false;
}

/* Takes indented lines. Returns what follows them. */
static const char *take_stack(struct hist_cell *cell, const char *at, const char *end)
{
	const char *begin = at;

	while (at < end) {
		const char *stop = line_end(at, end);
		size_t blanks = 0;

		while (at + blanks < stop && at[blanks] == ' ')
			blanks++;
		if (blanks < STACK_INDENT)
			break;
		at = stop < end ? stop + 1 : end;
	}
	*cell = (struct hist_cell){ .text = word_between(begin, at), .stack = true };
	return at;
}

/* Returns the end of a key: before ", NEXT:", or at the brace before the first value. */
static const char *key_end_before(const struct hist_text *hist, size_t index, const char *at, const char *stop)
{
	if (index + 1 < hist->nr_keys) {
		for (const char *comma = at; (comma = find(comma, stop, ", ")); comma++)
			if (starts(comma + 2, stop, hist->keys[index + 1].name, ":") ||
			    starts(comma + 2, stop, hist->keys[index + 1].name, "."))
				return comma;
		return NULL;
	}
	/* After a stack there is no blank before it. */
	for (const char *brace = at, *found; (found = find(brace, stop, "}")); brace = found + 1) {
		const char *value = found + 1;

		/* A row without values ends here. */
		while (value < stop && *value == ' ')
			value++;
		if (value == stop)
			return found;
		if (hist->nr_values && starts(value, stop, hist->values[0].name, ":"))
			return found;
		if (hist->nr_values && starts(value, stop, hist->values[0].name, " (%)"))
			return found;
	}
	return NULL;
}

static const char *key_end(const struct hist_text *hist, size_t index, const char *at, const char *end)
{
	const char *found = key_end_before(hist, index, at, line_end(at, end));

	/* The name of a task may have a newline. */
	return found ? found : key_end_before(hist, index, at, end);
}

/* Takes the keys of a row that begins after "{ ". Returns what follows the closing brace; NULL: this is no row. */
static const char *take_keys(const struct hist_text *hist, struct hist_row *row, const char *at, const char *end)
{
	for (size_t i = 0; i < hist->nr_keys; i++) {
		const char *colon, *stop;

		while (at < end && (*at == ' ' || *at == ','))
			at++;
		/* A stack prints its field with ".stacktrace" and without a colon. */
		stop = line_end(at, end);
		if (stop - at > 10 && (!memcmp(stop - 10, "stacktrace", 10) || !memcmp(stop - 11, "stacktrace:", 11))) {
			at = take_stack(&row->keys[i], stop < end ? stop + 1 : end, end);
			continue;
		}
		colon = memchr(at, ':', (size_t)(stop - at));
		if (!colon)
			return NULL;
		stop = key_end(hist, i, colon + 1, end);
		if (!stop)
			return NULL;
		fill_key(&row->keys[i], colon + 1 + (colon + 1 < stop && colon[1] == ' '), stop,
			 hist->keys[i].modifier);
		at = stop;
	}
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '}' ? at + 1 : NULL;
}

/* Takes " hitcount:         12  bytes_req:        240": any number of NAME: VALUE. */
static void take_values(const struct hist_text *hist, struct hist_row *row, const char *at, const char *end)
{
	for (size_t i = 0; i < hist->nr_values && at < end; i++) {
		const char *colon = memchr(at, ':', (size_t)(end - at)), *stop;

		if (!colon)
			return;
		at = colon + 1;
		while (at < end && *at == ' ' && !text_word_is(hist->values[i].modifier, "graph"))
			at++;
		stop = at;
		while (stop < end && *stop != ' ')
			stop++;
		/* A bar is padded to its width. */
		if (text_word_is(hist->values[i].modifier, "graph"))
			stop = end - at > BAR_WIDTH ? at + 1 + BAR_WIDTH : end;
		row->values[i] = (struct hist_cell){ .text = trim(word_between(at, stop)) };
		read_number(&row->values[i]);
		at = stop;
	}
}

static int add_row(struct hist_text *hist, const struct hist_row *row, struct fail *fail)
{
	struct hist_row *added = vec_push(hist->rows, hist->nr);

	if (!added)
		return fail_memory(fail);
	*added = *row;
	return 0;
}

static int take_rows(struct hist_text *hist, const char *at, const char *end, struct fail *fail)
{
	int err = 0;

	while (!err && at < end && hist->nr < ROWS_MAX) {
		struct hist_row row = { .more = { .len = 0 } };
		const char *stop = line_end(at, end), *behind = NULL, *next;

		if (stop - at >= 2 && at[0] == '{' && at[1] == ' ') {
			next = find(at, end, "\n{ ");
			behind = take_keys(hist, &row, at + 2, next ? next + 1 : end);
		}
		if (!behind) {
			at = stop + 1;
			continue;
		}
		stop = line_end(behind, end);
		take_values(hist, &row, behind, stop);
		at = stop < end ? stop + 1 : end;
		/* Lines that an action adds to a row begin with a tab. */
		row.more.at = at;
		while (at < end && *at == '\t') {
			stop = line_end(at, end);
			at = stop < end ? stop + 1 : end;
		}
		row.more = trim(word_between(row.more.at, at));
		err = add_row(hist, &row, fail);
	}
	return err;
}

static uint64_t total(const char *at, const char *end, const char *name)
{
	const char *found = find(at, end, name);

	return found ? strtoull(found + strlen(name), NULL, 10) : 0;
}

int hist_text_next(const char **at, struct hist_text *ret, struct fail *fail)
{
	static const char title[] = "# trigger info: ", totals[] = "\nTotals:\n";
	const char *begin = strstr(*at, title), *end, *sums, *rows;
	struct hist_text hist = { .nr = 0 };
	int err;

	if (!begin)
		return 0;
	begin += strlen(title);
	rows = begin + strcspn(begin, "\n");
	hist.trigger = word_between(begin, rows);
	end = strstr(rows, title);
	if (!end)
		end = rows + strlen(rows);
	sums = find(rows, end, totals);
	hist.nr_keys = take_columns(part(hist.trigger, "keys="), hist.keys);
	hist.nr_values = take_columns(part(hist.trigger, "vals="), hist.values);
	err = take_rows(&hist, rows, sums ? sums : end, fail);
	if (err) {
		hist_text_release(&hist);
		return err;
	}
	if (sums) {
		hist.hits = total(sums, end, "Hits: ");
		hist.entries = total(sums, end, "Entries: ");
		hist.dropped = total(sums, end, "Dropped: ");
	}
	*at = end;
	*ret = hist;
	return 1;
}

bool hist_stack_line(const char **at, size_t *left, struct text_word *ret)
{
	while (text_next_line(at, left, ret)) {
		*ret = trim(*ret);
		if (ret->len)
			return true;
	}
	return false;
}

void hist_log2_bounds(uint64_t power, uint64_t *ret_first, uint64_t *ret_last)
{
	/* The kernel counts 0 with 1, and has no power for what is beyond 2^63. */
	if (power > 64)
		power = 64;
	*ret_last = power < 64 ? (uint64_t)1 << power : UINT64_MAX;
	*ret_first = power ? ((uint64_t)1 << (power - 1)) + 1 : 0;
}
