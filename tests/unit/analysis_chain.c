// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/answers/sched/sched.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom->version = 6;
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
}

/*
 * The disk's interrupt wakes a at 2000, which runs at 3000 and wakes b at 4000; b runs at 5000 and wakes c at 6000,
 * which runs at 7000. Then c and b wake each other.
 */
#define STORY                                                                                                      \
	"0 1000 0 sched_switch prev_comm=x prev_pid=1 prev_prio=120 prev_state=1 next_comm=swapper/0 next_pid=0\n" \
	"0 1500 0 irq_handler_entry irq=9 name=disk\n"                                                             \
	"0 2000 0 sched_waking common_flags=8 comm=a pid=7 prio=50 target_cpu=0\n"                                 \
	"0 2500 0 irq_handler_exit irq=9 ret=1\n"                                                                  \
	"0 3000 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=a next_pid=7 next_prio=50\n"  \
	"0 4000 7 sched_waking comm=b pid=8 prio=120 target_cpu=0\n"                                               \
	"0 5000 7 sched_switch prev_comm=a prev_pid=7 prev_prio=50 prev_state=1 "                                  \
	"next_comm=b next_pid=8 next_prio=120\n"                                                                   \
	"0 6000 8 sched_waking comm=c pid=9 prio=120 target_cpu=0\n"                                               \
	"0 7000 8 sched_switch prev_comm=b prev_pid=8 prev_prio=120 prev_state=1 "                                 \
	"next_comm=c next_pid=9 next_prio=120\n"                                                                   \
	"0 8000 9 sched_waking comm=b pid=8 prio=120 target_cpu=0\n"                                               \
	"0 9000 9 sched_switch prev_comm=c prev_pid=9 prev_prio=120 prev_state=1 "                                 \
	"next_comm=b next_pid=8 next_prio=120\n"                                                                   \
	"0 9500 8 sched_waking comm=c pid=9 prio=120 target_cpu=0\n"                                               \
	"0 9900 8 sched_switch prev_comm=b prev_pid=8 prev_prio=120 prev_state=1 "                                 \
	"next_comm=c next_pid=9 next_prio=120\n"

TEST(sched_chain_goes_back_from_a_task_to_the_interrupt)
{
	struct sched_options options = { .chain = "c" };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, &options, types, STORY))
		return;
	/*
	 * The first chain lasts from the interrupt at 2000 until c ran at 7000. The second begins with the first wakeup
	 * of b, at 4000, because b occurs in it twice.
	 */
	CHECK(analysed_is(&analysed, "chains", "1", "chain", "c < b < a < irq:disk") ||
	      analysed_is(&analysed, "chains", "1", "chain", "c < b < c < b..."));
	CHECK(analysed.findings.items[0].table.nr_items == 2 * 8);
	analysed_end(&analysed);
}

/*
 * The disk's interrupt ends at 1600. A wakeup 10 ms later comes from an interrupt without an event of its own, as the
 * timer's without irq_vectors. One that comes within the disk's, behind a nested one, is the disk's.
 */
TEST(sched_chain_names_an_interrupt_only_while_it_lasts)
{
	struct sched_options options = { .chain = "a" };
	struct analysed analysed;

#define WAKE(at, run, leave)                                                                            \
	"0 " at " 0 sched_waking common_flags=8 comm=a pid=7 prio=50 target_cpu=0\n"                    \
	"0 " run " 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=a next_pid=7\n" \
	"0 " leave " 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
	if (!analysed_begin(&analysed, &sched_analysis, &options, types,
			    "0 1000 0 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=swapper/0 next_pid=0\n"
			    "0 1500 0 irq_handler_entry common_flags=8 irq=9 name=disk\n"
			    "0 1600 0 irq_handler_exit common_flags=8 irq=9 ret=1\n" WAKE("10000000", "10000100",
											  "10000200")))
		return;
	CHECK(analysed_is(&analysed, "chains", "1", "chain", "a < an interrupt"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &sched_analysis, &options, types,
			    "0 1000 0 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=swapper/0 next_pid=0\n"
			    "0 1500 0 irq_handler_entry common_flags=8 irq=9 name=disk\n"
			    "0 1510 0 irq_handler_entry common_flags=8 irq=10 name=net\n"
			    "0 1520 0 irq_handler_exit common_flags=8 irq=10 ret=1\n" WAKE("1530", "1600", "1700")))
		return;
	CHECK(analysed_is(&analysed, "chains", "1", "chain", "a < irq:disk"));
	analysed_end(&analysed);
}

TEST(sched_chain_tells_how_long_it_took_from_the_first_wakeup)
{
	struct sched_options options = { .chain = "8" };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, &options, types, STORY))
		return;
	/*
	 * b ran at 5000 and at 9000, both times because of the interrupt at 2000: first by way of a, then by way of c,
	 * b and a, where b occurs twice.
	 */
	CHECK(analysed_is(&analysed, "chains", "1", "total_ns", "3000"));
	CHECK(analysed_is(&analysed, "chains", "1", "chain", "b < a < irq:disk"));
	analysed_end(&analysed);
}

TEST(sched_rt_has_rows_of_real_time_tasks_only)
{
	struct sched_options options = { .rt = true };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, &options, types, STORY))
		return;
	CHECK(analysed_is(&analysed, "tasks", "a", "run_ns", "2000"));
	CHECK(analysed_is(&analysed, "wakeups", "waking to running", "count", "1"));
	for (size_t i = 0; i < analysed.findings.nr; i++)
		if (!strcmp(analysed.findings.items[i].name, "tasks"))
			CHECK(analysed.findings.items[i].table.nr_items == analysed.findings.items[i].table.nr_columns);
	analysed_end(&analysed);
}

/*
 * 16 columns of 1024 ns. CPU 0 runs x for three columns, idles for four and runs y for one; CPU 1 is first seen in the
 * fifth column.
 */
TEST(sched_map_draws_what_each_cpu_did_longest_in_each_column)
{
	struct sched_options options = { .map = 16 };
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &sched_analysis, &options, types,
		    "0 1024 1 sched_waking comm=z pid=5 prio=120 target_cpu=1\n"
		    "0 4096 1 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		    "1 5120 5 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=z next_pid=5\n"
		    "0 8192 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=y next_pid=6\n"
		    "0 9216 6 sched_switch prev_comm=y prev_pid=6 prev_state=1 next_comm=swapper/0 next_pid=0\n"))
		return;
	CHECK(analysed_prints(&analysed, "# a column is 1.0 us: the task that ran longest in it;\n"
					 "#    . idle, ! interrupts, * another task, ? unknown\n"
					 "CPU   0 BBB....C\n"
					 "CPU   1 ????AAAA\n"
					 "A z-5 4.1 us\nB x-1 3.1 us\nC y-6 1.0 us\n\n"));
	analysed_end(&analysed);
}
