// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/table.h"
#include "lib/base/table_item.h"

#include "lib/base/json.h"
#include "lib/base/out.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
	return table_marks(table->text_only, column);
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
