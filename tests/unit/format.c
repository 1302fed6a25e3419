// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/schema/format.h"

#include <errno.h>
#include <stdio.h>
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

TEST(schema_of_a_machine_that_there_is_none_of_is_refused)
{
	struct schema *schema = NULL;
	struct fail fail = FAIL_INIT;

	CHECK(schema_new(&(struct schema_abi){ .long_size = 2 }, &schema, &fail) == -EBADMSG && !schema);
	CHECK_STR(fail.text, "a long of 2 bytes is not supported");
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

#define FIELD(text) "name: x\nID: 1\nformat:\n\tfield:" text "\n"

/* No record is longer than 64 KiB: its length is in 16 bits (__data_loc). */
TEST(format_that_no_kernel_prints_says_why)
{
	static const struct {
		const char *text, *why; /* NULL: it is read */
	} rows[] = {
		{ FIELD("int a;\toffset:65532;\tsize:4;\tsigned:1;"), NULL },
		{ FIELD("int a;\toffset:65533;\tsize:4;\tsigned:1;"), "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\toffset:0;\tsize:65537;\tsigned:1;"), "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\toffset:4294967296;\tsize:4;\tsigned:1;"),
		  "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\toffset:99999999999;\tsize:4;\tsigned:1;"),
		  "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\toffset:;\tsize:4;"), "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\toffset:-1;\tsize:4;"), "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\tsize:4;\toffset:0;"), "a field's offset or size is missing or absurd" },
		{ FIELD("int a;\toffset:0;"), "a field's offset or size is missing or absurd" },
		{ FIELD("int a\toffset:0"), "a field's declaration has no end" },
		{ FIELD(";\toffset:0;\tsize:4;"), "a field has no name" },
		{ FIELD("[4];\toffset:0;\tsize:4;"), "a field has no name" },
		{ FIELD("int *;\toffset:0;\tsize:4;"), "a field has no name" },
		/* Kernels before 2.6.32 do not print the sign. */
		{ FIELD("int a;\toffset:0;\tsize:4;"), NULL },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct schema *schema = schema_of(rows[i].text);
		const struct format *format;
		const char *why = "";

		REQUIRE(schema);
		format = schema_format(schema, 1, &why);
		CHECK(!format == !!rows[i].why);
		CHECK_STR(why ? why : "read", rows[i].why ? rows[i].why : "read");
		CHECK(!schema_format(schema, 2, &why));
		CHECK_STR(why, "there is no format with that id");
		schema_free(schema);
	}
}

TEST(format_tells_what_a_field_is_by_its_declaration)
{
	static const struct {
		const char *declared, *type;
		uint32_t size, sign, flags, element;
	} rows[] = {
		{ "int a", "int", 4, 1, FIELD_SIGNED, 4 },
		{ "int a", "int", 4, 0, 0, 4 },
		{ "long a", "long", 8, 1, FIELD_SIGNED | FIELD_LONG, 8 },
		{ "unsigned long a", "unsigned long", 8, 0, FIELD_LONG, 8 },
		/* Of a kernel of 64 bits. */
		{ "long a", "long", 4, 1, FIELD_SIGNED, 4 },
		{ "unsigned long a", "unsigned long", 4, 0, 0, 4 },
		{ "u16 a[3]", "u16[3]", 6, 0, FIELD_ARRAY, 2 },
		{ "__u8 a[]", "__u8[]", 0, 0, FIELD_ARRAY, 1 },
		/* A count that does not divide the size is none. */
		{ "u16 a[4]", "u16[4]", 6, 0, FIELD_ARRAY, 2 },
		{ "u16 a[0]", "u16[0]", 6, 0, FIELD_ARRAY, 2 },
		{ "char a[16]", "char[16]", 16, 0, FIELD_ARRAY | FIELD_STRING, 1 },
		{ "char *a", "char *", 8, 0, FIELD_POINTER, 8 },
		{ "char * a[2]", "char *[2]", 16, 0, FIELD_ARRAY | FIELD_POINTER, 8 },
		{ "__data_loc char[] a", "__data_loc char[]", 4, 1, FIELD_SIGNED | FIELD_DYNAMIC | FIELD_STRING, 1 },
		{ "__data_loc char[] a", "__data_loc char[]", 8, 0, FIELD_DYNAMIC | FIELD_STRING, 1 },
		{ "__rel_loc u32[] a", "__rel_loc u32[]", 4, 0, FIELD_DYNAMIC | FIELD_RELATIVE, 4 },
		{ "__data_loc u64[] a", "__data_loc u64[]", 4, 0, FIELD_DYNAMIC, 8 },
		/* A place has four bytes, or is half of eight; what is of another size is none. */
		{ "__data_loc char[] a", "__data_loc char[]", 2, 0, FIELD_ARRAY | FIELD_STRING, 1 },
		{ "__rel_loc char[] a", "__rel_loc char[]", 2, 0, FIELD_ARRAY | FIELD_STRING, 1 },
		{ "__data_loc char[] a", "__data_loc char[]", 0, 0, FIELD_ARRAY | FIELD_STRING, 1 },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		const struct format *format;
		const struct field *field;
		struct schema *schema;
		char text[200];

		snprintf(text, sizeof(text), FIELD("%s;\toffset:8;\tsize:%u;\tsigned:%u;"), rows[i].declared,
			 rows[i].size, rows[i].sign);
		schema = schema_of(text);
		REQUIRE(schema);
		format = schema_format(schema, 1, NULL);
		field = format ? format_field(format, "a") : NULL;
		if (CHECK(field)) {
			CHECK_STR(field->type, rows[i].type);
			CHECK(field->offset == 8 && field->size == rows[i].size && format->size == 8 + rows[i].size);
			if (!CHECK(field->flags == rows[i].flags) || !CHECK(field->elem_size == rows[i].element))
				fprintf(stderr, "%s: flags %u, elements of %u\n", rows[i].declared, field->flags,
					field->elem_size);
		}
		schema_free(schema);
	}
}

/* A flexible array ends with the record; a place that leads out of it has no bytes. */
TEST(format_gives_bytes_of_a_field_only_inside_the_record)
{
	static const struct {
		const char *declared;
		uint32_t size, place; /* of the field, and what is stored there */
		size_t len;           /* of the record */
		size_t from, bytes;   /* what is given; `from` 99: nothing */
	} rows[] = {
		{ "u8 a[]", 0, 0, 12, 4, 8 },
		{ "u8 a[]", 0, 0, 4, 4, 0 },
		{ "u8 a[]", 0, 0, 3, 99, 0 },
		{ "u8 a[4]", 4, 0, 8, 4, 4 },
		{ "u8 a[4]", 4, 0, 7, 99, 0 },
		{ "__data_loc char[] a", 4, 8 | 4 << 16, 12, 8, 4 },
		{ "__data_loc char[] a", 4, 8 | 5 << 16, 12, 99, 0 },
		{ "__data_loc char[] a", 4, 12, 12, 12, 0 },
		{ "__data_loc char[] a", 4, 13, 12, 99, 0 },
		{ "__data_loc char[] a", 4, 0 | 12 << 16, 12, 0, 12 },
		{ "__data_loc char[] a", 4, 0, 7, 99, 0 },
		{ "__rel_loc char[] a", 4, 0 | 4 << 16, 12, 8, 4 },
		{ "__rel_loc char[] a", 4, 1 | 4 << 16, 12, 99, 0 },
		{ "__rel_loc char[] a", 4, 4, 12, 12, 0 },
		{ "__rel_loc char[] a", 4, 5, 12, 99, 0 },
		{ "__rel_loc char[] a", 4, 65535 | 65535u << 16, 12, 99, 0 },
	};
	static const struct schema_abi abi[] = { { .swap = false }, { .swap = true } };

	for (size_t i = 0; i < 2 * array_size(rows); i++) {
		size_t at = i / 2, len = 99;
		const uint8_t *bytes = NULL;
		const struct format *format;
		struct schema *schema;
		uint8_t data[12] = { 0 };
		uint32_t place = i % 2 ? __builtin_bswap32(rows[at].place) : rows[at].place;
		char text[200];
		bool got;

		snprintf(text, sizeof(text), FIELD("%s;\toffset:4;\tsize:%u;\tsigned:0;"), rows[at].declared,
			 rows[at].size);
		schema = schema_of(text);
		format = schema ? schema_format(schema, 1, NULL) : NULL;
		REQUIRE(format);
		memcpy(data + 4, &place, sizeof(place));
		got = field_bytes(&format->fields[0], &abi[i % 2], data, rows[at].len, &bytes, &len);
		CHECK(got == (rows[at].from != 99));
		CHECK(!got || (bytes == data + rows[at].from && len == rows[at].bytes));
		schema_free(schema);
	}
}
#undef FIELD

static const char *why_not(const char *text)
{
	struct schema *schema = schema_of(text);
	const char *why = NULL;
	static char copy[100];

	*copy = '\0';
	if (CHECK(schema) && !schema_format(schema, 1, &why) && why)
		snprintf(copy, sizeof(copy), "%s", why);
	schema_free(schema);
	return copy;
}

/* The name and the number stand in the first eight lines. */
TEST(schema_finds_the_head_of_a_format_in_its_first_lines)
{
	struct schema_abi abi = { .long_size = 8 };
	static const struct {
		const char *text;
		int32_t id; /* -1: refused */
	} rows[] = {
		{ "ID: 7\nname: x\n", 7 },
		{ "name:x\nID:7", 7 },
		{ "\n\n\n\n\n\nname: x \r\nID: 7\n", 7 },
		{ "\n\n\n\n\n\n\nname: x\nID: 7\n", -1 },
		{ "name: x\nID: 134217727\n", 134217727 },
		{ "name: x\nID: 134217728\n", -1 },
		{ "name: x\nID: \n", -1 },
		{ "name: x\nID: seven\n", -1 },
		{ "name: \nID: 7\n", -1 },
		{ "nam: x\nID: 7\n", -1 },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct schema *schema = NULL;
		const char *system, *name;
		int32_t id;

		REQUIRE(!schema_new(&abi, &schema, NULL));
		CHECK(schema_add(schema, "misc", 4, rows[i].text, strlen(rows[i].text), &fail) ==
		      (rows[i].id < 0 ? -EBADMSG : 0));
		if (rows[i].id < 0) {
			CHECK_STR(fail.text, "a format of system 'misc' has no name or ID");
		} else if (CHECK(schema_at(schema, 0, &id, &system, &name) && id == rows[i].id)) {
			CHECK_STR(name, "x");
		}
		schema_free(schema);
	}
}

/* What a stranger's file may ask for is bounded: fields, and the text. */
TEST(format_is_bounded_in_fields_and_length)
{
	enum { FIELDS_MAX = 4096, LEN_MAX = 1 << 20 };
	static char text[LEN_MAX + 100];
	static const char field[] = "\tfield:u8 a;\toffset:0;\tsize:1;\tsigned:0;\n";
	size_t head = (size_t)snprintf(text, sizeof(text), "name: x\nID: 1\n"), len = head;

	for (int i = 0; i < FIELDS_MAX; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", field);
	CHECK_STR(why_not(text), "");
	snprintf(text + len, sizeof(text) - len, "%s", field);
	CHECK_STR(why_not(text), "it has too many fields");
	memset(text + head, '\n', sizeof(text) - head);
	text[LEN_MAX] = '\0';
	CHECK_STR(why_not(text), "");
	text[LEN_MAX] = '\n';
	text[LEN_MAX + 1] = '\0';
	CHECK_STR(why_not(text), "it is too large");
}
