// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/ground/base/vec.h"

/* Writes the table for programs: as JSON and CSV. */

const char *table_key(const struct table_column *column, size_t index, char into[TABLE_KEY_SIZE])
{
	const char *unit = column->kind == TABLE_SIZE ? "_bytes" : column->kind == TABLE_TIME ? "_ns" : "";
	size_t len = 0;

	if (column->key)
		return column->key;
	if (!*column->title) {
		snprintf(into, TABLE_KEY_SIZE, "column%zu%s", index + 1, unit);
		return into;
	}
	for (const char *at = column->title; *at && len < TABLE_KEY_SIZE - sizeof("_bytes"); at++)
		into[len++] = (char)(isalnum((unsigned char)*at) ? tolower((unsigned char)*at) : '_');
	memcpy(into + len, unit, strlen(unit) + 1);
	return into;
}

const char *table_title(const struct table_column *column, char into[TABLE_KEY_SIZE])
{
	size_t len = 0;

	for (; len < TABLE_KEY_SIZE - 1 && column->title[len]; len++)
		into[len] = (char)tolower((unsigned char)column->title[len]);
	into[len] = '\0';
	return into;
}

/* The cell has no number where one is expected. */
bool table_is_nothing(const struct table_column *column, const struct table_item *item)
{
	return item->value == VALUE_NOTHING ||
	       (column->kind != TABLE_TEXT && item->value == VALUE_TEXT && (!item->len || !strcmp(item->text, "-")));
}

static bool is_for_text(const struct table *table, size_t column)
{
	return table_flagged(table, column, TABLE_TEXT_ONLY);
}

static void put_value(const struct table_column *column, const struct table_item *item, struct json *json)
{
	if (table_is_nothing(column, item)) {
		json_put_null(json);
		return;
	}
	switch (item->value) {
	case VALUE_TEXT:
		json_put_bytes(json, item->text, item->len);
		break;
	case VALUE_U64:
		json_put_u64(json, item->number);
		break;
	case VALUE_S64:
		json_put_s64(json, (int64_t)item->number);
		break;
	case VALUE_DECIMAL:
		json_put_decimal(json, (int64_t)item->number, item->decimals);
		break;
	case VALUE_MOMENT:
		json_put_decimal_u64(json, item->number, item->decimals);
		break;
	case VALUE_NOTHING:
		break;
	}
}

bool table_put_json(const struct table *table, struct json *json)
{
	char text[TABLE_KEY_SIZE];

	if (table->failed)
		return false;
	json_array(json);
	for (size_t row = 0; row < table_rows(table); row++) {
		/* Each row is a line of its own, so that people and diff can read it. */
		if (row)
			json_break(json);
		json_object(json);
		for (size_t i = 0; i < table->nr_columns; i++) {
			struct table_item item = table_item_at(table, row, i);

			if (is_for_text(table, i))
				continue;
			json_key(json, table_key(&table->columns[i], i, text));
			put_value(&table->columns[i], &item, json);
		}
		json_end(json);
	}
	json_end(json);
	return !json->failed;
}

static void put_field(const char *text, size_t len, struct out *out)
{
	const char *end = text + len;

	if (!memchr(text, ',', len) && !memchr(text, '"', len) && !memchr(text, '\n', len) &&
	    !memchr(text, '\r', len)) {
		out_mem(out, text, len);
		return;
	}
	out_char(out, '"');
	while (text < end) {
		const char *quote = memchr(text, '"', (size_t)(end - text)), *to = quote ? quote + 1 : end;

		out_mem(out, text, (size_t)(to - text));
		if (quote)
			out_char(out, '"');
		text = to;
	}
	out_char(out, '"');
}

static void put_item(const struct table_column *column, const struct table_item *item, struct out *out)
{
	if (table_is_nothing(column, item))
		return;
	switch (item->value) {
	case VALUE_TEXT:
		put_field(item->text, item->len, out);
		break;
	case VALUE_U64:
		out_u64(out, item->number);
		break;
	case VALUE_S64:
		out_s64(out, (int64_t)item->number);
		break;
	case VALUE_DECIMAL:
		out_decimal(out, (int64_t)item->number, item->decimals);
		break;
	case VALUE_MOMENT:
		out_decimal_u64(out, item->number, item->decimals);
		break;
	case VALUE_NOTHING:
		break;
	}
}

void table_put_cell(const struct table *table, size_t row, size_t column, struct out *out)
{
	struct table_item item = table_item_at(table, row, column);

	put_item(&table->columns[column], &item, out);
}

static void put_keys(const struct table *table, const char *before, struct out *out)
{
	char text[TABLE_KEY_SIZE];
	const char *between = *before ? "," : "";

	out_str(out, before);
	for (size_t i = 0; i < table->nr_columns; i++) {
		const char *key = table_key(&table->columns[i], i, text);

		if (is_for_text(table, i))
			continue;
		out_str(out, between);
		put_field(key, strlen(key), out);
		between = ",";
	}
	out_char(out, '\n');
}

bool table_put_csv_behind(const struct table *table, const char *keys, const char *values, struct out *out)
{
	if (table->failed)
		return false;
	if (keys)
		put_keys(table, keys, out);
	for (size_t row = 0; row < table_rows(table); row++) {
		const char *between = *values ? "," : "";

		out_str(out, values);
		for (size_t i = 0; i < table->nr_columns; i++) {
			if (is_for_text(table, i))
				continue;
			out_str(out, between);
			table_put_cell(table, row, i, out);
			between = ",";
		}
		out_char(out, '\n');
	}
	return true;
}

bool table_put_csv(const struct table *table, struct out *out)
{
	return table_put_csv_behind(table, "", "", out);
}

/* The table for people: aligned columns that fit the terminal. */

enum { GAP = 2, NARROWEST = 8 };

static const char cut_mark[] = "...";

struct layout {
	const struct table *table;
	struct out text; /* the text of one cell at a time */
	size_t widths[TABLE_COLUMNS_MAX];
	size_t least[TABLE_COLUMNS_MAX]; /* a column of texts gets no narrower: its title stays whole */
	uint32_t middles;                /* a bit for each column whose texts are cut in the middle */
	uint32_t hidden;                 /* a bit for each hidden column */
	bool titled;
};

static bool is_hidden(const struct layout *layout, size_t column)
{
	return column < 32 && layout->hidden >> column & 1;
}

static bool is_right(const struct layout *layout, size_t column)
{
	return layout->table->columns[column].kind != TABLE_TEXT;
}

/* Appends a text as one line: control characters become octal. */
static void put_plain(const char *text, size_t len, struct out *out)
{
	const char *end = text + len;

	for (const char *plain = text;; text++) {
		if (text < end && (unsigned char)*text >= ' ' && *text != 0x7f)
			continue;
		out_mem(out, plain, (size_t)(text - plain));
		if (text == end)
			return;
		out_f(out, "\\%03o", (unsigned char)*text);
		plain = text + 1;
	}
}

static void put_number(enum table_kind kind, uint64_t value, struct out *out)
{
	char text[TEXT_HUMAN];

	switch (kind) {
	case TABLE_TEXT:
	case TABLE_NUMBER:
		out_u64(out, value);
		break;
	case TABLE_COUNT:
		out_str(out, text_count(text, value));
		break;
	case TABLE_SIZE:
		out_str(out, text_size(text, value));
		break;
	case TABLE_TIME:
		out_str(out, text_time(text, value));
		break;
	}
}

/* Renders the text of a cell. */
static void show(struct layout *layout, const struct table_column *column, const struct table_item *item)
{
	struct out *out = &layout->text;
	int64_t number = (int64_t)item->number;

	out_clear(out);
	switch (item->value) {
	case VALUE_TEXT:
		put_plain(item->text, item->len, out);
		break;
	case VALUE_U64:
		put_number(column->kind, item->number, out);
		break;
	case VALUE_S64:
		if (number < 0)
			out_char(out, '-');
		put_number(column->kind, number < 0 ? 0 - item->number : item->number, out);
		break;
	case VALUE_DECIMAL:
		out_decimal(out, number, item->decimals);
		break;
	case VALUE_MOMENT:
		out_decimal_u64(out, item->number, item->decimals);
		break;
	case VALUE_NOTHING:
		break;
	}
}

static void measure(struct layout *layout)
{
	const struct table *table = layout->table;

	for (size_t i = 0; i < table->nr_columns; i++) {
		const char *title = table->columns[i].title;

		layout->widths[i] = utf8_columns(title, strlen(title));
		layout->least[i] = layout->widths[i] > NARROWEST ? layout->widths[i] : NARROWEST;
		layout->titled |= *title != '\0';
	}
	for (size_t row = 0; row < table_rows(table); row++) {
		for (size_t i = 0; i < table->nr_columns; i++) {
			struct table_item item = table_item_at(table, row, i);
			size_t width;

			show(layout, &table->columns[i], &item);
			width = utf8_columns(layout->text.start, out_len(&layout->text));
			if (width > layout->widths[i])
				layout->widths[i] = width;
		}
	}
}

/*
 * Finds the widest column of texts that may be narrower, and the width of the next narrower one; false: there is none.
 */
static bool widest(const struct layout *layout, size_t *ret, size_t *ret_next)
{
	size_t first = NARROWEST, next = NARROWEST;
	bool found = false;

	for (size_t i = 0; i < layout->table->nr_columns; i++) {
		size_t width = layout->widths[i];

		if (is_hidden(layout, i) || is_right(layout, i) || width <= layout->least[i])
			continue;
		if (!found || width > first) {
			next = found ? first : NARROWEST;
			first = width;
			*ret = i;
		} else if (width > next) {
			next = width;
		}
		found = true;
	}
	*ret_next = found && layout->least[*ret] > next ? layout->least[*ret] : next;
	return found;
}

/* Hides columns from the right, but not the first one and none of `kept`, until the lines fit. */
static void hide_more(struct layout *layout, bool numbers, uint32_t kept, size_t *total)
{
	const struct table *table = layout->table;

	for (size_t i = table->nr_columns; table->width && *total > table->width && i-- > 1;) {
		if (is_hidden(layout, i) || is_right(layout, i) != numbers || table_flagged(table, i, kept))
			continue;
		*total -= layout->widths[i] + GAP;
		layout->hidden |= (uint32_t)1 << i;
	}
}

/* Gives columns of texts the room that hidden columns have left. */
static void widen(struct layout *layout, const size_t *wanted, size_t total)
{
	const struct table *table = layout->table;

	for (size_t i = 0; i < table->nr_columns && total < table->width; i++) {
		size_t room = table->width - total, more = wanted[i] - layout->widths[i];

		if (is_hidden(layout, i))
			continue;
		more = more < room ? more : room;
		layout->widths[i] += more;
		total += more;
	}
}

/* Shrinks the widest columns of texts until the lines fit, or none may be narrower. */
static void shrink(struct layout *layout, size_t *total)
{
	size_t width = layout->table->width, column = 0, next = 0;

	while (width && *total > width && widest(layout, &column, &next)) {
		size_t excess = *total - width, most = layout->widths[column] - next, less;

		/* Columns of equal width shrink by one character in turn. */
		most = most ? most : 1;
		less = excess < most ? excess : most;
		layout->widths[column] -= less;
		*total -= less;
	}
}

/* Columns that are to be kept are not shrunk as long as numbers can go. */
static void keep(struct layout *layout, size_t *total)
{
	const struct table *table = layout->table;
	size_t least[TABLE_COLUMNS_MAX];
	bool some = false;

	memcpy(least, layout->least, sizeof(least));
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (!table_flagged(table, i, TABLE_KEEP) || is_hidden(layout, i))
			continue;
		layout->least[i] = layout->widths[i];
		some = true;
	}
	if (some) {
		shrink(layout, total);
		hide_more(layout, true, TABLE_KEEP, total);
	}
	memcpy(layout->least, least, sizeof(least));
}

/* Makes the lines fit: what may be left out goes first, then texts are cut. */
static void fit(struct layout *layout)
{
	const struct table *table = layout->table;
	size_t total = table->indent, wanted[TABLE_COLUMNS_MAX];

	memcpy(wanted, layout->widths, sizeof(wanted));

	for (size_t i = 0; i < table->nr_columns; i++)
		total += is_hidden(layout, i) ? 0 : layout->widths[i] + (i ? GAP : 0);
	for (size_t i = table->nr_columns; table->width && total > table->width && i-- > 0;) {
		if (!table_flagged(table, i, TABLE_SPARE) || is_hidden(layout, i))
			continue;
		total -= layout->widths[i] + (i ? GAP : 0);
		layout->hidden |= (uint32_t)1 << i;
	}
	keep(layout, &total);
	shrink(layout, &total);
	/* Numbers go first: what is left of the row shows what it is about. */
	hide_more(layout, true, 0, &total);
	hide_more(layout, false, 0, &total);
	widen(layout, wanted, total);
}

static bool is_cut(const struct layout *layout, size_t column, const struct table_item *item)
{
	return item->value == VALUE_TEXT && utf8_columns(item->text, item->len) > layout->widths[column];
}

/* Whether two different texts look alike when their ends are cut. */
static bool looks_alike(const struct layout *layout, size_t column, const struct table_item *a,
			const struct table_item *b)
{
	size_t kept = layout->widths[column] - (sizeof(cut_mark) - 1);
	size_t len = utf8_fit(a->text, a->len, kept);

	return len == utf8_fit(b->text, b->len, kept) && !memcmp(a->text, b->text, len) &&
	       (a->len != b->len || memcmp(a->text, b->text, a->len));
}

/* Chooses the columns whose texts are cut in the middle, because their ends tell them apart. */
static void choose_middles(struct layout *layout)
{
	enum { ROWS_COMPARED = 256 };
	const struct table *table = layout->table;
	size_t rows = table_rows(table) < ROWS_COMPARED ? table_rows(table) : ROWS_COMPARED;

	for (size_t i = 0; i < table->nr_columns; i++) {
		for (size_t row = 0; row < rows && !is_hidden(layout, i) && !is_right(layout, i); row++) {
			struct table_item item = table_item_at(table, row, i);

			for (size_t before = 0; before < row && is_cut(layout, i, &item); before++) {
				struct table_item other = table_item_at(table, before, i);

				if (is_cut(layout, i, &other) && looks_alike(layout, i, &item, &other))
					layout->middles |= (uint32_t)1 << i;
			}
		}
	}
}

/* Returns the terminal columns used; a text that is wider than its column is cut. */
static size_t put_cell(const char *text, size_t len, size_t width, bool middle, struct out *out)
{
	size_t columns = utf8_columns(text, len), kept, end = 0, from;

	if (columns <= width) {
		out_mem(out, text, len);
		return columns;
	}
	if (middle)
		end = (width - (sizeof(cut_mark) - 1)) / 2;
	kept = utf8_fit(text, len, width - (sizeof(cut_mark) - 1) - end);
	from = middle ? kept : len;
	/* The end begins where as many columns are left. */
	for (columns -= utf8_columns(text, kept); middle && columns > end;) {
		size_t step = utf8_len(text + from, len - from);

		step = step ? step : 1;
		columns -= utf8_columns(text + from, step);
		from += step;
	}
	out_mem(out, text, kept);
	out_str(out, cut_mark);
	out_mem(out, text + from, len - from);
	return utf8_columns(text, kept) + sizeof(cut_mark) - 1 + utf8_columns(text + from, len - from);
}

/* Prints `blanks` blanks and a cell; returns the number of blanks to print before the next cell. */
static size_t print_cell(const struct layout *layout, size_t column, size_t blanks, struct out *out)
{
	size_t len = out_len(&layout->text), width = layout->widths[column], columns, taken;

	if (!len)
		return blanks + width + GAP;
	columns = utf8_columns(layout->text.start, len);
	if (is_right(layout, column) && columns < width)
		blanks += width - columns;
	out_fill(out, ' ', blanks);
	taken = put_cell(layout->text.start, len, width, layout->middles >> column & 1, out);
	return (is_right(layout, column) || taken > width ? 0 : width - taken) + GAP;
}

static void print_titles(struct layout *layout, struct out *out)
{
	size_t blanks = layout->table->indent;

	for (size_t i = 0; i < layout->table->nr_columns; i++) {
		if (is_hidden(layout, i))
			continue;
		out_clear(&layout->text);
		out_str(&layout->text, layout->table->columns[i].title);
		blanks = print_cell(layout, i, blanks, out);
	}
	out_char(out, '\n');
}

bool table_print_fitting(const struct table *table, struct out *out, uint32_t *ret_left_out)
{
	struct layout layout = { .table = table };
	uint32_t data_only = 0;
	bool ok;

	if (table->failed || !out_init(&layout.text, 0))
		return false;
	for (size_t i = 0; i < table->nr_columns && i < 32; i++)
		data_only |= table_flagged(table, i, TABLE_DATA_ONLY) ? (uint32_t)1 << i : 0;
	layout.hidden = data_only;
	measure(&layout);
	fit(&layout);
	choose_middles(&layout);
	if (layout.titled && !layout.text.failed)
		print_titles(&layout, out);
	for (size_t row = 0; row < table_rows(table) && !layout.text.failed; row++) {
		size_t blanks = table->indent;

		for (size_t i = 0; i < table->nr_columns; i++) {
			struct table_item item = table_item_at(table, row, i);

			if (is_hidden(&layout, i))
				continue;
			show(&layout, &table->columns[i], &item);
			blanks = print_cell(&layout, i, blanks, out);
		}
		out_char(out, '\n');
	}
	ok = !layout.text.failed;
	out_release(&layout.text);
	*ret_left_out = layout.hidden & ~data_only;
	return ok;
}

bool table_print(const struct table *table, struct out *out)
{
	uint32_t left_out;

	return table_print_fitting(table, out, &left_out);
}

int table_column_named(const struct table *table, const char *name)
{
	char text[TABLE_KEY_SIZE];

	for (size_t i = 0; i < table->nr_columns; i++)
		if (!strcasecmp(table->columns[i].title, name) ||
		    !strcasecmp(table_key(&table->columns[i], i, text), name))
			return (int)i;
	return -1;
}

struct row {
	struct table_item item; /* the cell in the sorted column */
	size_t index;
	bool nothing, text;
};

static bool is_negative(const struct table_item *item)
{
	return (item->value == VALUE_S64 || item->value == VALUE_DECIMAL) && (int64_t)item->number < 0;
}

static int compare_numbers(const struct row *a, const struct row *b)
{
	if (is_negative(&a->item) || is_negative(&b->item))
		return (int64_t)a->item.number < (int64_t)b->item.number ? 1 :
		       (int64_t)a->item.number > (int64_t)b->item.number ? -1 :
									   0;
	return a->item.number < b->item.number ? 1 : a->item.number > b->item.number ? -1 : 0;
}

static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int r;

	if (a->nothing != b->nothing)
		return a->nothing ? 1 : -1;
	if (a->text || b->text)
		r = a->text && b->text ? strcmp(a->item.text, b->item.text) : a->text - b->text;
	else
		r = compare_numbers(a, b);
	return r ? r : a->index < b->index ? -1 : 1;
}

bool table_sort(struct table *table, size_t column)
{
	size_t nr_rows = table_rows(table), width = table->nr_columns;
	cleanup_free struct row *rows = calloc(nr_rows + 1, sizeof(*rows));
	cleanup_free struct table_stored *before = calloc(table->nr_items + 1, sizeof(*before));
	cleanup_free size_t *now = calloc(nr_rows + 1, sizeof(*now)); /* by the former index of a row: the new one */

	if (!rows || !before || !now || nr_rows * width != table->nr_items)
		return false;
	for (size_t i = 0; i < nr_rows; i++) {
		struct table_item item = table_item_at(table, i, column);

		rows[i] = (struct row){ item, i, table_is_nothing(&table->columns[column], &item),
					item.value == VALUE_TEXT };
	}
	qsort(rows, nr_rows, sizeof(*rows), compare);
	if (nr_rows)
		memcpy(before, table->items, table->nr_items * sizeof(*before));
	for (size_t i = 0; i < nr_rows; i++) {
		memcpy(table->items + i * width, before + rows[i].index * width, width * sizeof(*before));
		now[rows[i].index] = i;
	}
	/* Samples go with their rows. Those of a table without rows belong to none. */
	for (size_t i = 0; i < table->nr_attached; i++)
		if (table->attached[i].row < nr_rows)
			table->attached[i].row = now[table->attached[i].row];
	return true;
}

bool table_sort_by(struct table *table, const char *name)
{
	return table_sort(table, (size_t)table_column_named(table, name));
}

size_t table_keep(struct table *table, size_t rows)
{
	size_t nr_rows = table_rows(table);

	if (nr_rows <= rows)
		return 0;
	while (table->nr_items > rows * table->nr_columns)
		table_stored_release(&table->items[--table->nr_items]);
	return nr_rows - rows;
}

void table_init(struct table *table, const struct table_column *columns, size_t nr_columns)
{
	*table = (struct table){ .columns = columns,
				 .nr_columns = nr_columns < TABLE_COLUMNS_MAX ? nr_columns : TABLE_COLUMNS_MAX };
}

enum { NEAR_LENGTH = sizeof(char *) };
_Static_assert(sizeof(struct table_stored) == 16, "a cell has no gaps");
_Static_assert(NEAR_LENGTH + sizeof(uint32_t) <= TABLE_NEAR, "the address and the length of a text fit");

/* The text of a cell that holds one, and its length. */
static const char *stored_text(const struct table_stored *stored, size_t *ret_len)
{
	const char *text;
	uint32_t len;

	if (stored->near) {
		*ret_len = stored->near - 1u;
		return stored->bytes;
	}
	memcpy(&text, stored->bytes, sizeof(text));
	memcpy(&len, stored->bytes + NEAR_LENGTH, sizeof(len));
	*ret_len = len;
	return text;
}

void table_stored_release(struct table_stored *stored)
{
	char *text;

	if (stored->value != VALUE_TEXT || stored->near)
		return;
	memcpy(&text, stored->bytes, sizeof(text));
	free(text);
}

void table_detach(struct table *table)
{
	for (size_t i = 0; i < table->nr_attached; i++) {
		free(table->attached[i].name);
		free(table->attached[i].part);
	}
	free(table->attached);
	table->attached = NULL;
	table->nr_attached = 0;
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_items; i++)
		table_stored_release(&table->items[i]);
	free(table->items);
	table->items = NULL;
	table->nr_items = 0;
	table_detach(table);
}

static void add(struct table *table, struct table_stored *stored)
{
	struct table_stored *added = vec_push(table->items, table->nr_items);

	if (added)
		*added = *stored;
	else
		table_stored_release(stored);
	table->failed |= !added;
}

static void add_number(struct table *table, enum table_value value, uint64_t number, unsigned decimals)
{
	struct table_stored stored = { .value = value & 7u, .decimals = decimals & 31u };

	memcpy(stored.bytes, &number, sizeof(number));
	add(table, &stored);
}

void table_cell(struct table *table, const char *text)
{
	table_cell_mem(table, text, strlen(text));
}

/* False: no memory. */
static bool store_text(const void *text, size_t len, struct table_stored *ret)
{
	uint32_t len32 = (uint32_t)len;
	char *copy;

	*ret = (struct table_stored){ .value = VALUE_TEXT };
	if (len < TABLE_NEAR) {
		memcpy(ret->bytes, text, len);
		ret->near = (uint8_t)(len + 1);
		return true;
	}
	copy = len < UINT32_MAX ? malloc(len + 1) : NULL;
	if (!copy)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	memcpy(ret->bytes, &copy, sizeof(copy));
	memcpy(ret->bytes + NEAR_LENGTH, &len32, sizeof(len32));
	return true;
}

void table_cell_mem(struct table *table, const void *text, size_t len)
{
	struct table_stored stored;

	if (store_text(text, len, &stored))
		add(table, &stored);
	else
		table->failed = true;
}

void table_moments(struct table *table, int (*text)(const void *arg, uint64_t ns, char into[TABLE_MOMENT_TEXT]),
		   const void *arg)
{
	for (size_t i = 0; i < table->nr_items; i++) {
		char into[TABLE_MOMENT_TEXT];
		uint64_t ns;

		if (table->items[i].value != VALUE_MOMENT)
			continue;
		memcpy(&ns, table->items[i].bytes, sizeof(ns));
		table->failed |= !store_text(into, (size_t)text(arg, ns, into), &table->items[i]);
	}
}

void table_cellf(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	table->failed |= len < 0;
	if (len < 0)
		return;
	table_cell_mem(table, text, (size_t)len);
	free(text);
}

void table_cell_nothing(struct table *table)
{
	add_number(table, VALUE_NOTHING, 0, 0);
}

void table_cell_u64(struct table *table, uint64_t value)
{
	add_number(table, VALUE_U64, value, 0);
}

void table_cell_s64(struct table *table, int64_t value)
{
	add_number(table, VALUE_S64, (uint64_t)value, 0);
}

void table_cell_known(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_cell_u64(table, value);
	else
		table_cell(table, "-");
}

void table_cell_known_s64(struct table *table, bool known, int64_t value)
{
	if (known)
		table_cell_s64(table, value);
	else
		table_cell(table, "-");
}

void table_cell_decimal(struct table *table, int64_t value, unsigned decimals)
{
	add_number(table, VALUE_DECIMAL, (uint64_t)value, decimals);
}

void table_cell_moment(struct table *table, uint64_t ns)
{
	add_number(table, VALUE_MOMENT, ns, MOMENT_DECIMALS);
}

void table_cell_when(struct table *table, uint64_t ns)
{
	if (ns)
		table_cell_moment(table, ns);
	else
		table_cell(table, "-");
}

void table_cell_ratio(struct table *table, uint64_t part, uint64_t times, uint64_t whole, unsigned decimals)
{
	if (!whole) {
		table_cell(table, "-");
		return;
	}
	for (unsigned i = 0; i < decimals; i++)
		times *= 10;
	table_cell_decimal(table, (int64_t)scale_round_mul_div(part, times, whole), decimals);
}

static char *copy_of(struct table *table, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	table->failed |= text && !copy;
	return copy;
}

static void attach(struct table *table, const struct samples *samples, const char *name, const char *part,
		   uint32_t columns)
{
	struct table_attached *added = vec_push(table->attached, table->nr_attached);

	table->failed |= !added;
	if (!added)
		return;
	added->row = table->nr_columns ? table->nr_items / table->nr_columns : 0;
	added->samples = *samples;
	added->name = copy_of(table, name);
	added->part = copy_of(table, part);
	added->columns = columns;
}

void table_attach_part(struct table *table, const struct samples *samples, const char *name, const char *part)
{
	attach(table, samples, name, part, 0);
}

void table_attach_columns(struct table *table, const struct samples *samples, uint32_t flag, const char *part)
{
	attach(table, samples, NULL, part, flag);
}

void table_attach(struct table *table, const struct samples *samples)
{
	table_attach_part(table, samples, NULL, NULL);
}

size_t table_rows(const struct table *table)
{
	return table->nr_columns ? (table->nr_items + table->nr_columns - 1) / table->nr_columns : 0;
}

static struct table_item item_of(const struct table_stored *stored)
{
	struct table_item item = { .value = stored->value, .decimals = stored->decimals };

	if (item.value == VALUE_TEXT)
		item.text = stored_text(stored, &item.len);
	else
		memcpy(&item.number, stored->bytes, sizeof(item.number));
	return item;
}

struct table_item table_item_at(const struct table *table, size_t row, size_t column)
{
	size_t index = row * table->nr_columns + column;

	return index < table->nr_items ? item_of(&table->items[index]) : (struct table_item){ .text = "" };
}

const char *table_text_at(const struct table *table, size_t row, size_t column)
{
	size_t index = row * table->nr_columns + column;

	return index < table->nr_items ? item_of(&table->items[index]).text : NULL;
}

bool table_number_at(const struct table *table, size_t row, size_t column, uint64_t *ret)
{
	struct table_item item = table_item_at(table, row, column);

	*ret = item.number;
	return item.value == VALUE_U64 || (item.value == VALUE_S64 && (int64_t)item.number >= 0);
}

uint64_t table_number_of(const struct table *table, size_t row, const char *name)
{
	int column = table_column_named(table, name);
	uint64_t number;

	return column >= 0 && table_number_at(table, row, (size_t)column, &number) ? number : 0;
}

const char *table_text_of(const struct table *table, size_t row, const char *name)
{
	int column = table_column_named(table, name);
	const char *text = column >= 0 ? table_text_at(table, row, (size_t)column) : NULL;

	return text ? text : "";
}

void table_cell_of(struct table *table, const struct table *from, size_t row, size_t column)
{
	struct table_item item = table_item_at(from, row, column);

	if (item.value == VALUE_TEXT)
		table_cell_mem(table, item.text, item.len);
	else
		add_number(table, item.value, item.number, item.decimals);
}

bool table_write(const struct table *table, enum table_format format, struct out *out)
{
	struct json json;
	bool ok;

	switch (format) {
	case TABLE_AS_TEXT:
		return table_print(table, out);
	case TABLE_AS_CSV:
		return table_put_csv(table, out);
	case TABLE_AS_JSON:
	case TABLE_AS_SCHEMA: /* of findings: lib/answers/frame/findings.h */
		break;
	}
	json_init(&json, out);
	ok = table_put_json(table, &json);
	json_line(&json);
	return ok;
}
