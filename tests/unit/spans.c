// SPDX-License-Identifier: GPL-2.0-only
#include "lib/follow/spans.h"

#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"
#include "lib/schema/format.h"
#include "lib/trace/trace.h"
#include "tests/unit/golden.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

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
