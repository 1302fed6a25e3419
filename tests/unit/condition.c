// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/flight/condition.h"

#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/flight/watch_kind_internal.h"
#include "lib/meaning/follow/pairs.h"
#include "tests/unit/test.h"

static void refuses(const char *text, const char *message)
{
	struct condition condition;
	struct fail fail = FAIL_INIT;

	if (!CHECK(condition_parse(text, &condition, &fail)))
		condition_release(&condition);
	CHECK_STR(fail.text, message);
}

TEST(condition_of_an_event_has_its_filter_and_its_name)
{
	struct condition condition;

	REQUIRE(!condition_parse("event:sched:sched_switch if prev_prio < 100", &condition, NULL));
	CHECK_STR(condition.event, "sched:sched_switch");
	CHECK_STR(condition.filter, "prev_prio < 100");
	CHECK_STR(condition.name, "sched_switch");
	condition_release(&condition);
	REQUIRE(!condition_parse("slow=event:sched:sched_switch", &condition, NULL));
	CHECK(!condition.filter);
	CHECK_STR(condition.name, "slow");
	condition_release(&condition);
}

TEST(condition_of_an_exit_or_a_signal_is_an_event_with_a_filter)
{
	struct condition condition;

	REQUIRE(!condition_parse("exit:curl status==7", &condition, NULL));
	CHECK_STR(condition.event, "syscalls:sys_enter_exit_group");
	CHECK_STR(condition.filter, "comm == \"curl\" && error_code == 7");
	CHECK_STR(condition.name, "exit-curl");
	condition_release(&condition);
	REQUIRE(!condition_parse("signal:SIGSEGV", &condition, NULL));
	CHECK_STR(condition.event, "signal:signal_generate");
	CHECK_STR(condition.filter, "sig == 11");
	condition_release(&condition);
}

TEST(condition_of_a_latency_has_its_events_and_its_bound)
{
	struct condition condition;

	REQUIRE(!condition_parse("latency:wakeup>5ms if next_prio < 100", &condition, NULL));
	CHECK_STR(condition.pair->end, "sched:sched_switch");
	CHECK_STR(condition.filter, "next_prio < 100");
	CHECK_STR(condition.name, "wakeup");
	CHECK_STR(condition.pair->match, "pid=next_pid");
	CHECK(condition.longer_ns == 5000000);
	condition_release(&condition);
	refuses("latency:wakup>5ms", "latencies: wakeup, softirq, irq, block, syscall, lock; did you mean 'wakeup'?\n"
				     "  latency:wakup>5ms\n          ^");
	refuses("latency:irq=5ms", "then comes >TIME, such as >5ms\n  latency:irq=5ms\n             ^");
}

TEST(condition_of_a_latency_may_be_measured_by_weft)
{
	struct condition condition;

	REQUIRE(!condition_parse("latency:wakeup>5ms streamed if next_prio < 100", &condition, NULL));
	CHECK(condition.streamed);
	CHECK_STR(condition.filter, "next_prio < 100");
	condition_release(&condition);
	REQUIRE(!condition_parse("latency:irq>1ms streamed", &condition, NULL));
	CHECK(condition.streamed && !condition.filter);
	condition_release(&condition);
	REQUIRE(!condition_parse("latency:irq>1ms", &condition, NULL));
	CHECK(!condition.streamed);
	condition_release(&condition);
	refuses("latency:irq>1ms stremed",
		"here comes 'if FILTER', or nothing\n  latency:irq>1ms stremed\n                  ^");
}

TEST(condition_may_be_about_the_tasks_of_somebody)
{
	static const struct {
		const char *text, *word, *field, *filter;
		enum who_part part;
	} table[] = {
		{ "event:sched:sched_switch of unit:nginx if prev_prio < 100", "nginx", NULL, "prev_prio < 100",
		  WHO_UNIT },
		{ "exit:curl of pod:web-1", "web-1", NULL, "comm == \"curl\" && error_code != 0", WHO_POD },
		{ "exit:curl status==7 of process:77", "77", NULL, "comm == \"curl\" && error_code == 7", WHO_PROCESS },
		{ "signal:SEGV of container:web*", "web*", "pid", "sig == 11", WHO_CONTAINER },
		{ "signal:SEGV sh of cgroup:/a/b", "/a/b", "pid", "sig == 11 && comm == \"sh\"", WHO_CGROUP },
		{ "latency:wakeup>5ms of unit:a.service if next_prio < 9", "a.service", "next_pid", "next_prio < 9",
		  WHO_UNIT },
		{ "latency:syscall>5ms streamed of unit:x", "x", NULL, NULL, WHO_UNIT },
		{ "mark:a request > 5ms of process:nginx", "nginx", NULL, NULL, WHO_PROCESS },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		struct condition condition;
		struct fail fail = FAIL_INIT;

		if (!CHECK(!condition_parse(table[i].text, &condition, &fail))) {
			CHECK_STR(fail.text, "");
			continue;
		}
		CHECK_STR(condition.of.word, table[i].word);
		CHECK(condition.of.part == table[i].part);
		CHECK(!condition.of_field == !table[i].field);
		if (condition.of_field && table[i].field)
			CHECK_STR(condition.of_field, table[i].field);
		CHECK(!condition.filter == !table[i].filter);
		if (condition.filter && table[i].filter)
			CHECK_STR(condition.filter, table[i].filter);
		condition_release(&condition);
	}
	refuses("exit:curl of user:root", "'of' is followed by process, unit, container, pod or cgroup, as in of "
					  "unit:nginx\n  exit:curl of user:root\n               ^");
	refuses("exit:curl of unit",
		"whose? Give a name, as in of unit:nginx\n  exit:curl of unit\n                   ^");
	refuses("latency:irq>1ms of unit:a", "'of' is for wakeup, syscall and lock: an interrupt or a request is no "
					     "task's\n  latency:irq>1ms of unit:a\n                           ^");
}

TEST(condition_of_a_latency_is_not_met_by_a_time_below_zero)
{
	static const struct {
		const char *text, *filter;
	} table[] = {
		{ "latency:wakeup>5ms", "lat > 5000000 && lat < 9223372036854775808" },
		{ "latency:block>1s if dev == 1 || dev == 2",
		  "lat > 1000000000 && lat < 9223372036854775808 && (dev == 1 || dev == 2)" },
		{ "latency:syscall>1us", "lat > 1000 && lat < 9223372036854775808" },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		struct condition condition;
		cleanup_free char *filter = NULL;

		REQUIRE(!condition_parse(table[i].text, &condition, NULL));
		filter = watch_latency_filter(&condition);
		condition_release(&condition);
		REQUIRE(filter);
		CHECK_STR(filter, table[i].filter);
	}
}

TEST(condition_of_noise_has_its_tracer_and_whole_microseconds)
{
	struct condition condition;

	REQUIRE(!condition_parse("timerlat>50us", &condition, NULL));
	CHECK_STR(condition.noise->tracer, "timerlat");
	CHECK_STR(condition.noise->bound, "osnoise/stop_tracing_total_us");
	CHECK_STR(condition.name, "timerlat");
	CHECK(condition.longer_ns == 50000);
	condition_release(&condition);
	REQUIRE(!condition_parse("slow=osnoise>1ms", &condition, NULL));
	CHECK_STR(condition.noise->bound, "osnoise/stop_tracing_us");
	CHECK_STR(condition.name, "slow");
	condition_release(&condition);
	refuses("osnoise>1us", "this time is from 5.0 us to 1h 00m\n  osnoise>1us\n          ^");
	refuses("timerlat>1500ns", "the kernel takes whole microseconds here\n  timerlat>1500ns\n           ^");
	refuses("timerlat:50us", "'>' is missing after 'timerlat'\n  timerlat:50us\n          ^");
	refuses("latency>50us", "a colon is missing after 'latency'\n  latency>50us\n         ^");
	refuses("timerlat>", "then comes TIME, such as 50us\n  timerlat>\n           ^");
	refuses("timerlat>5us if x", "nothing more is expected here\n  timerlat>5us if x\n               ^");
}

TEST(condition_of_noise_is_met_by_the_line_that_is_above_its_bound)
{
	static const struct {
		const char *text, *line;
		bool counts;
	} table[] = {
		{ "timerlat>50us", " x-9 [001] ....1  2.7: #1387  context thread timer_latency     50001 ns", true },
		{ "timerlat>50us", " x-9 [001] ....1  2.7: #1387  context thread timer_latency     49999 ns", false },
		{ "timerlat>50us", " x-9 [001] d.h1.  2.7: #1387  context    irq timer_latency     70000 ns", false },
		{ "osnoise>50us", " x-9 [001] ....1  2.7: sample_threshold: start 2.7 duration 60000 ns interference 1",
		  true },
		{ "osnoise>50us", " x-9 [001] ....1  2.7: sample_threshold: start 2.7 duration 6000 ns interference 1",
		  false },
		{ "osnoise>50us", "CPU:1 [LOST 12 EVENTS]", false },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		struct condition condition;
		const struct watch watch = { .condition = &condition };

		REQUIRE(!condition_parse(table[i].text, &condition, NULL));
		CHECK(watch_noise_counts(&watch, table[i].line, strlen(table[i].line)) == table[i].counts);
		condition_release(&condition);
	}
}

TEST(condition_of_pressure_has_the_kernels_file_and_times)
{
	struct condition condition;

	REQUIRE(!condition_parse("psi:io full 150ms/1s", &condition, NULL));
	CHECK_STR(condition.text, "/proc/pressure/io");
	CHECK(condition.full && condition.stall_ns == 150000000 && condition.window_ns == 1000000000);
	CHECK_STR(condition.name, "psi-io");
	condition_release(&condition);
}

TEST(condition_of_a_command_has_its_text_and_period)
{
	struct condition condition;

	REQUIRE(!condition_parse("command:'test -e /run/ok' every 5s", &condition, NULL));
	CHECK_STR(condition.text, "test -e /run/ok");
	CHECK(condition.every_ns == UINT64_C(5000000000));
	condition_release(&condition);
}

TEST(condition_on_a_mark_has_a_glob_of_names_with_blanks_and_a_time)
{
	struct condition condition;

	REQUIRE(!condition_parse("mark:a > b* > 20ms", &condition, NULL));
	CHECK(condition.kind == CONDITION_MARK);
	CHECK_STR(condition.text, "a > b*");
	CHECK_STR(condition.name, "mark-a-b");
	CHECK(condition.longer_ns == 20000000);
	condition_release(&condition);
	REQUIRE(!condition_parse("slow=mark:parse>1us", &condition, NULL));
	CHECK_STR(condition.text, "parse");
	CHECK_STR(condition.name, "slow");
	CHECK(condition.longer_ns == 1000);
	condition_release(&condition);
	refuses("mark:parse", "a mark is NAME>TIME, such as parse*>20ms\n  mark:parse\n       ^");
	refuses("mark: >1s", "which mark? Give a name or a glob such as '*'\n  mark: >1s\n        ^");
	refuses("mark:x>", "then comes TIME, such as 20ms\n  mark:x>\n         ^");
}

TEST(condition_that_is_wrong_is_shown_with_a_caret)
{
	refuses("evnt:x",
		"a condition begins with event:, exit:, signal:, latency:, mark:, timerlat>, osnoise>, psi:, kmsg: or "
		"command:; did you mean 'event' or 'exit'?\n  evnt:x\n  ^");
	refuses("event:sched:*", "a condition has one event, not a pattern\n  event:sched:*\n        ^");
	refuses("event:sched:x when y",
		"here comes 'if FILTER', or nothing\n  event:sched:x when y\n                ^");
	refuses("signal:SEGW", "no signal 'SEGW'; did you mean 'SEGV'?\n  signal:SEGW\n         ^");
	refuses("psi:cpu most 1ms/1s", "then comes 'some' or 'full'\n  psi:cpu most 1ms/1s\n          ^");
	refuses("command:'x every 5s", "the second quote is missing\n  command:'x every 5s\n           ^");
	refuses("exit:a status=3", "'status' needs == or !=, and a number\n  exit:a status=3\n               ^");
	refuses("kmsg:a++",
		"an expression here has no {N}, no repetition of a repetition, and at most 6 parentheses in one "
		"another\n  kmsg:a++\n        ^");
	refuses("kmsg:", "which line? Give a regular expression, or lockup, hung_task, oom, oops\n  kmsg:\n       ^");
}

TEST(hit_has_the_time_of_the_line_and_not_of_a_name_in_it)
{
	static const char line[] = "  [9] 1.5-12  [001] d..2.  2210.456494: sched_switch: [x] y 3.000001: z";
	uint64_t time = 0;

	CHECK(watch_line_time(line, strlen(line), &time));
	CHECK(time == UINT64_C(2210456494000));
	CHECK(!watch_line_time("CPU:1 [LOST 3 EVENTS]", 21, &time));
}

TEST(condition_of_a_unit_is_refused_with_what_the_unit_can_do)
{
	refuses("unit:nginx.service failed",
		"a unit fires a flight by itself: OnFailure=weft-dump@%n.service in the unit, see weft-flight(1)\n"
		"  unit:nginx.service failed\n  ^");
}
