// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/measure/hist_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/measure/hist_bar_internal.h"
#include "lib/kernel/measure/hist_text.h"

enum { NAME_SIZE = 64 };

static bool is(struct text_word word, const char *text)
{
	return text_word_is(word, text);
}

static bool is_buckets(const struct hist_column *column)
{
	return column->modifier.len >= 6 && !memcmp(column->modifier.at, "bucket", 6);
}

/* Returns the value that the bars show: the hitcount, or else the first value. */
static size_t bar_value(const struct hist_text *hist)
{
	for (size_t i = 0; i < hist->nr_values; i++)
		if (is(hist->values[i].name, "hitcount"))
			return i;
	return 0;
}

/* How many rows are shown. */
static size_t rows_of(const struct hist_text *hist, const struct hist_shape *shape)
{
	return shape->top < hist->nr ? (size_t)shape->top : hist->nr;
}

/* Returns the length of the bar; 0 for a negative value. */
static uint64_t bar_length(const struct hist_text *hist, const struct hist_row *row, size_t value)
{
	uint64_t length = row->values[value].value;

	return hist->values[value].is_signed && (int64_t)length < 0 ? 0 : length;
}

static uint64_t largest(const struct hist_text *hist, size_t value)
{
	uint64_t max = 0;

	for (size_t i = 0; i < hist->nr; i++)
		if (bar_length(hist, &hist->rows[i], value) > max)
			max = bar_length(hist, &hist->rows[i], value);
	return max;
}

/*
 * Returns a name without what the kernel adds: "bash" of "bash            [       123]", and "vfs_read" of
 * "[ffffffff81000000] vfs_read".
 */
static struct text_word name_of(const struct hist_cell *cell)
{
	struct text_word name = cell->text;
	const char *open = memrchr(name.at, '[', name.len), *close = memchr(name.at, ']', name.len);

	if (open && open > name.at && name.at[name.len - 1] == ']') {
		name.len = (size_t)(open - name.at);
		while (name.len && name.at[name.len - 1] == ' ')
			name.len--;
	} else if (close && open == name.at) {
		name.len -= (size_t)(close + 1 - name.at);
		name.at = close + 1;
		while (name.len && *name.at == ' ') {
			name.at++;
			name.len--;
		}
	}
	return name;
}

static bool has_name(const struct hist_column *column)
{
	return is(column->modifier, "execname") || is(column->modifier, "syscall") || is(column->modifier, "sym") ||
	       is(column->modifier, "sym-offset");
}

static int64_t signed_value(const struct hist_column *column, const struct hist_cell *cell)
{
	return column->is_narrow ? (int32_t)cell->value : (int64_t)cell->value;
}

static void print_number(struct table *table, const struct hist_column *column, const struct hist_cell *cell)
{
	if (column->is_signed && cell->number)
		table_cellf(table, "%" PRId64, signed_value(column, cell));
	else
		table_cellf(table, "%.*s", (int)cell->text.len, cell->text.at);
}

static void print_key(struct table *table, const struct hist_column *column, const struct hist_cell *cell)
{
	uint64_t first, last;

	if (cell->stack) {
		table_cell(table, "stack:");
	} else if (is(column->modifier, "log2")) {
		hist_log2_bounds(cell->value, &first, &last);
		if (first == last)
			table_cellf(table, "%" PRIu64, last);
		else
			table_cellf(table, "%" PRIu64 " - %" PRIu64, first, last);
	} else if (is_buckets(column) && cell->text.len && *cell->text.at == '~') {
		const char *dash = memchr(cell->text.at, '-', cell->text.len);

		table_cellf(table, "%" PRIu64 " - %.*s", cell->value,
			    dash ? (int)(cell->text.at + cell->text.len - dash - 1) : 0, dash ? dash + 1 : "");
	} else if (has_name(column)) {
		struct text_word name = name_of(cell);

		if (is(column->modifier, "execname"))
			table_cellf(table, "%.*s-%" PRIu64, (int)name.len, name.at, cell->value);
		else
			table_cellf(table, "%.*s", (int)name.len, name.at);
	} else {
		print_number(table, column, cell);
	}
}

static void fill_row(struct table *table, const struct hist_text *hist, const struct hist_row *row, size_t shown,
		     uint64_t max, const struct hist_bars *bars)
{
	char bar[HIST_BAR_SIZE];

	for (size_t i = 0; i < hist->nr_keys; i++)
		print_key(table, &hist->keys[i], &row->keys[i]);
	hist_bar(bars, bar_length(hist, row, shown), max, bar);
	print_number(table, &hist->values[shown], &row->values[shown]);
	table_cell(table, bar);
	for (size_t i = 0; i < hist->nr_values; i++)
		if (i != shown)
			print_number(table, &hist->values[i], &row->values[i]);
}

/* Returns whether another one of the columns is of the same field. */
static bool is_one_of_several(const struct hist_column *columns, size_t nr, size_t index)
{
	for (size_t i = 0; i < nr; i++)
		if (i != index && columns[i].name.len == columns[index].name.len &&
		    !memcmp(columns[i].name.at, columns[index].name.at, columns[i].name.len))
			return true;
	return false;
}

static const char *column_name(const struct hist_column *column, bool with_modifier, char into[NAME_SIZE])
{
	bool long_name = with_modifier && column->modifier.len;

	snprintf(into, NAME_SIZE, "%.*s%s%.*s", (int)column->name.len, column->name.at, long_name ? "." : "",
		 long_name ? (int)column->modifier.len : 0, column->modifier.at);
	return into;
}

/* Returns the name of a key: "id", or if several keys are of the same field "id.syscall". */
static const char *key_name(const struct hist_text *hist, size_t index, char into[NAME_SIZE])
{
	return column_name(&hist->keys[index], is_one_of_several(hist->keys, hist->nr_keys, index), into);
}

/* Returns the name of a value. If the value is not the sum, the name says so: "bytes_alloc.p99". */
static const char *value_name(const struct hist_text *hist, size_t index, char into[NAME_SIZE])
{
	const struct hist_column *column = &hist->values[index];
	bool sum = is(column->modifier, "hex") || is(column->modifier, "usecs");

	return column_name(column, !sum || is_one_of_several(hist->values, hist->nr_values, index), into);
}

/* Sets the titles of the columns. The texts are stored in `names`. */
static size_t set_columns(const struct hist_text *hist, const struct hist_title *title, size_t shown,
			  struct table_column columns[TABLE_COLUMNS_MAX], char names[TABLE_COLUMNS_MAX][NAME_SIZE])
{
	size_t nr = 0;

	for (size_t i = 0; i < hist->nr_keys && nr < TABLE_COLUMNS_MAX; i++, nr++) {
		bool lat = title->unit && is(hist->keys[i].name, "lat");
		size_t len = strlen(key_name(hist, i, names[nr]));

		if (lat)
			snprintf(names[nr] + len, NAME_SIZE - len, " %s", title->unit);
		columns[nr] = (struct table_column){ .title = names[nr],
						     .kind = hist->nr && hist->rows[0].keys[i].number ? TABLE_NUMBER :
													TABLE_TEXT };
	}
	for (size_t i = 0; i < hist->nr_values && nr < TABLE_COLUMNS_MAX; i++) {
		size_t value = !i ? shown : i <= shown ? i - 1 : i;

		/* Bars that the kernel has drawn also begin at the left. */
		columns[nr] = (struct table_column){ .title = value_name(hist, value, names[nr]),
						     .kind = is(hist->values[value].modifier, "graph") ? TABLE_TEXT :
													 TABLE_NUMBER };
		nr++;
		if (!i && nr < TABLE_COLUMNS_MAX)
			columns[nr++] = (struct table_column){ .title = "" };
	}
	return nr;
}

static void print_beside(const struct hist_text *hist, const struct hist_row *row, struct out *out)
{
	struct text_word line;

	for (size_t i = 0; i < hist->nr_keys; i++) {
		const char *at = row->keys[i].text.at;
		size_t left = row->keys[i].text.len;

		while (row->keys[i].stack && hist_stack_line(&at, &left, &line)) {
			out_str(out, "    ");
			out_mem(out, line.at, line.len);
			out_char(out, '\n');
		}
	}
	if (row->more.len) {
		out_str(out, "    ");
		out_mem(out, row->more.at, row->more.len);
		out_char(out, '\n');
	}
}

/* Prints the table. What else belongs to a row is printed in the lines below it. */
static void weave(const struct hist_text *hist, size_t rows, const struct out *table, struct out *out)
{
	struct text_word line;
	const char *at = table->start;
	size_t left = out_len(table);

	if (text_next_line(&at, &left, &line)) {
		out_mem(out, line.at, line.len);
		out_char(out, '\n');
	}
	for (size_t i = 0; i < rows && text_next_line(&at, &left, &line); i++) {
		out_mem(out, line.at, line.len);
		out_char(out, '\n');
		print_beside(hist, &hist->rows[i], out);
	}
}

/* Makes the table with bars that fit into the terminal. */
static bool fill_table(const struct hist_text *hist, const struct table_column *columns, size_t nr, size_t shown,
		       const struct hist_shape *shape, struct out *text)
{
	struct hist_bars bars = { .width = HIST_BAR_WIDTH, .room = shape->width, .blocks = shape->blocks };
	uint64_t max = largest(hist, shown);
	bool ok;

	do {
		struct table table;

		out_clear(text);
		table_init(&table, columns, nr);
		for (size_t i = 0; i < rows_of(hist, shape); i++)
			fill_row(&table, hist, &hist->rows[i], shown, max, &bars);
		ok = table_print(&table, text);
		table_release(&table);
	} while (ok && hist_bars_shorten(&bars, text));
	return ok;
}

int hist_table_text(const struct hist_text *hist, const struct hist_title *title, const struct hist_shape *shape,
		    struct out *out, struct fail *fail)
{
	struct table_column columns[TABLE_COLUMNS_MAX];
	char names[TABLE_COLUMNS_MAX][NAME_SIZE], hits[TEXT_HUMAN], rows[TEXT_HUMAN], dropped[TEXT_HUMAN],
		time[TEXT_HUMAN];
	size_t shown = bar_value(hist), nr = set_columns(hist, title, shown, columns, names);
	size_t shown_rows = rows_of(hist, shape), left_out = hist->nr - shown_rows;
	struct out text;
	bool ok;

	if (hist->nr_keys + hist->nr_values + 1 > TABLE_COLUMNS_MAX)
		return fail_set(fail, -EINVAL, "too many keys and values for a table: use --format kernel or json");
	if (!out_init(&text, 4096))
		return fail_memory(fail);
	ok = fill_table(hist, columns, nr, shown, shape, &text);
	if (ok)
		weave(hist, shown_rows, &text, out);
	if (left_out)
		out_f(out, "... and %s more row%s; %s\n", text_count(rows, left_out), text_plural(left_out),
		      shape->for_more);
	out_f(out, "%s: %s hit%s in %s row%s, %s dropped, %s\n", title->what, text_count(hits, hist->hits),
	      text_plural(hist->hits), text_count(rows, hist->entries), text_plural(hist->entries),
	      text_count(dropped, hist->dropped), text_time(time, title->time_ns));
	out_release(&text);
	return ok ? 0 : fail_memory(fail);
}

static void put_word(struct json *json, struct text_word text)
{
	json_put_bytes(json, text.at, text.len);
}

static void put_stack(struct json *json, const struct hist_cell *cell)
{
	const char *at = cell->text.at;
	size_t left = cell->text.len;
	struct text_word line;

	json_array(json);
	while (hist_stack_line(&at, &left, &line))
		put_word(json, line);
	json_end(json);
}

static void put_bounds(struct json *json, uint64_t first, uint64_t last)
{
	json_object(json);
	json_key(json, "from");
	json_put_u64(json, first);
	json_key(json, "to");
	json_put_u64(json, last);
	json_end(json);
}

/* Returns the end of a bucket such as "10-19". */
static uint64_t bucket_end(const struct hist_cell *cell)
{
	const char *dash = memchr(cell->text.at, '-', cell->text.len);
	uint64_t last = cell->value;

	if (dash) {
		dash++;
		dash += strspn(dash, " ");
		number_u64(&dash, &last);
	}
	return last;
}

static void put_value(struct json *json, const struct hist_column *column, const struct hist_cell *cell)
{
	if (column->is_signed)
		json_put_s64(json, signed_value(column, cell));
	else
		json_put_u64(json, cell->value);
}

static void put_key(struct json *json, const struct hist_column *column, const struct hist_cell *cell)
{
	uint64_t first, last;

	if (cell->stack) {
		put_stack(json, cell);
	} else if (is(column->modifier, "log2")) {
		hist_log2_bounds(cell->value, &first, &last);
		put_bounds(json, first, last);
	} else if (is_buckets(column)) {
		put_bounds(json, cell->value, bucket_end(cell));
	} else if (is(column->modifier, "execname") || is(column->modifier, "syscall")) {
		json_object(json);
		json_key(json, "name");
		put_word(json, name_of(cell));
		json_key(json, "value");
		put_value(json, column, cell);
		json_end(json);
	} else if (cell->number && !is(column->modifier, "hex")) {
		put_value(json, column, cell);
	} else {
		put_word(json, has_name(column) ? name_of(cell) : cell->text);
	}
}

static void put_row(struct json *json, const struct hist_text *hist, const struct hist_row *row)
{
	char name[NAME_SIZE];

	json_object(json);
	json_key(json, "keys");
	json_object(json);
	for (size_t i = 0; i < hist->nr_keys; i++) {
		json_key(json, key_name(hist, i, name));
		put_key(json, &hist->keys[i], &row->keys[i]);
	}
	json_end(json);
	json_key(json, "values");
	json_object(json);
	for (size_t i = 0; i < hist->nr_values; i++) {
		json_key(json, value_name(hist, i, name));
		/* Hexadecimal digits are a text, also if they look like a decimal number. */
		if (row->values[i].number && !is(hist->values[i].modifier, "hex"))
			put_value(json, &hist->values[i], &row->values[i]);
		else if (is(row->values[i].text, "-"))
			json_put_null(json);
		else
			put_word(json, row->values[i].text);
	}
	json_end(json);
	json_end(json);
}

static void put_number(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_put_u64(json, value);
}

void hist_table_json(const struct hist_text *hist, const struct hist_title *title, const struct hist_shape *shape,
		     struct json *json)
{
	size_t rows = rows_of(hist, shape);

	json_key(json, "event");
	json_put_text(json, title->what);
	if (title->unit) {
		json_key(json, "unit");
		json_put_text(json, title->unit);
	}
	json_key(json, "trigger");
	put_word(json, hist->trigger);
	put_number(json, "hits", hist->hits);
	put_number(json, "entries", hist->entries);
	put_number(json, "dropped", hist->dropped);
	put_number(json, "time_ns", title->time_ns);
	json_key(json, "rows");
	json_array(json);
	for (size_t i = 0; i < rows; i++)
		put_row(json, hist, &hist->rows[i]);
	json_end(json);
	if (rows == hist->nr)
		return;
	json_key(json, "rows_left_out");
	json_object(json);
	put_number(json, "rows", hist->nr - rows);
	json_end(json);
	json_key(json, "for_more");
	json_put_text(json, shape->for_more);
}
