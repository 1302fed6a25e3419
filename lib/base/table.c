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

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_items; i++)
		free(table->items[i].text);
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

static void add(struct table *table, struct table_item item)
{
	struct table_item *added = vec_push(table->items, table->nr_items);

	if (added)
		*added = item;
	else
		free(item.text);
	table->failed |= !added;
}

static void add_text(struct table *table, char *text, size_t len)
{
	if (text)
		add(table, (struct table_item){ .value = VALUE_TEXT, .text = text, .len = len });
	else
		table->failed = true;
}

void table_cell(struct table *table, const char *text)
{
	add_text(table, strdup(text), strlen(text));
}

void table_cell_mem(struct table *table, const void *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	add_text(table, copy, len);
}

void table_cellf(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	add_text(table, len < 0 ? NULL : text, len < 0 ? 0 : (size_t)len);
}

void table_cell_nothing(struct table *table)
{
	add(table, (struct table_item){ .value = VALUE_NOTHING });
}

void table_cell_u64(struct table *table, uint64_t value)
{
	add(table, (struct table_item){ .value = VALUE_U64, .number = value });
}

void table_cell_s64(struct table *table, int64_t value)
{
	add(table, (struct table_item){ .value = VALUE_S64, .number = (uint64_t)value });
}

void table_cell_decimal(struct table *table, int64_t value, unsigned decimals)
{
	add(table, (struct table_item){ .value = VALUE_DECIMAL, .number = (uint64_t)value, .decimals = decimals });
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

struct table_item table_item_at(const struct table *table, size_t row, size_t column)
{
	static const char empty[] = "";
	size_t index = row * table->nr_columns + column;

	return index < table->nr_items ? table->items[index] : (struct table_item){ .text = (char *)(uintptr_t)empty };
}

const char *table_text_at(const struct table *table, size_t row, size_t column)
{
	size_t index = row * table->nr_columns + column;

	return index < table->nr_items && table->items[index].value == VALUE_TEXT ? table->items[index].text : NULL;
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
		add(table, item);
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
