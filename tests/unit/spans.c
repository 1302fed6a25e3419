// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/golden.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static const struct context context = { .abi = { .long_size = 8 } };

static const struct format enter_format = { .system = "syscalls", .name = "sys_enter_read" };
static const struct format exit_format = { .system = "syscalls", .name = "sys_exit_read" };
static const struct format irq_entry_format = { .system = "irq", .name = "softirq_entry" };
static const struct format irq_exit_format = { .system = "irq", .name = "softirq_exit" };

static struct event_type types[] = {
	{ .index = 0, .format = &enter_format },
	{ .index = 1, .format = &exit_format },
	{ .index = 2, .format = &irq_entry_format },
	{ .index = 3, .format = &irq_exit_format },
};

enum { ENTER, EXIT, IRQ_ENTRY, IRQ_EXIT };

static bool see(struct spans *spans, unsigned type, int32_t pid, uint16_t cpu, uint64_t ts, struct span *ret)
{
	const struct event event = { .ts = ts, .type = &types[type], .pid = pid, .cpu = cpu };

	return spans_see(spans, &event, ret);
}

TEST(spans_remember_the_system_call_of_every_task_however_many_there_are)
{
	enum { TASKS = 20000 };
	struct spans *spans = spans_new(&context);
	struct span span;

	REQUIRE(spans);
	for (int32_t pid = 1; pid <= TASKS; pid++)
		CHECK(!see(spans, ENTER, pid, 0, (uint64_t)pid, &span));
	for (int32_t pid = 1; pid <= TASKS; pid++) {
		REQUIRE(see(spans, EXIT, pid, 3, 100000, &span));
		REQUIRE(span.kind == SPAN_CALL && span.start == (uint64_t)pid && span.lasted == 100000 - (uint64_t)pid);
	}
	CHECK(!see(spans, EXIT, 1, 0, 100001, &span));
	spans_free(spans);
}

TEST(spans_pair_an_entry_with_the_exit_on_its_cpu_and_a_gap_hides_both)
{
	const struct event gap = { .kind = EVENT_LOST, .cpu = 2000 };
	struct spans *spans = spans_new(&context);
	struct span span;

	REQUIRE(spans);
	CHECK(!see(spans, IRQ_ENTRY, 1, 2000, 10, &span) && !see(spans, IRQ_ENTRY, 1, 7, 20, &span));
	REQUIRE(see(spans, IRQ_EXIT, 2, 2000, 15, &span));
	CHECK(span.kind == SPAN_PAIR && span.lasted == 5 && span.name_len == 7 && !memcmp(span.name, "softirq", 7));
	CHECK(!see(spans, IRQ_ENTRY, 1, 2000, 30, &span) && !spans_see(spans, &gap, &span));
	CHECK(!see(spans, IRQ_EXIT, 1, 2000, 40, &span));
	REQUIRE(see(spans, IRQ_EXIT, 1, 7, 40, &span));
	CHECK(span.lasted == 20);
	spans_free(spans);
}

/* A task that is switched out has been on the CPU since it was switched in. The kernel's text has both events. */
TEST(spans_tell_how_long_a_task_had_the_cpu)
{
	unsigned spans_seen = 0, switches = 0;
	struct spans *spans;
	struct golden golden;
	struct event event;
	struct span span;

	REQUIRE(golden_open(&golden, "6.12-events-sched"));
	/* The bytes have the traced machine's order. */
	spans = spans_new(golden.context);
	REQUIRE(spans);
	while (events_next(golden.events, &event, NULL) > 0)
		spans_seen += spans_see(spans, &event, &span) && span.kind == SPAN_ON_CPU;
	while (golden_line(&golden, "sched_switch: "))
		switches++;
	/* All switches but the first on each of the two CPUs. */
	CHECK(spans_seen > 10 && spans_seen == switches - 2);
	golden_close(&golden);
	spans_free(spans);
}

/* The length of each pair, in a line: "9000: irq_handler 8000". */
static void pairs_are(const char *script, const char *text)
{
	char told[512] = "";
	struct spans *spans;
	struct reader reader;
	struct trace *trace;
	struct event event;
	struct span span;
	struct loom loom;
	size_t len = 0;

	loom_init(&loom);
	loom_type(&loom, "irq", "softirq_entry", "u32 vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "u32 vec", "\"\"");
	loom_type(&loom, "block", "block_rq_issue", "u32 dev; u64 sector", "\"\"");
	loom_type(&loom, "block", "block_rq_complete", "u32 dev; u64 sector", "\"\"");
	loom_type(&loom, "lock", "contention_begin", "u64 lock_addr; u32 flags", "\"\"");
	loom_type(&loom, "lock", "contention_end", "u64 lock_addr; int ret", "\"\"");
	loom_type(&loom, "vmscan", "scan_begin", "int order", "\"\"");
	loom_type(&loom, "vmscan", "scan_end", "int order", "\"\"");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	REQUIRE(trace && !reader_add_trace(&reader, trace, NULL) &&
		!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
	spans = spans_new(reader.buffers[0].context);
	REQUIRE(spans);
	while (reader_next(&reader, &event, NULL) > 0)
		if (spans_see(spans, &event, &span) && span.kind == SPAN_PAIR)
			len += (size_t)snprintf(told + len, sizeof(told) - len, "%" PRIu64 ": %.*s %" PRIu64 "\n",
						event.ts, (int)span.name_len, span.name, span.lasted);
	CHECK_STR(told, text);
	CHECK(!spans_starved(spans));
	spans_free(spans);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

/* A handler interrupts a softirq, which has interrupted another handler. */
TEST(spans_of_interrupts_inside_one_another_pair_like_brackets)
{
	pairs_are("0 1000 7 irq_handler_entry irq=5 name=disk\n"
		  "0 2000 7 softirq_entry vec=3\n"
		  "0 3000 7 irq_handler_entry irq=6 name=eth\n"
		  "0 3400 7 irq_handler_exit irq=6 ret=1\n"
		  "0 5000 7 softirq_exit vec=3\n"
		  "0 9000 7 irq_handler_exit irq=5 ret=1\n",
		  "3400: irq_handler 400\n5000: softirq 3000\n9000: irq_handler 8000\n");
}

TEST(spans_of_the_same_sector_of_two_disks_are_two_requests)
{
	pairs_are("0 1000 7 block_rq_issue dev=0x800010 sector=64\n"
		  "0 2000 7 block_rq_issue dev=0x800020 sector=64\n"
		  "1 4000 0 block_rq_complete dev=0x800010 sector=64\n"
		  "1 4500 0 block_rq_complete dev=0x800020 sector=64\n"
		  "1 5000 0 block_rq_complete dev=0x800020 sector=64\n",
		  "4000: block_rq 3000\n4500: block_rq 2500\n");
}

/* While a task waits for a lock, an interrupt waits for another one. */
TEST(spans_of_a_wait_for_a_lock_inside_another_are_each_locks_own)
{
	pairs_are("0 1000 7 contention_begin lock_addr=0xa0\n"
		  "0 2000 7 contention_begin lock_addr=0xb0\n"
		  "0 2300 7 contention_end lock_addr=0xb0\n"
		  "1 6000 7 contention_end lock_addr=0xa0\n",
		  "2300: contention 300\n6000: contention 5000\n");
}

/* A task spins for a mutex, and then sleeps: as weft locks counts it, that is one wait. Its next one is another. */
TEST(spans_of_a_wait_for_a_lock_that_begins_twice_last_from_its_first_begin)
{
	pairs_are("0 1000 7 contention_begin lock_addr=0xa0 flags=0x21\n"
		  "0 2000 7 contention_begin lock_addr=0xa0 flags=0x20\n"
		  "0 5000 7 contention_end lock_addr=0xa0\n"
		  "0 7000 7 contention_begin lock_addr=0xa0 flags=0x21\n"
		  "0 7500 7 contention_end lock_addr=0xa0\n",
		  "5000: contention 4000\n7500: contention 500\n");
}

/* What was lost on one CPU hides its interrupts, and the end of what ends anywhere. A guess by names is no span. */
TEST(spans_forget_pairs_that_may_have_ended_in_a_gap)
{
	pairs_are("0 1000 7 irq_handler_entry irq=5 name=disk\n"
		  "0 1100 7 block_rq_issue dev=1 sector=64\n"
		  "0 1200 7 scan_begin order=1\n"
		  "1 2000 8 softirq_entry vec=3\n"
		  "1 lost 2\n"
		  "1 3000 8 softirq_exit vec=3\n"
		  "0 4000 7 irq_handler_exit irq=5 ret=1\n"
		  "0 4100 7 block_rq_complete dev=1 sector=64\n"
		  "0 4200 7 scan_end order=1\n",
		  "4000: irq_handler 3000\n");
}

/* Of other tasks, the switches between one and the next are not recorded: the last one seems to run on. */
TEST(spans_on_a_cpu_are_those_of_the_tasks_of_a_pid_filter)
{
	static const char script[] = "0 1000 7 sched_switch prev_pid=7 prev_state=1 next_pid=20\n"
				     "0 9000 20 sched_switch prev_pid=20 prev_state=0 next_pid=7\n"
				     "0 9500 7 sched_switch prev_pid=7 prev_state=1 next_pid=0\n"
				     "0 9600 0 sched_switch prev_pid=0 prev_state=0 next_pid=7\n";
	uint64_t lasted = 0, nr = 0;
	struct spans *spans;
	struct reader reader;
	struct trace *trace;
	struct event event;
	struct span span;
	struct loom loom;

	loom_init(&loom);
	loom_setting(&loom, "set_event", "sched:sched_switch\n");
	loom_setting(&loom, "set_event_pid", "7\n");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	REQUIRE(trace && !reader_add_trace(&reader, trace, NULL) &&
		!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
	spans = spans_new(reader.buffers[0].context);
	REQUIRE(spans);
	while (reader_next(&reader, &event, NULL) > 0)
		if (spans_see(spans, &event, &span)) {
			nr++;
			lasted += span.lasted;
		}
	CHECK(nr == 1 && lasted == 500);
	CHECK(!spans_starved(spans));
	spans_free(spans);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}
