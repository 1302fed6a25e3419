// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static const char script[] = "0 1000000 0 sched_switch prev_comm=swapper/0 next_comm=sh next_pid=7\n"
			     "0 2000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			     "1 3000000 0 sched_switch prev_comm=swapper/1 next_comm=ls next_pid=8\n"
			     "0 lost 40\n"
			     "0 5000000 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper/0\n"
			     "1 9000000 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=swapper/1\n";

TEST(summary_tells_what_a_recording_holds)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &summary_analysis, NULL, NULL, script))
		return;
	CHECK(analysed_is(&analysed, "recording", "span", "value", "8.0 ms"));
	CHECK(analysed_is(&analysed, "recording", "CPUs with events", "value", "2"));
	CHECK(analysed_is(&analysed, "recording", "events", "value", "5"));
	/* The cell is "40, in 1 gaps" and CSV quotes it: the comparison ends at the comma. */
	CHECK(analysed_is(&analysed, "recording", "events lost", "value", "\"40"));
	CHECK(analysed_is(&analysed, "events", "sched:sched_switch", "count", "4"));
	CHECK(analysed_is(&analysed, "events", "sched:sched_waking", "count", "1"));
	analysed_end(&analysed);
}

TEST(summary_of_an_interval_counts_the_events_of_that_interval)
{
	struct analysed analysed;

	if (!analysed_from(&analysed, &summary_analysis, NULL, script, 2500000))
		return;
	CHECK(analysed_is(&analysed, "recording", "events", "value", "3"));
	CHECK(analysed_is(&analysed, "events", "sched:sched_switch", "count", "3"));
	CHECK(!analysed_is(&analysed, "events", "sched:sched_waking", "count", "1"));
	analysed_end(&analysed);
}

static void of_timerlat(struct loom *loom)
{
	loom_type(loom, "ftrace", "timerlat", "int seqnum; int context; u64 timer_latency", "\"\"");
	loom->settings[loom->nr_settings++] = (struct loom_setting){ "current_tracer", "timerlat\n" };
}

TEST(summary_has_what_a_latency_tracer_found_and_no_wakeups_of_latency)
{
	static const char sample[] = "0 13000 8 sched_waking common_flags=12 comm=x pid=9 target_cpu=0\n"
				     "0 14500 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=x "
				     "next_pid=9\n0 14700 9 timerlat seqnum=1 context=1 timer_latency=4700\n";
	struct analysed analysed;

	if (!analysed_begin(&analysed, &summary_analysis, NULL, of_timerlat, sample))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "4700", "late", "thread"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "looked at: 1 sample of timerlat"));
	CHECK(!strstr(buf_str(&analysed.findings.notes), "looked at: 1 wakeup"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &summary_analysis, NULL, NULL, script))
		return;
	for (size_t i = 0; i < analysed.findings.nr; i++)
		CHECK(!analysed.findings.items[i].more || strcmp(analysed.findings.items[i].more, "latency") != 0);
	analysed_end(&analysed);
}

TEST(summary_says_which_analysis_lacks_its_events)
{
	struct analysed analysed;
	const char *missing;

	if (!analysed_begin(&analysed, &summary_analysis, NULL, NULL,
			    "0 1000 7 irq_handler_entry irq=9 name=acpi\n0 3000 7 irq_handler_exit irq=9 ret=1\n"))
		return;
	CHECK(analysed_is(&analysed, "recording", "events lost", "value", "none"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "weft sched: "));
	CHECK(strstr(buf_str(&analysed.findings.notes), "weft syscalls: "));
	CHECK(strstr(buf_str(&analysed.findings.notes), "weft block: "));
	/* The line about missing events names each event that a summary records, once. */
	missing = buf_str(&analysed.findings.missing);
	CHECK(strstr(missing, "-e sched:sched_switch (") && strstr(missing, "-e raw_syscalls:sys_enter ("));
	CHECK(strstr(missing, "; 'weft record --for summary' records it all"));
	CHECK(!strstr(strstr(missing, "sched:sched_switch") + 1, "-e sched:sched_switch"));
	analysed_end(&analysed);
}

static void recorded(struct loom *loom)
{
	loom_type(loom, "sched", "sched_stat_wait", "int pid; u64 delay", "\"\"");
	loom_setting(loom, "set_event", "block:block_rq_issue\nblock:block_rq_complete\nirq:irq_handler_entry\n");
}

/* Both events that the analysis block requires. */
TEST(summary_says_of_what_was_recorded_and_did_not_occur_that_it_was)
{
	struct analysed analysed;
	const char *notes;

	if (!analysed_begin(&analysed, &summary_analysis, NULL, recorded, "0 1000 7 sched_stat_wait pid=7 delay=1\n"))
		return;
	notes = buf_str(&analysed.findings.notes);
	CHECK(strstr(notes, "weft block: there are no block requests among the events, although "
			    "block:block_rq_issue,block:block_rq_complete were recorded: none occurred"));
	CHECK(strstr(notes, "weft syscalls: there are no system calls among the events; record with -e raw_syscalls"));
	analysed_end(&analysed);
}

/* Two instances that recorded the same events: an event has one row, and in a course of intervals one sum. */
TEST(summary_counts_an_event_of_two_instances_in_one_row)
{
	struct analysed analysed = { .trace = NULL };
	struct fail fail = FAIL_INIT;
	size_t rows = 0;

	loom_init(&analysed.loom);
	loom_play(&analysed.loom, script);
	analysed.trace = loom_trace(&analysed.loom);
	reader_init(&analysed.reader);
	findings_init(&analysed.findings);
	REQUIRE(out_init(&analysed.lines, 1 << 12) && analysed.trace);
	CHECK(!reader_add_trace(&analysed.reader, analysed.trace, &fail) &&
	      !reader_add_trace(&analysed.reader, analysed.trace, &fail) &&
	      !reader_start(&analysed.reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	      !pass_init(&analysed.pass, &analysed.reader, &(struct pass_filter){ .nr_pids = 0 }, &fail) &&
	      !pass_add(&analysed.pass, &summary_analysis, NULL, &fail) && !pass_run(&analysed.pass, NULL, &fail) &&
	      !pass_finish(&analysed.pass, 0, &analysed.findings, &fail));
	CHECK(analysed_is(&analysed, "events", "sched:sched_switch", "count", "8"));
	CHECK(analysed_is(&analysed, "events", "sched:sched_waking", "count", "2"));
	for (size_t i = 0; i < analysed.findings.nr; i++)
		if (!strcmp(analysed.findings.items[i].name, "events"))
			rows = table_rows(&analysed.findings.items[i].table);
	CHECK(rows == 2);
	analysed_end(&analysed);
}
