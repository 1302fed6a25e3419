// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"

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

const char *table_human(enum table_kind kind, uint64_t value, char into[TEXT_HUMAN])
{
	switch (kind) {
	case TABLE_TEXT:
	case TABLE_NUMBER:
		break;
	case TABLE_COUNT:
		return text_count(into, value);
	case TABLE_SIZE:
		return text_size(into, value);
	case TABLE_TIME:
		return text_time(into, value);
	}
	snprintf(into, TEXT_HUMAN, "%" PRIu64, value);
	return into;
}

static void put_number(enum table_kind kind, uint64_t value, struct out *out)
{
	char text[TEXT_HUMAN];

	out_str(out, table_human(kind, value, text));
}

static void put_decimal(enum table_kind kind, int64_t value, unsigned decimals, struct out *out)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, one = 1;
	char text[TEXT_HUMAN];

	for (unsigned i = 0; i < decimals && one < UINT64_MAX / 10; i++)
		one *= 10;
	if (kind != TABLE_COUNT || size / one < 1000) {
		out_decimal(out, value, decimals);
		return;
	}
	out_f(out, "%s%s", value < 0 ? "-" : "", text_count(text, size / one));
	if (decimals)
		out_f(out, ".%0*" PRIu64, (int)decimals, size % one);
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
		put_decimal(column->kind, number, item->decimals, out);
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

/* The bytes of a text that go on a line of `width` columns: whole words, where the first one fits. */
static size_t part_of_text(const char *text, size_t len, size_t width)
{
	size_t fits = utf8_fit(text, len, width), part = fits;

	if (fits == len)
		return len;
	while (part && text[part] != ' ')
		part--;
	if (part)
		return part;
	/* A character that is wider than the line stands on it all the same. */
	part = fits ? fits : utf8_len(text, len);
	return part ? part : 1;
}

/* Prints `blanks` blanks and the cell of a row, on as many lines as it takes; `from` is where its column begins. */
static void print_wrapped(const struct layout *layout, size_t column, size_t blanks, size_t from, struct out *out)
{
	const char *text = layout->text.start;
	size_t len = out_len(&layout->text);

	while (len) {
		size_t part = part_of_text(text, len, layout->widths[column]);

		out_fill(out, ' ', blanks);
		out_mem(out, text, part);
		part += part < len && text[part] == ' ';
		text += part;
		len -= part;
		if (len)
			out_char(out, '\n');
		blanks = from;
	}
}

static void print_row(struct layout *layout, size_t row, struct out *out)
{
	const struct table *table = layout->table;
	size_t blanks = table->indent, from = table->indent;

	for (size_t i = 0; i < table->nr_columns; i++) {
		struct table_item item = table_item_at(table, row, i);

		if (is_hidden(layout, i))
			continue;
		show(layout, &table->columns[i], &item);
		if (table_flagged(table, i, TABLE_WRAP))
			print_wrapped(layout, i, blanks, from, out);
		else
			blanks = print_cell(layout, i, blanks, out);
		from += layout->widths[i] + GAP;
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
	for (size_t row = 0; row < table_rows(table) && !layout.text.failed; row++)
		print_row(&layout, row, out);
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
