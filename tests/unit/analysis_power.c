// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

#include <string.h>

static void types(struct loom *loom)
{
	loom_type(loom, "power", "cpu_idle", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "cpu_idle_miss", "u32 cpu_id; u32 state; u8 below", "\"\"");
	loom_type(loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "suspend_resume", "u64 action; int val; u8 start", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
}

TEST(power_tells_idle_states_and_what_hit_the_cpu_first)
{
	struct analysed analysed;

	/*
	 * An interrupt hits a halted CPU before the CPU says that it is awake. It hits a CPU that waits for a write to
	 * memory after that.
	 */
	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 0 cpu_idle state=1 cpu_id=0\n"
			    "0 4000 0 local_timer_entry vector=236\n"
			    "0 4100 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 4200 0 irq_handler_entry irq=9 name=disk\n"
			    "0 5000 0 cpu_idle state=2 cpu_id=0\n"
			    "0 6000 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 6001 0 cpu_idle_miss cpu_id=0 state=2 below=1\n"
			    "0 6010 0 irq_handler_entry irq=9 name=disk\n"
			    "0 6020 0 local_timer_entry vector=236\n"
			    "0 11000 0 cpu_idle_miss cpu_id=0 state=2\n"))
		return;
	CHECK(analysed_is(&analysed, "cpus", "0", "idle", "4100") &&
	      analysed_is(&analysed, "cpus", "0", "idle_percent", "41.00"));
	CHECK(analysed_is(&analysed, "cpus", "0", "wakeups", "2") &&
	      analysed_is(&analysed, "cpus", "0", "too_deep", "1"));
	CHECK(analysed_is(&analysed, "cpus", "0", "too_shallow", "1"));
	CHECK(analysed_is(&analysed, "wakeups", "vector local_timer", "wakeups", "1") &&
	      analysed_is(&analysed, "wakeups", "irq 9 disk", "wakeups", "1"));
	CHECK(analysed.findings.nr_worst == 1 && analysed.findings.worst[0].lasted == 3100 &&
	      analysed.findings.worst[0].to == 4100);
	CHECK_STR(buf_str(&analysed.findings.cut), "");
	analysed_end(&analysed);
}

TEST(power_adds_up_frequencies_that_any_cpu_tells_and_steps_of_suspending)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 7 cpu_frequency state=800000 cpu_id=1\n"
			    "1 3000 7 cpu_frequency state=2000000 cpu_id=1\n"
			    "0 3500 7 suspend_resume action=0x10 start=1\n"
			    "0 4500 7 suspend_resume action=0x10 start=0\n"
			    "1 9000 7 cpu_frequency state=2000000 cpu_id=1\n"))
		return;
	CHECK(analysed.findings.nr >= 2 && analysed_is(&analysed, "suspend", "0x10", "total", "1000"));
	/* The rows of a map have no order. After sorting, the longest is first. */
	CHECK(!findings_arrange(&analysed.findings, &(struct findings_options){ .top = UINT64_MAX }, NULL));
	CHECK(analysed_is(&analysed, "frequencies", "1", "khz", "2000000") &&
	      analysed_is(&analysed, "frequencies", "1", "total", "6000"));
	CHECK(analysed_is(&analysed, "frequencies", "1", "percent", "75.00"));
	/* The trace has no event of idle states, so the analysis says nothing about them. */
	CHECK(analysed_is(&analysed, "cpus", "1", "idle", "-") && analysed_is(&analysed, "cpus", "1", "wakeups", "-") &&
	      analysed_is(&analysed, "cpus", "1", "idle_percent", "-"));
	for (size_t i = 0; i < analysed.findings.nr; i++)
		CHECK(strcmp(analysed.findings.items[i].name, "states") != 0 &&
		      strcmp(analysed.findings.items[i].name, "wakeups") != 0);
	analysed_end(&analysed);
}

TEST(power_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 2000 0 cpu_idle state=1 cpu_id=0\n"
			    "0 lost 3\n"
			    "0 3000 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 4000 0 cpu_idle state=1 cpu_id=0\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut),
		  "1 stay in idle that began before the start, 1 stay in idle at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "1 stay in idle, 1 gap");
	analysed_end(&analysed);
}
