// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analysed.h"

#include <string.h>

#include "lib/answers/sched/sched.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/table.h"
#include "tests/unit/test.h"

/* Recordings of some tasks, and of some CPUs: what the tables say of the rest. */

static const char seven_and_others[] =
	"0 1000 7 sched_waking pid=20 target_cpu=1\n"
	"0 2000 7 sched_switch prev_comm=seven prev_pid=7 prev_state=1 next_comm=twenty next_pid=20\n"
	"0 9000 20 sched_switch prev_comm=twenty prev_pid=20 prev_state=0 next_comm=seven next_pid=7\n"
	"0 9500 7 sched_switch prev_comm=seven prev_pid=7 prev_state=1 next_pid=0\n"
	"0 9900 0 sched_waking comm=seven pid=7 target_cpu=0\n";

static void only_seven(struct loom *loom)
{
	loom_setting(loom, "set_event", "sched:sched_switch\n");
	loom_setting(loom, "weft/event_pids", "7\n");
}

/* Whether the first table has a row of a task. */
static bool has_task(const struct findings *findings, const char *comm)
{
	const struct table *table = &findings->items[0].table;

	for (size_t row = 0; row < table_rows(table); row++) {
		const char *text = table_text_at(table, row, 0);

		if (text && !strcmp(text, comm))
			return true;
	}
	return false;
}

TEST(sched_has_rows_of_the_tasks_of_a_pid_filter_only)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, NULL, only_seven, seven_and_others))
		return;
	CHECK(!has_task(&analysed.findings, "twenty"));
	CHECK(analysed_is(&analysed, "tasks", "seven", "run_ns", "1500"));
	CHECK(analysed_is(&analysed, "tasks", "seven", "sleep_ns", "7400"));
	CHECK(analysed_is(&analysed, "tasks", "seven", "wait_beside_idle_ns", ""));
	CHECK(analysed_is(&analysed, "cpus", "0", "tasks_ns", "1500"));
	CHECK(analysed_is(&analysed, "cpus", "0", "idle_ns", "0"));
	CHECK(analysed_is(&analysed, "cpus", "0", "unknown_ns", "7400"));
	CHECK(strstr(buf_str(&analysed.findings.notes),
		     "only the tasks of a PID filter were recorded (set_event_pid 7; "
		     "record with -c"));
	analysed_end(&analysed);
}

static void only_seven_of_two(struct loom *loom)
{
	only_seven(loom);
	loom_setting(loom, "weft/tasks", "7 7 1 50 0 7 1\tseven\t/bin/seven\n20 20 1 50 0 20 1\ttwenty\t/bin/twenty\n");
}

TEST(rows_of_tasks_together_have_nothing_of_what_a_pid_filter_left_out)
{
	static const struct sched_options by_program = { .rows = { .by = 1 + WHO_PROGRAM } };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, &by_program, only_seven_of_two, seven_and_others))
		return;
	CHECK(!has_task(&analysed.findings, "twenty"));
	CHECK(analysed_is(&analysed, "groups", "seven", "run_ns", "1500"));
	analysed_end(&analysed);
}

static void one_cpu(struct loom *loom)
{
	loom_setting(loom, "tracing_cpumask", "2\n");
	loom_setting(loom, "weft/online", "0-1\n");
}

static void both_cpus(struct loom *loom)
{
	loom_setting(loom, "tracing_cpumask", "f,00000003\n");
	loom_setting(loom, "weft/online", "0-1\n");
}

TEST(sched_says_if_only_some_cpus_were_recorded)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, NULL, one_cpu, seven_and_others))
		return;
	CHECK(strstr(buf_str(&analysed.findings.notes), "1 of 2 CPUs were recorded (tracing_cpumask 2)"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &sched_analysis, NULL, both_cpus, seven_and_others))
		return;
	CHECK(!strstr(buf_str(&analysed.findings.notes), "CPUs were recorded"));
	analysed_end(&analysed);
}

static void filtered_events(struct loom *loom)
{
	loom_setting(loom, "set_event", "sched:sched_switch\nsched:sched_stat_wait\nsched:sched_waking\n");
	loom_setting(loom, "weft/filters",
		     "nonsense\nsched:sched_stat_wait delay > 5\nsched:sched_switch prev_pid != 0\n"
		     "sched:sched_waking pid > 1\nsched:sched_wakeup pid > 1\n");
}

TEST(sched_names_events_that_a_filter_left_out)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, NULL, filtered_events, seven_and_others))
		return;
	CHECK(strstr(
		buf_str(&analysed.findings.notes),
		"recorded with a filter: sched:sched_switch (prev_pid != 0), sched:sched_waking (pid > 1), ...: "));
	CHECK(!strstr(buf_str(&analysed.findings.notes), "sched_stat_wait"));
	analysed_end(&analysed);
}
