// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What stands in the files: https://iceberg.apache.org/spec and https://avro.apache.org/docs/1.11.1/specification. A
 * file of Avro is its schema as JSON and one block of records; a record is its fields one after the other, without
 * names.
 */
#include "formats/export/iceberg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/export/intervals_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/xxh64.h"

enum { SYNC = 16, NAME = 64, ADDED = 1, NULL_OR_LONG = 1, PATH = 4096 };

#define FIELD(name, id, type) "{\"name\":\"" name "\",\"type\":" type ",\"field-id\":" #id "}"
#define LONG_FIELD(name, id) FIELD(name, id, "\"long\"")
#define INT_FIELD(name, id) FIELD(name, id, "\"int\"")
#define TEXT_FIELD(name, id) FIELD(name, id, "\"string\"")
#define NULL_FIELD(name, id) \
	"{\"name\":\"" name "\",\"type\":[\"null\",\"long\"],\"default\":null,\"field-id\":" #id "}"

/* clang-format off */
static const char entry_schema[] =
	"{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["
	INT_FIELD("status", 0) ","
	NULL_FIELD("snapshot_id", 1) ","
	NULL_FIELD("sequence_number", 3) ","
	NULL_FIELD("file_sequence_number", 4) ","
	"{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":["
	INT_FIELD("content", 134) ","
	TEXT_FIELD("file_path", 100) ","
	TEXT_FIELD("file_format", 101) ","
	FIELD("partition", 102, "{\"type\":\"record\",\"name\":\"r102\",\"fields\":[]}") ","
	LONG_FIELD("record_count", 103) ","
	LONG_FIELD("file_size_in_bytes", 104)
	"]}}]}";

static const char list_schema[] =
	"{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["
	TEXT_FIELD("manifest_path", 500) ","
	LONG_FIELD("manifest_length", 501) ","
	INT_FIELD("partition_spec_id", 502) ","
	INT_FIELD("content", 517) ","
	LONG_FIELD("sequence_number", 515) ","
	LONG_FIELD("min_sequence_number", 516) ","
	LONG_FIELD("added_snapshot_id", 503) ","
	INT_FIELD("added_files_count", 504) ","
	INT_FIELD("existing_files_count", 505) ","
	INT_FIELD("deleted_files_count", 506) ","
	LONG_FIELD("added_rows_count", 512) ","
	LONG_FIELD("existing_rows_count", 513) ","
	LONG_FIELD("deleted_rows_count", 514)
	"]}";
/* clang-format on */

/* A number of Avro: zigzag, seven bits a byte. */
static void put_long(struct out *out, int64_t number)
{
	uint64_t left = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);

	for (; left >= 0x80; left >>= 7)
		out_char(out, (char)(left | 0x80));
	out_char(out, (char)left);
}

static void put_bytes(struct out *out, const void *bytes, size_t len)
{
	put_long(out, (int64_t)len);
	out_mem(out, bytes, len);
}

static void put_string(struct out *out, const char *text)
{
	put_bytes(out, text, strlen(text));
}

static void put_if_known(struct out *out, int64_t number)
{
	put_long(out, NULL_OR_LONG);
	put_long(out, number);
}

/* A file of Avro with these records. `facts`: names and values that end with NULL. */
static void put_avro(struct out *out, const char *schema, const char *const *facts, const struct out *records,
		     size_t nr)
{
	char sync[SYNC];
	uint64_t hash = xxh64(records->start, out_len(records));
	size_t nr_facts = 2;

	memcpy(sync, &hash, sizeof(hash));
	memcpy(sync + sizeof(hash), "weftlake", SYNC - sizeof(hash));
	for (size_t i = 0; facts[i]; i += 2)
		nr_facts++;
	out_mem(out, "Obj\1", 4);
	put_long(out, (int64_t)nr_facts);
	put_string(out, "avro.schema");
	put_string(out, schema);
	put_string(out, "avro.codec");
	put_string(out, "null");
	for (size_t i = 0; facts[i]; i++)
		put_string(out, facts[i]);
	put_long(out, 0);
	out_mem(out, sync, SYNC);
	put_long(out, (int64_t)nr);
	put_bytes(out, records->start, out_len(records));
	out_mem(out, sync, SYNC);
}

static void put_schema(struct json *json, const struct column_shape *shapes, size_t nr)
{
	json_object(json);
	json_key(json, "type");
	json_put_text(json, "struct");
	json_key(json, "schema-id");
	json_put_u64(json, 0);
	json_key(json, "fields");
	json_array(json);
	for (size_t i = 0; i < nr; i++) {
		json_object(json);
		json_key(json, "id");
		json_put_u64(json, i + 1);
		json_key(json, "name");
		json_put_text(json, shapes[i].name);
		json_key(json, "required");
		json_put_bool(json, !shapes[i].optional);
		json_key(json, "type");
		json_put_text(json, column_is_text(&shapes[i]) ? "string" : shapes[i].bits == 64 ? "long" : "int");
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void put_mapping(struct json *json, const struct column_shape *shapes, size_t nr)
{
	json_array(json);
	for (size_t i = 0; i < nr; i++) {
		json_object(json);
		json_key(json, "field-id");
		json_put_u64(json, i + 1);
		json_key(json, "names");
		json_array(json);
		json_put_text(json, shapes[i].name);
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

/* A list with one object {ID: 0, "fields": []}: of the partitions, or of the order. */
static void put_none(struct json *json, const char *key, const char *id)
{
	json_key(json, key);
	json_array(json);
	json_object(json);
	json_key(json, id);
	json_put_u64(json, 0);
	json_key(json, "fields");
	json_array(json);
	json_end(json);
	json_end(json);
	json_end(json);
}

static void put_pair(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_put_u64(json, value);
}

static void put_snapshot(struct json *json, const struct iceberg *iceberg, const char *list)
{
	json_key(json, "snapshots");
	json_array(json);
	json_object(json);
	put_pair(json, "snapshot-id", iceberg->version);
	put_pair(json, "sequence-number", iceberg->version);
	put_pair(json, "timestamp-ms", (uint64_t)iceberg->now_ms);
	put_pair(json, "schema-id", 0);
	json_key(json, "manifest-list");
	json_put_text(json, list);
	json_key(json, "summary");
	json_object(json);
	json_key(json, "operation");
	json_put_text(json, "append");
	json_end(json);
	json_end(json);
	json_end(json);
}

/* The name of the table: another version of it has the same. */
static void put_uuid(struct json *json, const struct iceberg *iceberg)
{
	uint64_t one = xxh64(iceberg->table, strlen(iceberg->table)), other = ~one * UINT64_C(0x9e3779b97f4a7c15);
	char text[NAME];

	snprintf(text, sizeof(text), "%08x-%04x-8%03x-8%03x-%012" PRIx64, (unsigned)(one >> 32),
		 (unsigned)(one >> 16 & 0xffff), (unsigned)(one & 0xfff), (unsigned)(other >> 52),
		 other & ((UINT64_C(1) << 48) - 1));
	json_key(json, "table-uuid");
	json_put_text(json, text);
}

static bool put_metadata(struct out *out, const struct iceberg *iceberg, const struct column_shape *shapes, size_t nr,
			 const char *list, const char *mapping)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	put_pair(&json, "format-version", 2);
	put_uuid(&json, iceberg);
	json_key(&json, "location");
	json_put_text(&json, iceberg->location);
	put_pair(&json, "last-sequence-number", iceberg->version);
	put_pair(&json, "last-updated-ms", (uint64_t)iceberg->now_ms);
	put_pair(&json, "last-column-id", nr);
	put_pair(&json, "current-schema-id", 0);
	json_key(&json, "schemas");
	json_array(&json);
	put_schema(&json, shapes, nr);
	json_end(&json);
	put_pair(&json, "default-spec-id", 0);
	put_none(&json, "partition-specs", "spec-id");
	put_pair(&json, "last-partition-id", 999);
	put_pair(&json, "default-sort-order-id", 0);
	put_none(&json, "sort-orders", "order-id");
	json_key(&json, "properties");
	json_object(&json);
	json_key(&json, "schema.name-mapping.default");
	json_put_text(&json, mapping);
	json_end(&json);
	put_pair(&json, "current-snapshot-id", iceberg->version);
	put_snapshot(&json, iceberg, list);
	json_end(&json);
	return json_done(&json);
}

static void put_entries(struct out *out, const struct iceberg *iceberg)
{
	char path[PATH];

	for (size_t i = 0; i < iceberg->nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", iceberg->location, iceberg->files[i].leaf);
		put_long(out, ADDED);
		put_if_known(out, (int64_t)iceberg->version);
		put_if_known(out, (int64_t)iceberg->version);
		put_if_known(out, (int64_t)iceberg->version);
		put_long(out, 0);
		put_string(out, path);
		put_string(out, "PARQUET");
		put_long(out, (int64_t)iceberg->files[i].rows);
		put_long(out, (int64_t)iceberg->files[i].size);
	}
}

static void put_manifest(struct out *out, const struct iceberg *iceberg, const char *path, size_t size)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < iceberg->nr; i++)
		rows += iceberg->files[i].rows;
	put_string(out, path);
	put_long(out, (int64_t)size);
	put_long(out, 0); /* partitions */
	put_long(out, 0); /* files of data */
	for (unsigned i = 0; i < 3; i++)
		put_long(out, (int64_t)iceberg->version);
	put_long(out, (int64_t)iceberg->nr);
	put_long(out, 0);
	put_long(out, 0);
	put_long(out, (int64_t)rows);
	put_long(out, 0);
	put_long(out, 0);
}

/* The texts that are being made: of the file, of what is inside it, and of the schema and the mapping. */
struct making {
	struct out file, inside, schema, mapping;
};

static int put_file(const struct iceberg *iceberg, struct making *making, const char *name, struct fail *fail)
{
	int r = making->file.failed || making->inside.failed || making->schema.failed || making->mapping.failed ?
			fail_memory(fail) :
			iceberg->put(iceberg->arg, name, making->file.start, out_len(&making->file), fail);

	out_clear(&making->file);
	out_clear(&making->inside);
	return r;
}

static int describe(const struct iceberg *iceberg, struct making *making, struct fail *fail)
{
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	char manifest[NAME], list[NAME], metadata[NAME], path[PATH];
	const char *facts[] = { "schema",
				NULL,
				"schema-id",
				"0",
				"partition-spec",
				"[]",
				"partition-spec-id",
				"0",
				"format-version",
				"2",
				"content",
				"data",
				NULL };
	static const char *const none[] = { NULL };
	size_t nr, size;
	struct json json;
	int r = interval_table_find(iceberg->table, shapes, &nr);

	if (r)
		return fail_set(fail, r, "there is no table '%s'", iceberg->table);
	snprintf(manifest, sizeof(manifest), "manifest-%" PRIu64 ".avro", iceberg->version);
	snprintf(list, sizeof(list), "snap-%" PRIu64 ".avro", iceberg->version);
	snprintf(metadata, sizeof(metadata), "v%" PRIu64 ".metadata.json", iceberg->version);
	json_init(&json, &making->schema);
	put_schema(&json, shapes, nr);
	json_init(&json, &making->mapping);
	put_mapping(&json, shapes, nr);
	out_char(&making->schema, '\0');
	out_char(&making->mapping, '\0');
	facts[1] = making->schema.start;
	put_entries(&making->inside, iceberg);
	put_avro(&making->file, entry_schema, facts, &making->inside, iceberg->nr);
	size = out_len(&making->file);
	r = put_file(iceberg, making, manifest, fail);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/metadata/%s", iceberg->location, manifest);
	put_manifest(&making->inside, iceberg, path, size);
	put_avro(&making->file, list_schema, none, &making->inside, 1);
	r = put_file(iceberg, making, list, fail);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/metadata/%s", iceberg->location, list);
	if (!put_metadata(&making->file, iceberg, shapes, nr, path, making->mapping.start))
		return fail_memory(fail);
	r = put_file(iceberg, making, metadata, fail);
	out_u64(&making->file, iceberg->version);
	return r ? r : put_file(iceberg, making, "version-hint.text", fail);
}

int iceberg_describe(const struct iceberg *iceberg, struct fail *fail)
{
	struct making making = { .file = { .start = NULL } };
	struct out *outs[] = { &making.file, &making.inside, &making.schema, &making.mapping };
	size_t nr = 0;
	int r = 0;

	if (strlen(iceberg->location) > PATH - 2 * NAME)
		return fail_set(fail, -ENAMETOOLONG, "the path '%s' is too long", iceberg->location);
	while (nr < array_size(outs) && out_init(outs[nr], 1 << 12))
		nr++;
	r = nr < array_size(outs) ? fail_memory(fail) : describe(iceberg, &making, fail);
	while (nr)
		out_release(outs[--nr]);
	return r;
}
