// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/schema/format.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

static const char sched_text[] = "name: sched_thing\nID: 260\nformat:\n"
				 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				 "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				 "\tfield:long state;\toffset:24;\tsize:8;\tsigned:1;\n"
				 "\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"
				 "\tfield:__rel_loc u32[] words;\toffset:36;\tsize:4;\tsigned:0;\n"
				 "\tfield:const char * text;\toffset:40;\tsize:8;\tsigned:0;\n"
				 "\nprint fmt: \"comm=%s\", REC->comm\n";

static struct schema *schema_of(const char *text)
{
	struct schema_abi abi = { .long_size = 8 };
	struct schema *schema = NULL;

	if (schema_new(&abi, &schema, NULL) || schema_add(schema, "sched", 5, text, strlen(text), NULL)) {
		schema_free(schema);
		return NULL;
	}
	return schema;
}

TEST(format_knows_fields_by_name_with_their_types)
{
	struct schema *schema = schema_of(sched_text);
	const struct format *format;
	const struct field *field;

	REQUIRE(schema);
	format = schema_format(schema, 260, NULL);
	REQUIRE(format);
	CHECK_STR(format->system, "sched");
	CHECK_STR(format->name, "sched_thing");
	CHECK_STR(format->print_fmt, "\"comm=%s\", REC->comm");
	CHECK(format->nr_common == 2 && format->nr_fields == 7 && format->size == 48);
	field = format_field(format, "comm");
	REQUIRE(field);
	CHECK_STR(field->type, "char[16]");
	CHECK(field->flags == (FIELD_ARRAY | FIELD_STRING) && field->elem_size == 1);
	field = format_field(format, "state");
	CHECK(field && field->flags == (FIELD_SIGNED | FIELD_LONG));
	field = format_field(format, "name");
	CHECK(field && field->flags == (FIELD_DYNAMIC | FIELD_STRING));
	field = format_field(format, "words");
	CHECK(field && field->flags == (FIELD_DYNAMIC | FIELD_RELATIVE) && field->elem_size == 4);
	field = format_field(format, "text");
	CHECK(field && field->flags == FIELD_POINTER);
	CHECK(!format_field(format, "nothing"));
	schema_free(schema);
}

/* As 6.12 prints it for 'guest_dyn char comm[]; u64 lat': the place is the first half of a u64. */
TEST(format_knows_the_dynamic_strings_of_synthetic_events)
{
	static const char text[] = "name: guest_dyn\nID: 1400\nformat:\n"
				   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
				   "\tfield:__data_loc char[] comm;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield:u64 lat;\toffset:16;\tsize:8;\tsigned:0;\n"
				   "\nprint fmt: \"comm=%s, lat=%llu\", __get_str(comm), REC->lat\n";
	struct schema *schema = schema_of(text);
	const struct format *format = schema ? schema_format(schema, 1400, NULL) : NULL;
	const struct field *field = format ? format_field(format, "comm") : NULL;
	uint32_t place = 24 | 3u << 16;
	uint8_t data[32] = { 0 };
	const uint8_t *at;
	size_t len;

	REQUIRE(field);
	CHECK(field->flags & FIELD_DYNAMIC && field->flags & FIELD_STRING && field->elem_size == 1);
	memcpy(data + 8, &place, sizeof(place));
	memcpy(data + 24, "ls", 3);
	REQUIRE(field_bytes(field, &(struct schema_abi){ .long_size = 8 }, data, sizeof(data), &at, &len));
	CHECK(at == data + 24 && len == 3);
	schema_free(schema);
}

TEST(format_follows_dynamic_fields_only_inside_the_record)
{
	struct schema *schema = schema_of(sched_text);
	struct schema_abi abi = { .long_size = 8 };
	uint8_t data[56] = { 0 };
	const uint8_t *at;
	size_t len;
	uint32_t inside = 48 | 8u << 16, outside = 50 | 8u << 16, relative = 12 | 4u << 16;
	const struct format *format = schema ? schema_format(schema, 260, NULL) : NULL;

	REQUIRE(format);
	memcpy(data + 32, &inside, 4);
	CHECK(field_bytes(format_field(format, "name"), &abi, data, sizeof(data), &at, &len) && at == data + 48 &&
	      len == 8);
	memcpy(data + 32, &outside, 4);
	CHECK(!field_bytes(format_field(format, "name"), &abi, data, sizeof(data), &at, &len));
	memcpy(data + 36, &relative, 4);
	CHECK(field_bytes(format_field(format, "words"), &abi, data, sizeof(data), &at, &len) && at == data + 52);
	CHECK(!field_bytes(format_field(format, "words"), &abi, data, 38, &at, &len));
	schema_free(schema);
}

TEST(format_reads_integers_by_their_size_and_sign)
{
	struct schema *schema = schema_of(sched_text);
	struct schema_abi little = { .long_size = 8, .swap = HOST_BIG_ENDIAN },
			  big = { .long_size = 8, .swap = !HOST_BIG_ENDIAN };
	uint8_t data[48] = { 0 };
	const struct format *format = schema ? schema_format(schema, 260, NULL) : NULL;

	REQUIRE(format);
	data[0] = 0xfe;
	memset(data + 4, 0xff, 4);
	CHECK(field_int(format_field(format, "common_type"), &little, data, sizeof(data)) == 0xfe);
	CHECK(field_int(format_field(format, "common_type"), &big, data, sizeof(data)) == 0xfe00);
	CHECK(field_int(format_field(format, "common_pid"), &little, data, sizeof(data)) == UINT64_MAX);
	CHECK(field_int(format_field(format, "common_pid"), &little, data, 7) == 0);
	CHECK(field_int(format_field(format, "comm"), &little, data, sizeof(data)) == 0);
	schema_free(schema);
}

TEST(schema_finds_formats_by_name_and_walks_them_in_order)
{
	struct schema *schema = schema_of(sched_text);
	const char *system, *name, *why;
	static const char other[] = "name: other\nID: 7\nformat:\n";
	int32_t id;

	REQUIRE(schema);
	CHECK(!schema_add(schema, "misc", 4, other, strlen(other), NULL));
	CHECK(schema_find(schema, NULL, "other") == 7);
	CHECK(schema_find(schema, "sched", "other") == -ENOENT);
	CHECK(schema_at(schema, 1, &id, &system, &name) && id == 7 && !strcmp(system, "misc"));
	CHECK(!schema_at(schema, 2, &id, &system, &name));
	CHECK(!schema_format(schema, 8, &why) && why);
	schema_free(schema);
}

TEST(schema_rejects_a_text_without_name_or_id)
{
	struct schema_abi abi = { .long_size = 8 };
	struct schema *schema = NULL;

	REQUIRE(!schema_new(&abi, &schema, NULL));
	CHECK(schema_add(schema, "a", 1, "ID: 4\n", 6, NULL) == -EBADMSG);
	CHECK(schema_add(schema, "a", 1, "name: x\n", 8, NULL) == -EBADMSG);
	CHECK(schema_add(schema, "a", 1, "", 0, NULL) == -EBADMSG);
	schema_free(schema);
}

TEST(format_rejects_fields_that_no_record_can_have)
{
	struct schema *schema =
		schema_of("name: x\nID: 1\nformat:\n\tfield:int a;\toffset:65535;\tsize:4;\tsigned:1;\n");
	const char *why = NULL;

	REQUIRE(schema);
	CHECK(!schema_format(schema, 1, &why) && why);
	schema_free(schema);
	schema = schema_of("name: x\nID: 1\nformat:\n\tfield:int a;\toffset:99999999999;\tsize:4;\tsigned:1;\n");
	REQUIRE(schema);
	CHECK(!schema_format(schema, 1, &why));
	schema_free(schema);
}
