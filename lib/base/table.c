// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/table.h"

#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/base/scale.h"
#include "lib/base/table_item.h"
#include "lib/base/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_items; i++)
		table_stored_release(&table->items[i]);
	free(table->items);
	for (size_t i = 0; i < table->nr_attached; i++) {
		free(table->attached[i].name);
		free(table->attached[i].part);
	}
	free(table->attached);
	table->items = NULL;
	table->attached = NULL;
	table->nr_items = table->nr_attached = 0;
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

void table_cell_mem(struct table *table, const void *text, size_t len)
{
	struct table_stored stored = { .value = VALUE_TEXT };
	uint32_t len32 = (uint32_t)len;
	char *copy;

	if (len < TABLE_NEAR) {
		memcpy(stored.bytes, text, len);
		stored.near = (uint8_t)(len + 1);
		add(table, &stored);
		return;
	}
	copy = len < UINT32_MAX ? malloc(len + 1) : NULL;
	table->failed |= !copy;
	if (!copy)
		return;
	memcpy(copy, text, len);
	copy[len] = '\0';
	memcpy(stored.bytes, &copy, sizeof(copy));
	memcpy(stored.bytes + NEAR_LENGTH, &len32, sizeof(len32));
	add(table, &stored);
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

void table_cell_decimal(struct table *table, int64_t value, unsigned decimals)
{
	add_number(table, VALUE_DECIMAL, (uint64_t)value, decimals);
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

void table_attach_columns(struct table *table, const struct samples *samples, uint32_t columns, const char *part)
{
	attach(table, samples, NULL, part, columns);
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
		break;
	}
	json_init(&json, out);
	ok = table_put_json(table, &json);
	json_line(&json);
	return ok;
}
