// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls_internal.h"
#include "lib/meaning/names/symbols.h"
#include "tests/unit/golden.h"
#include "tests/unit/test.h"

/* The duration in a line "} " or "NAME();" of the kernel's text, which is a call that ended; 0 for other lines. */
static bool line_ends_call(const char *line)
{
	return strstr(line, "();") || strstr(line, "| }") || strstr(line, " }");
}

static void check_file(const char *name)
{
	unsigned ended = 0, leaves = 0, lines = 0, leaf_lines = 0;
	struct golden golden;
	struct calls *calls;
	struct event event;
	struct call call;
	const char *line;

	REQUIRE(golden_open(&golden, name));
	calls = calls_new();
	REQUIRE(calls);
	while (events_next(golden.events, &event, NULL) > 0) {
		if (!calls_see(calls, &event, &call))
			continue;
		ended++;
		leaves += call.entered && !call.nested;
		CHECK(call.timed && call.nested <= call.lasted && call.start + call.lasted <= event.ts);
	}
	while ((line = golden_line(&golden, "|"))) {
		lines += line_ends_call(line);
		leaf_lines += strstr(line, "();") != NULL;
	}
	CHECK(ended > 50 && ended == lines);
	CHECK(leaves >= leaf_lines);
	calls_free(calls);
	golden_close(&golden);
}

TEST(calls_end_as_often_as_the_kernel_prints_an_end)
{
	check_file("6.12-function_graph");
	check_file("6.1-rt-function_graph");
}

/* The hits as "FRAME:START+LASTED " */
static const char *hits_text(const struct hits *hits, char *into, size_t size)
{
	size_t len = 0;

	*into = '\0';
	for (size_t i = 0; i < hits->nr && len < size; i++)
		len += (size_t)snprintf(into + len, size - len, "%zu:%" PRIu64 "+%" PRIu64 " ", hits->items[i].frame,
					hits->items[i].start, hits->items[i].lasted);
	return into;
}

static void add_hits(struct hits *hits, size_t frame, uint64_t first, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		hits_add(hits, frame, &(struct hit){ .start = first + i * 10, .lasted = 5, .interrupted = 2 });
}

TEST(hits_are_summed_and_moved_by_the_function_and_the_time_they_hit)
{
	struct hits hits = { .items = NULL };
	struct hit sum;
	char text[128];

	add_hits(&hits, 0, 100, 3);
	add_hits(&hits, 2, 200, 3);
	CHECK(hits_any(&hits, 0) && hits_any(&hits, 2) && !hits_any(&hits, 3));
	sum = hits_take(&hits, 2, 210, 220);
	CHECK(sum.frame == 2 && sum.lasted == 5 && sum.interrupted == 2);
	CHECK_STR(hits_text(&hits, text, sizeof(text)), "0:100+5 0:110+5 0:120+5 2:200+5 2:220+5 ");
	sum = hits_take(&hits, 1, 0, UINT64_MAX);
	CHECK(!sum.lasted && !sum.interrupted);
	/* 200 to 205 ends before the function, 220 lies in it: only the first was the caller's. */
	sum = hits_move(&hits, 2, true, 205, 300);
	CHECK(sum.lasted == 5 && sum.interrupted == 2);
	CHECK_STR(hits_text(&hits, text, sizeof(text)), "0:100+5 0:110+5 0:120+5 1:200+5 ");
	add_hits(&hits, 2, 300, 2);
	sum = hits_move(&hits, 2, false, 302, 310);
	CHECK(sum.lasted == 5);
	CHECK_STR(hits_text(&hits, text, sizeof(text)), "0:100+5 0:110+5 0:120+5 1:200+5 ");
	/* A hit of an outer function says that the inner ones have ended. */
	add_hits(&hits, 3, 400, 2);
	add_hits(&hits, 2, 420, 1);
	CHECK_STR(hits_text(&hits, text, sizeof(text)), "0:100+5 0:110+5 0:120+5 1:200+5 2:420+5 ");
	hits_forget(&hits, 1);
	CHECK_STR(hits_text(&hits, text, sizeof(text)), "0:100+5 0:110+5 0:120+5 ");
	sum = hits_take(&hits, 0, 100, 120);
	CHECK(sum.lasted == 10 && sum.interrupted == 4);
	CHECK_STR(hits_text(&hits, text, sizeof(text)), "0:120+5 ");
	hits_release(&hits);
	CHECK(!hits.nr && !hits.items);
}

TEST(hits_without_room_are_the_first_ones_outside_of_functions_and_the_last_ones_inside)
{
	enum { ROOM = 4096 };
	struct hits hits = { .items = NULL };

	add_hits(&hits, 0, 0, ROOM);
	CHECK(hits.nr == ROOM && hits.items[0].start == 0);
	add_hits(&hits, 1, 90000, 1);
	CHECK(hits.nr == ROOM && hits.items[ROOM - 1].start == (ROOM - 1) * 10);
	add_hits(&hits, 0, ROOM * 10, 1);
	CHECK(hits.nr == ROOM / 2 + 1 && hits.items[0].start == ROOM / 2 * 10 &&
	      hits.items[hits.nr - 1].start == ROOM * 10);
	CHECK(!hits.starved);
	hits_release(&hits);
}

/* Records as 6.12 writes them. */
static const struct field fields[] = {
	{ .name = "func", .type = "unsigned long", .offset = 8, .size = 8 },
	{ .name = "depth", .type = "int", .offset = 16, .size = 4, .flags = FIELD_SIGNED },
};
static const struct format entry_format = {
	.system = "ftrace", .name = "funcgraph_entry", .nr_fields = 2, .fields = fields
};
static const struct format exit_format = {
	.system = "ftrace", .name = "funcgraph_exit", .nr_fields = 2, .fields = fields
};
static const struct context ours = { .abi = { .long_size = 8 } }, swapped = { .abi = { .swap = true, .long_size = 8 } };
static struct event_type types[] = { { .index = 0, .format = &entry_format, .context = &ours },
				     { .index = 1, .format = &exit_format, .context = &ours },
				     { .index = 2, .format = &entry_format, .context = &swapped },
				     { .index = 3, .format = &exit_format, .context = &swapped } };

enum { ENTRY, EXIT, SWAPPED_ENTRY, SWAPPED_EXIT };

static bool see(struct calls *calls, unsigned type, int32_t pid, uint64_t func, int32_t depth, uint64_t ts,
		struct call *ret)
{
	uint8_t data[20] = { 0 };
	const struct event event = {
		.ts = ts, .type = &types[type], .pid = pid, .cpu = (uint16_t)(ts % 4), .data = data, .len = sizeof(data)
	};

	memcpy(data + 8, &func, sizeof(func));
	memcpy(data + 16, &depth, sizeof(depth));
	return calls_see(calls, &event, ret);
}

TEST(calls_of_a_task_pair_across_cpus_and_leave_out_nested_time)
{
	struct calls *calls = calls_new();
	struct call call;

	REQUIRE(calls);
	CHECK(!see(calls, ENTRY, 5, 0xa, 0, 100, &call) && !see(calls, ENTRY, 5, 0xb, 1, 110, &call));
	CHECK(!see(calls, ENTRY, 6, 0xa, 0, 111, &call));
	REQUIRE(see(calls, EXIT, 5, 0xb, 1, 130, &call));
	CHECK(call.entered && call.timed && call.func == 0xb && call.start == 110 && call.lasted == 20 && !call.nested);
	REQUIRE(see(calls, EXIT, 5, 0xa, 0, 150, &call));
	CHECK(call.entered && call.lasted == 50 && call.nested == 20);
	REQUIRE(see(calls, EXIT, 6, 0xa, 0, 121, &call));
	CHECK(call.entered && call.lasted == 10 && !call.nested);
	calls_free(calls);
}

TEST(calls_are_read_in_the_byte_order_of_their_type)
{
	struct calls *calls = calls_new();
	const uint64_t func = UINT64_C(0xa) << 56;
	const int32_t one = 1 << 24;
	struct call call;

	REQUIRE(calls);
	CHECK(!see(calls, ENTRY, 5, 0xb, 0, 100, &call));
	CHECK(!see(calls, SWAPPED_ENTRY, 6, func, one, 101, &call));
	REQUIRE(see(calls, SWAPPED_EXIT, 6, func, one, 108, &call));
	CHECK(call.entered && call.func == 0xa && call.depth == 1 && call.lasted == 7);
	REQUIRE(see(calls, EXIT, 5, 0xb, 0, 120, &call));
	CHECK(call.entered && call.func == 0xb && call.lasted == 20);
	calls_free(calls);
}

TEST(calls_whose_entry_or_exit_is_missing_are_paired_with_no_other)
{
	/* On the CPU of the last event before it. */
	const struct event gap = { .kind = EVENT_LOST, .cpu = 125 % 4 };
	struct calls *calls = calls_new();
	struct call call;

	REQUIRE(calls);
	REQUIRE(see(calls, EXIT, 5, 0xa, 0, 90, &call));
	CHECK(!call.entered && !call.timed);
	/* 0xb never returned; an entry at its depth takes its place. */
	CHECK(!see(calls, ENTRY, 5, 0xa, 0, 100, &call) && !see(calls, ENTRY, 5, 0xb, 1, 110, &call));
	CHECK(!see(calls, ENTRY, 5, 0xc, 1, 120, &call));
	REQUIRE(see(calls, EXIT, 5, 0xc, 1, 125, &call));
	CHECK(call.entered && call.lasted == 5);
	CHECK(!calls_see(calls, &gap, &call));
	REQUIRE(see(calls, EXIT, 5, 0xa, 0, 150, &call));
	CHECK(!call.entered);
	/* Depths that no kernel writes. */
	CHECK(!see(calls, ENTRY, 5, 0xa, INT32_MAX, 200, &call) && !see(calls, ENTRY, 5, 0xa, -7, 201, &call));
	CHECK(see(calls, EXIT, 5, 0xa, INT32_MAX, 202, &call) && !call.entered);
	CHECK(see(calls, EXIT, 5, 0xa, INT32_MIN, 203, &call) && !call.entered);
	calls_free(calls);
}

TEST(calls_are_broken_by_the_losses_of_the_cpus_where_their_task_was)
{
	const struct event gap = { .kind = EVENT_LOST, .cpu = 2 };
	struct calls *calls = calls_new();
	struct call call;

	REQUIRE(calls);
	/* Task 5 stays on CPU 0, task 6 comes from CPU 1 to CPU 2 after the loss there. */
	CHECK(!see(calls, ENTRY, 5, 0xa, 0, 100, &call) && !see(calls, ENTRY, 6, 0xb, 0, 101, &call));
	CHECK(!calls_see(calls, &gap, &call));
	REQUIRE(see(calls, EXIT, 5, 0xa, 0, 120, &call));
	CHECK(call.entered && call.lasted == 20);
	REQUIRE(see(calls, EXIT, 6, 0xb, 0, 122, &call));
	CHECK(!call.entered);
	CHECK(calls_left(calls).lost == 1 && !calls_left(calls).open);
	calls_free(calls);
}

static bool see_on(struct calls *calls, unsigned type, uint16_t cpu, int32_t pid, uint64_t func, uint32_t len,
		   struct call *ret)
{
	uint8_t data[20] = { 0 };
	const struct event event = {
		.ts = 100, .type = &types[type], .pid = pid, .cpu = cpu, .data = data, .len = len
	};

	memcpy(data + 8, &func, sizeof(func));
	return calls_see(calls, &event, ret);
}

TEST(calls_of_many_cpus_are_those_of_their_tasks)
{
	struct calls *calls = calls_new();
	struct call call;

	REQUIRE(calls);
	/* The idle tasks of all CPUs have the same PID. */
	for (uint16_t cpu = 0; cpu < 200; cpu++)
		CHECK(!see_on(calls, ENTRY, cpu, 0, 0x1000 + cpu, 20, &call));
	CHECK(calls_left(calls).open == 200);
	for (uint16_t cpu = 0; cpu < 200; cpu++) {
		REQUIRE(see_on(calls, EXIT, cpu, 0, 0x1000 + cpu, 20, &call));
		CHECK(call.entered && call.func == 0x1000u + cpu);
	}
	CHECK(!calls_left(calls).open && !calls_left(calls).dropped);
	/* In a record that is cut short, missing bytes read as 0. */
	CHECK(!see_on(calls, ENTRY, 1, 7, 0xa, 12, &call));
	REQUIRE(see_on(calls, EXIT, 1, 7, 0xa, 12, &call));
	CHECK(call.entered && !call.func);
	calls_free(calls);
}
