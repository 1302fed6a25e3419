// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/place.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/test.h"

static const char text[] = "name: thing\nID: 260\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:short prio;\toffset:16;\tsize:2;\tsigned:1;\n"
			   "\tfield:unsigned short width;\toffset:18;\tsize:2;\tsigned:0;\n"
			   "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n"
			   "\tfield:s16 pair[2];\toffset:24;\tsize:4;\tsigned:1;\n"
			   "\tfield:__rel_loc u32[] words;\toffset:28;\tsize:4;\tsigned:0;\n"
			   "\nprint fmt: \"x\"\n";

enum { RECORD = 32 + 4 + 8 };

static void put_u16(uint8_t *at, uint16_t value, bool swap)
{
	value = load_u16(&value, swap);
	memcpy(at, &value, sizeof(value));
}

static void put_u32(uint8_t *at, uint32_t value, bool swap)
{
	value = load_u32(&value, swap);
	memcpy(at, &value, sizeof(value));
}

/*
 * The record: comm "kworker" (cut at its end), prio -3, width 65533, name "abc", pair { 1, -2 }, words { 7, 0xfffffffe
 * }.
 */
static void fill(uint8_t data[RECORD], bool swap)
{
	memset(data, 0, RECORD);
	memcpy(data + 8, "kworker/", 8);
	put_u16(data + 16, (uint16_t)-3, swap);
	put_u16(data + 18, 65533, swap);
	put_u32(data + 20, 4 << 16 | 32, swap);
	put_u16(data + 24, 1, swap);
	put_u16(data + 26, (uint16_t)-2, swap);
	put_u32(data + 28, 8 << 16 | 4, swap);
	memcpy(data + 32, "abc", 4);
	put_u32(data + 36, 7, swap);
	put_u32(data + 40, 0xfffffffe, swap);
}

static struct schema *schema_of(const struct schema_abi *abi, const struct format **ret)
{
	struct schema *schema = NULL;

	if (schema_new(abi, &schema, NULL) || schema_add(schema, "test", 4, text, strlen(text), NULL))
		return NULL;
	*ret = schema_format(schema, 260, NULL);
	return schema;
}

static void check_values(bool swap)
{
	const struct schema_abi abi = { .long_size = 8, .swap = swap };
	const struct format *format = NULL;
	struct schema *schema = schema_of(&abi, &format);
	uint8_t data[RECORD];
	const struct event event = { .data = data, .len = sizeof(data) };
	struct place place;
	const char *string = NULL;
	uint64_t value = 0;
	size_t len = 0;

	REQUIRE(format);
	fill(data, swap);
	CHECK(place_bind(&place, format, &abi, "prio") && place_s64(&place, &event) == -3);
	CHECK(place_bind(&place, format, &abi, "width") && place_u64(&place, &event) == 65533);
	CHECK(place_bind(&place, format, &abi, "comm") && place_u64(&place, &event) == 0);
	REQUIRE(place_string(&place, &event, &string, &len));
	CHECK_MEM(string, len, "kworker/", 8);
	CHECK(place_bind(&place, format, &abi, "name"));
	REQUIRE(place_string(&place, &event, &string, &len));
	CHECK_MEM(string, len, "abc", 3);
	CHECK(place_bind(&place, format, &abi, "pair"));
	CHECK(place_element(&place, &event, 1, &value) && value == (uint64_t)-2);
	CHECK(!place_element(&place, &event, 2, &value));
	CHECK(place_bind(&place, format, &abi, "words"));
	CHECK(place_element(&place, &event, 0, &value) && value == 7);
	CHECK(place_element(&place, &event, 1, &value) && value == 0xfffffffe);
	CHECK(!place_element(&place, &event, 2, &value) && !place_string(&place, &event, &string, &len));
	schema_free(schema);
}

TEST(place_reads_every_kind_of_field_in_both_byte_orders)
{
	check_values(false);
	check_values(true);
}

TEST(place_of_a_field_that_is_missing_or_cut_off_reads_as_nothing)
{
	const struct schema_abi abi = { .long_size = 8 };
	const struct format *format = NULL;
	struct schema *schema = schema_of(&abi, &format);
	uint8_t data[RECORD];
	struct event event = { .data = data, .len = 17 };
	struct place place;
	const uint8_t *bytes;
	uint64_t value;
	size_t len;

	REQUIRE(format);
	fill(data, false);
	CHECK(!place_bind(&place, format, &abi, "nothing") && !place_u64(&place, &event) &&
	      !place_bytes(&place, &event, &bytes, &len));
	CHECK(!place_bind(&place, NULL, &abi, "prio") && !place.field);
	CHECK(place_bind(&place, format, &abi, "prio") && place_u64(&place, &event) == 0);
	CHECK(place_bind(&place, format, &abi, "words") && !place_element(&place, &event, 0, &value));
	event.len = RECORD - 1;
	CHECK(!place_bytes(&place, &event, &bytes, &len));
	schema_free(schema);
}

/*
 * The oracle is the kernel's own text of the file: prev_pid of each switch is the task in which the event was recorded.
 */
TEST(place_reads_the_fields_of_a_kernels_events)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct place *places = calloc(EVENT_TYPES_MAX, sizeof(*places));
	struct trace *trace = NULL;
	struct context *context = NULL;
	struct events *events = NULL;
	unsigned switches = 0;
	struct event event;

	REQUIRE(places && !trace_open("tests/fixtures/golden/6.12-events-sched.dat", &trace, NULL));
	REQUIRE(!context_new(trace, 0, &context, NULL) && !events_open(context, &options, &events, NULL));
	while (events_next(events, &event, NULL) > 0) {
		if (event.kind != EVENT_RECORD || !event.type->format ||
		    strcmp(event.type->format->name, "sched_switch"))
			continue;
		if (!places[event.type->index].field)
			CHECK(place_bind(&places[event.type->index], event.type->format, &context->abi, "prev_pid"));
		CHECK(place_s64(&places[event.type->index], &event) == event.pid);
		switches++;
	}
	CHECK(switches > 10);
	events_free(events);
	context_free(context);
	trace_free(trace);
	free(places);
}
