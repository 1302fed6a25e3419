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

void table_forget(struct table *table, const char *key)
{
	char name[TABLE_KEY_SIZE];

	for (size_t column = 0; column < table->nr_columns; column++) {
		if (strcmp(table_key(&table->columns[column], column, name), key) != 0)
			continue;
		for (size_t i = column; i < table->nr_items; i += table->nr_columns)
			table->failed |= !store_text("-", 1, &table->items[i]);
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
