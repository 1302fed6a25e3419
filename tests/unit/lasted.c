// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/query/duration_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/query/selection.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* sh runs for 2 ms, ls for 5 ms. An interrupt lasts 30 us; an earlier one lasts 4 us. */
static const char script[] = "0 1000000 0 sched_switch prev_comm=swapper/0 next_comm=sh next_pid=7\n"
			     "0 1100000 7 irq_handler_entry irq=9 name=acpi\n"
			     "0 1104000 7 irq_handler_exit irq=9 ret=1\n"
			     "0 1200000 7 irq_handler_entry irq=10 name=eth0\n"
			     "0 1230000 7 irq_handler_exit irq=10 ret=1\n"
			     "0 3000000 7 sched_switch prev_comm=sh prev_pid=7 next_comm=ls next_pid=8\n"
			     "0 8000000 8 sched_switch prev_comm=ls prev_pid=8 next_comm=swapper/0 next_pid=0\n"
			     "1 9000000 9 irq_handler_entry irq=9 name=acpi\n"
			     "1 lost 3\n"
			     "1 9900000 9 irq_handler_exit irq=9 ret=1\n";

/* The times in us of the events that the selection's filter keeps, each followed by a blank. */
static void kept(struct context *context, const char *filter, bool negated, struct fail *fail, char *into, size_t size)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct selection *selection = NULL;
	struct events *events = NULL;
	struct event event;
	size_t len = 0;

	*into = '\0';
	REQUIRE(!selection_new(context, &selection, NULL) && !events_open(context, &options, &events, NULL));
	if (!selection_add_filter(selection, filter, negated, fail))
		while (len < size && events_next(events, &event, NULL) > 0)
			if (selection_keep(selection, &event) && event.kind == EVENT_RECORD)
				len += (size_t)snprintf(into + len, size - len, "%llu ",
							(unsigned long long)event.ts / 1000);
	events_free(events);
	selection_free(selection);
}

TEST(duration_filters_keep_what_ends_something_that_lasted_so_long)
{
	static const struct {
		const char *filter, *want, *said;
	} table[] = {
		{ "duration > 10us", "1230 3000 8000 ", "" },
		{ "duration < 10us", "1104 ", "" },
		{ "duration >= 4us", "1104 1230 3000 8000 ", "" },
		{ "duration <= 30us", "1104 1230 ", "" },
		{ "irq_handler_exit: duration > 1us", "1104 1230 ", "" },
		{ "sched_switch: duration > 2500us && prev_pid == 8", "8000 ", "" },
		{ "duration > 1us && irq == 10", "1230 ", "" },
		{ "duration > 10000s", "", "" },
		{ "duration > 1us && nosuch == 10", "", "nosuch" },
	};
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	for (size_t i = 0; i < array_size(table); i++) {
		struct fail fail = FAIL_INIT;
		char got[256];
		bool same, said;

		kept(context, table[i].filter, false, &fail, got, sizeof(got));
		same = CHECK_STR(got, table[i].want);
		said = CHECK(*table[i].said ? strstr(fail.text, table[i].said) != NULL : !*fail.text);
		if (!same || !said)
			fprintf(stderr, "%s: %s\n", table[i].filter, fail.text);
	}
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(duration_is_asked_only_with_a_unit)
{
	CHECK(duration_asked("duration > 1ms") && duration_asked("sys_exit_read: duration >= 5us") &&
	      duration_asked("a == 1 && duration<1s"));
	CHECK(!duration_asked("duration > 1000") && !duration_asked("comm == \"duration > 1ms\"") &&
	      !duration_asked("durations > 1ms"));
}

TEST(duration_of_a_clock_that_counts_no_time_is_refused)
{
	struct durations *durations = NULL;
	struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom.clock = "counter";
	loom_play(&loom, "0 1 7 irq_handler_exit irq=1\n");
	trace = loom_trace(&loom);
	REQUIRE(trace && !context_new(trace, 0, &context, NULL));
	CHECK(durations_new(context, &durations, &fail) == -EINVAL);
	CHECK_STR(fail.text, "the clock 'counter' does not count time, so there are no durations");
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}
