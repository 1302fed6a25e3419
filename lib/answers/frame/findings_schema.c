// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the JSON of findings looks like, as a JSON Schema, from the columns that the JSON itself is made of. */
#include <stddef.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/json_schema.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/face.h"

static void put_member(struct json *json, const char *key, const char *types)
{
	json_key(json, key);
	json_object(json);
	json_schema_types(json, types);
	json_end(json);
}

static void begin_object(struct json *json)
{
	json_key(json, "type");
	json_put_text(json, "object");
	json_key(json, "additionalProperties");
	json_put_bool(json, false);
	json_key(json, "properties");
	json_object(json);
}

/* Times of counts and bytes are whole numbers. A moment is a text where --time shows it as people do. */
static void put_column(struct json *json, const struct table_column *column, const char *key, bool faces)
{
	json_key(json, key);
	json_object(json);
	if (*column->title) {
		json_key(json, "title");
		json_put_text(json, column->title);
	}
	switch (column->kind) {
	case TABLE_TEXT:
		json_schema_types(json, "string|null");
		break;
	case TABLE_NUMBER:
		json_schema_types(json, faces ? "number|string|null" : "number|null");
		break;
	case TABLE_COUNT:
	case TABLE_SIZE:
	case TABLE_TIME:
		json_schema_types(json, "number|null");
		break;
	}
	json_end(json);
}

static void put_table(struct json *json, const struct finding *finding, bool faces)
{
	const struct table *table = &finding->table;
	char key[TABLE_KEY_SIZE];

	json_key(json, finding->name);
	json_object(json);
	json_key(json, "description");
	json_put_text(json, finding->about ? finding->about : finding->title);
	json_key(json, "type");
	json_put_text(json, "array");
	json_key(json, "items");
	json_object(json);
	begin_object(json);
	for (size_t i = 0; i < table->nr_columns; i++)
		if (!table_flagged(table, i, TABLE_TEXT_ONLY))
			put_column(json, &table->columns[i], table_key(&table->columns[i], i, key), faces);
	json_end(json);
	json_key(json, "required");
	json_array(json);
	for (size_t i = 0; i < table->nr_columns; i++)
		if (!table_flagged(table, i, TABLE_TEXT_ONLY))
			json_put_text(json, table_key(&table->columns[i], i, key));
	json_end(json);
	json_end(json);
	json_end(json);
}

/* Of the longest cases. */
static void put_longest(struct json *json)
{
	static const char *const numbers[] = { "lasted_ns", "since", "until", "cpu", "pid" };

	json_key(json, "longest");
	json_object(json);
	json_key(json, "type");
	json_put_text(json, "array");
	json_key(json, "items");
	json_object(json);
	begin_object(json);
	put_member(json, "what", "string");
	for (size_t i = 0; i < array_size(numbers); i++)
		put_member(json, numbers[i], numbers[i][0] == 's' || numbers[i][0] == 'u' ? "number|null" : "number");
	put_member(json, "comm", "string");
	json_end(json);
	json_end(json);
	json_end(json);
}

static const char *const span[] = { "since", "until", "span_events", "whole" };

static void put_span(struct json *json, bool faces)
{
	put_member(json, span[0], faces ? "number|string" : "number");
	put_member(json, span[1], faces ? "number|string" : "number");
	put_member(json, span[2], "number");
	put_member(json, span[3], "boolean");
}

bool findings_write_schema(const struct findings *findings, const struct findings_options *options, struct out *out)
{
	bool faces = options->face && options->face->kind != FACE_TRACE;
	static const char *const texts[] = { "notes", "cut", "broken", "missing" };
	struct json json;
	bool ok;

	json_init(&json, out);
	json_schema_begin(&json);
	json_key(&json, "type");
	json_put_text(&json, "object");
	json_key(&json, "additionalProperties");
	if (options->of_any) {
		json_object(&json);
		json_schema_types(&json, "array");
		json_end(&json);
	} else {
		json_put_bool(&json, false);
	}
	json_key(&json, "properties");
	json_object(&json);
	json_schema_version(&json, FINDINGS_VERSION);
	if (options->of_intervals)
		put_span(&json, faces);
	for (size_t i = 0; i < findings->nr; i++)
		put_table(&json, &findings->items[i], faces);
	put_longest(&json);
	for (size_t i = 0; i < array_size(texts); i++)
		put_member(&json, texts[i], "string|null");
	/* With --max-bytes. */
	put_member(&json, "rows_left_out", "object");
	put_member(&json, "for_more", "string");
	json_end(&json);
	json_key(&json, "required");
	json_array(&json);
	json_put_text(&json, "version");
	for (size_t i = 0; options->of_intervals && i < array_size(span); i++)
		json_put_text(&json, span[i]);
	for (size_t i = 0; !options->of_any && i < findings->nr; i++)
		json_put_text(&json, findings->items[i].name);
	json_put_text(&json, "longest");
	for (size_t i = 0; i < array_size(texts); i++)
		json_put_text(&json, texts[i]);
	json_end(&json);
	json_end(&json);
	ok = json_done(&json);
	json_line(&json);
	return ok && !out->failed;
}
