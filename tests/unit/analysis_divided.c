// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the end of an interval cuts: it counts where it ends, and its time in each interval in which it lasts. The times
 * of each interval are computed by hand from the scripts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/block/block.h"
#include "lib/answers/frame/intervals.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/* The figures of one cell in all intervals: "0 500 100 | 600"; the last is of all events. "-": there is no row. */
struct course {
	const char *table, *row, *column;
	char text[128];
};

static bool has_cell(const struct table *table, size_t row, size_t column, const char *name)
{
	struct out out;
	bool is = out_init(&out, 64);

	if (is)
		table_put_cell(table, row, column, &out);
	is = is && out_len(&out) == strlen(name) && !memcmp(out.start, name, out_len(&out));
	out_release(&out);
	return is;
}

/* The name stands first, or behind the empty column of whom a task belongs to. */
static bool is_row(const struct table *table, size_t row, const char *name)
{
	return has_cell(table, row, 0, name) ||
	       (table->nr_columns > 1 && has_cell(table, row, 0, "") && has_cell(table, row, 1, name));
}

static bool figure(const struct findings *findings, const struct course *course, uint64_t *ret)
{
	for (size_t i = 0; i < findings->nr; i++) {
		const struct table *table = &findings->items[i].table;
		int column = table_column_named(table, course->column);

		for (size_t row = 0; column >= 0 && row < table->nr_items / table->nr_columns; row++)
			if (!strcmp(findings->items[i].name, course->table) && is_row(table, row, course->row))
				return table_number_at(table, row, (size_t)column, ret);
	}
	return false;
}

static int note(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct course *courses = arg;

	(void)fail;
	for (; courses->table; courses++) {
		size_t len = strlen(courses->text);
		char *at = courses->text + len;
		uint64_t value;

		if (figure(findings, courses, &value))
			snprintf(at, sizeof(courses->text) - len, "%s%s%" PRIu64, len ? " " : "",
				 span->whole ? "| " : "", value);
		else
			snprintf(at, sizeof(courses->text) - len, "%s%s-", len ? " " : "", span->whole ? "| " : "");
	}
	return 0;
}

/* Runs an analysis of a script in intervals of 1000 ns. `courses` ends with a table of NULL. */
static void divide(const struct analysis_ops *ops, const void *options, void (*types)(struct loom *loom),
		   const char *script, struct course *courses)
{
	struct intervals intervals = {
		.ops = ops, .options = options, .every_ns = 1000, .found = note, .arg = courses
	};
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct reader reader;
	struct loom loom;
	int r;

	loom_init(&loom);
	types(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	r = trace ? reader_add_trace(&reader, trace, &fail) : -1;
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail);
	if (!r)
		r = intervals_run(&intervals, &reader, &(struct pass_filter){ .nr_pids = 0 }, &fail);
	if (!CHECK(!r))
		printf("%s: %s\n", ops->name, fail.text);
	intervals_release(&intervals);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

static void call_types(struct loom *loom)
{
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "sh");
	loom->uname = "Linux loom 6.12.0 x86_64";
}

TEST(syscalls_that_an_interval_cuts_have_their_time_in_each)
{
	struct course courses[] = {
		{ "syscalls", "read", "calls", "" },       { "syscalls", "read", "total", "" },
		{ "syscalls", "read", "on cpu", "" },      { "syscalls", "read", "blocked", "" },
		{ "syscalls", "read", "wait", "" },        { "syscalls", "read", "max", "" },
		{ "syscalls", "write", "total", "" },      { "syscalls", "write", "calls", "" },
		{ "syscalls", "exit_group", "total", "" }, { NULL, NULL, NULL, "" },
	};

	/*
	 * The intervals begin at 1000, 2000, 3000 and 4000. A read from 1200 to 3500: on its CPU until 1500, asleep
	 * until 2600, waits until 3100, on its CPU until its end. A write from 3800 is open at the end, at 4400. An
	 * exit_group never returns.
	 */
	divide(&syscalls_analysis, NULL, call_types,
	       "1 1000 9 sys_enter id=231\n"
	       "0 1200 7 sys_enter id=0\n"
	       "0 1500 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=sh next_pid=8\n"
	       "1 2600 9 sched_waking comm=ls pid=7 target_cpu=0\n"
	       "0 3100 8 sched_switch prev_comm=sh prev_pid=8 prev_state=0 next_comm=ls next_pid=7\n"
	       "0 3500 7 sys_exit id=0 ret=1\n"
	       "0 3800 7 sys_enter id=1\n"
	       "1 4400 9 sched_waking comm=x pid=10 target_cpu=1\n",
	       courses);
	CHECK_STR(courses[0].text, "0 0 1 - | 1");
	CHECK_STR(courses[1].text, "800 1000 500 - | 2300");
	CHECK_STR(courses[2].text, "300 0 400 - | 700");
	CHECK_STR(courses[3].text, "500 600 0 - | 1100");
	CHECK_STR(courses[4].text, "0 400 100 - | 500");
	CHECK_STR(courses[5].text, "- - 2300 - | 2300");
	CHECK_STR(courses[6].text, "- - 200 400 | 600");
	CHECK_STR(courses[7].text, "- - 0 0 | 0");
	CHECK_STR(courses[8].text, "- - - - | -");
}

/* Whether a call fails is known when it ends: then all its time is in that interval. */
TEST(syscalls_by_error_have_their_time_where_they_end)
{
	const struct syscalls_options options = { .rows.by = SYSCALLS_BY_ERROR };
	struct course courses[] = { { "syscalls", "read", "total", "" }, { NULL, NULL, NULL, "" } };

	divide(&syscalls_analysis, &options, call_types,
	       "0 1000 7 sys_enter id=0\n"
	       "0 3500 7 sys_exit id=0 ret=-11\n",
	       courses);
	CHECK_STR(courses[0].text, "- - 2500 | 2500");
}

static void lock_types(struct loom *loom)
{
	loom_type(loom, "lock", "contention_begin", "u64 lock_addr; u32 flags", "\"\"");
	loom_type(loom, "lock", "contention_end", "u64 lock_addr; int ret", "\"\"");
	loom_type(loom, "lock", "lock_acquire", "u32 flags; char name[16]; u64 lockdep_addr", "\"\"");
	loom_type(loom, "lock", "lock_release", "char name[16]; u64 lockdep_addr", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_futex", "int __syscall_nr; u64 uaddr; u64 op; u64 val", "\"\"");
	loom_type(loom, "syscalls", "sys_exit_futex", "int __syscall_nr; long ret", "\"\"");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "sh");
}

TEST(waits_for_locks_that_an_interval_cuts_have_their_time_in_each)
{
	struct course courses[] = {
		{ "locks", "0xffff888001", "waits", "" },
		{ "locks", "0xffff888001", "total", "" },
		{ "locks", "0xffff888001", "spin", "" },
		{ "locks", "0xffff888001", "sleep", "" },
		{ "locks", "0xffff888001", "wait", "" },
		{ "locks", "0x5000", "total", "" },
		{ "locks", "dep", "holds", "" },
		{ "locks", "dep", "held", "" },
		{ NULL, NULL, NULL, "" },
	};

	/*
	 * A mutex from 1200 to 3500: spins until 1500, asleep until 2600, waits for a CPU until 3100, spins again. A
	 * futex from 3600 is open at the end, at 4400; another task sleeps in it. A lock is held from 1300 to 2300.
	 */
	divide(&locks_analysis, NULL, lock_types,
	       "0 1000 7 sched_waking comm=x pid=10 target_cpu=1\n"
	       "0 1200 7 contention_begin lock_addr=0xffff888001 flags=33\n"
	       "1 1300 9 lock_acquire name=dep lockdep_addr=0xffff888009\n"
	       "0 1500 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=sh next_pid=8\n"
	       "1 2300 9 lock_release name=dep lockdep_addr=0xffff888009\n"
	       "1 2600 9 sched_waking comm=ls pid=7 target_cpu=0\n"
	       "0 3100 8 sched_switch prev_comm=sh prev_pid=8 prev_state=0 next_comm=ls next_pid=7\n"
	       "0 3500 7 contention_end lock_addr=0xffff888001\n"
	       "0 3600 7 sys_enter_futex uaddr=0x5000 op=128 val=2\n"
	       "0 3700 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=sh next_pid=8\n"
	       "1 4400 9 sched_waking comm=x pid=10 target_cpu=1\n",
	       courses);
	CHECK_STR(courses[0].text, "0 0 1 - | 1");
	CHECK_STR(courses[1].text, "800 1000 500 - | 2300");
	CHECK_STR(courses[2].text, "300 0 400 - | 700");
	CHECK_STR(courses[3].text, "500 600 0 - | 1100");
	CHECK_STR(courses[4].text, "0 400 100 - | 500");
	CHECK_STR(courses[5].text, "- - 400 400 | 800");
	CHECK_STR(courses[6].text, "0 1 - - | 1");
	CHECK_STR(courses[7].text, "700 300 - - | 1000");
}

static void block_types(struct loom *loom)
{
	loom_type(loom, "block", "block_bio_queue", "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_issue", "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; u32 nr_sector; int error; char rwbs[8]",
		  "\"\"");
	loom_task(loom, 7, "dd");
}

TEST(block_requests_that_an_interval_cuts_have_their_time_in_each)
{
	const struct block_options by_task = { .rows.by = BLOCK_BY_TASK };
	struct course courses[] = {
		{ "requests", "8:0", "requests", "" },   { "requests", "8:0", "d2c_ns", "" },
		{ "requests", "8:0", "d2c_max_ns", "" }, { "requests", "8:0", "q2c_max_ns", "" },
		{ "devices", "8:0", "busy", "" },        { NULL, NULL, NULL, "" },
	};
	struct course tasks[] = { { "requests", "dd", "d2c_ns", "" }, { NULL, NULL, NULL, "" } };
	static const char script[] =
		/* In the driver from 1400 to 3500 and from 3800 on, until the end at 4400; its task sleeps. */
		"0 1000 7 block_bio_queue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
		"0 1400 7 block_rq_issue dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
		"0 1500 7 sched_switch prev_comm=dd prev_pid=7 prev_state=2 next_comm=sh next_pid=8\n"
		"0 2500 8 sched_waking comm=x pid=10 target_cpu=1\n"
		"0 3500 8 block_rq_complete dev=0x800000 sector=8 nr_sector=8 rwbs=R\n"
		"0 3600 8 sched_switch prev_comm=sh prev_pid=8 prev_state=1 next_comm=dd next_pid=7\n"
		"0 3700 7 block_bio_queue dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"
		"0 3800 7 block_rq_issue dev=0x800000 sector=16 nr_sector=8 rwbs=R\n"
		"0 4400 7 sched_waking comm=x pid=10 target_cpu=1\n";

	divide(&block_analysis, NULL, block_types, script, courses);
	CHECK_STR(courses[0].text, "0 0 1 0 | 1");
	CHECK_STR(courses[1].text, "600 1000 700 400 | 2700");
	CHECK_STR(courses[2].text, "- - 2100 - | 2100");
	CHECK_STR(courses[3].text, "- - 2500 - | 2500");
	CHECK_STR(courses[4].text, "600 1000 700 400 | 2700");
	divide(&block_analysis, &by_task, block_types, script, tasks);
	CHECK_STR(tasks[0].text, "600 1000 700 400 | 2700");
}

static void irq_types(struct loom *loom)
{
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_exit", "int vector", "\"\"");
	loom_type(loom, "workqueue", "workqueue_execute_start", "long work; long function", "\"\"");
	loom_type(loom, "workqueue", "workqueue_execute_end", "long work; long function", "\"\"");
	loom_task(loom, 7, "ls");
}

TEST(irq_runs_that_an_interval_cuts_have_their_time_in_each_also_of_whom_they_hit)
{
	struct course courses[] = {
		{ "sources", "softirq", "count", "" },
		{ "sources", "softirq", "total", "" },
		{ "sources", "softirq", "self", "" },
		{ "sources", "vector", "total", "" },
		{ "sources", "vector", "max", "" },
		{ "sources", "work", "total", "" },
		{ "victims", "ls", "hits", "" },
		{ "victims", "ls", "taken", "" },
		{ "victims", "ls", "run", "" },
		{ "cpus", "0", "softirq", "" },
		{ NULL, NULL, NULL, "" },
	};

	/*
	 * Task ls runs from 1000 on. A softirq from 1200 to 3500; in it the timer from 1700 to 2400 and from 2900 to
	 * 3100. Then a work item.
	 */
	divide(&irq_analysis, NULL, irq_types,
	       "0 1000 8 sched_switch prev_comm=sh prev_pid=8 prev_state=1 next_comm=ls next_pid=7\n"
	       "0 1200 7 softirq_entry vec=1\n"
	       "0 1700 7 local_timer_entry vector=236\n"
	       "0 2400 7 local_timer_exit vector=236\n"
	       "0 2900 7 local_timer_entry vector=236\n"
	       "0 3100 7 local_timer_exit vector=236\n"
	       "0 3500 7 softirq_exit vec=1\n"
	       "1 3600 9 workqueue_execute_start work=16 function=1\n"
	       "1 4400 9 workqueue_execute_end work=16 function=1\n"
	       "0 4500 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=sh next_pid=8\n",
	       courses);
	CHECK_STR(courses[0].text, "0 0 1 - | 1");
	CHECK_STR(courses[1].text, "800 1000 500 - | 2300");
	CHECK_STR(courses[2].text, "500 500 400 - | 1400");
	CHECK_STR(courses[3].text, "300 500 100 - | 900");
	CHECK_STR(courses[4].text, "- 700 200 - | 700");
	CHECK_STR(courses[5].text, "- - 400 400 | 800");
	CHECK_STR(courses[6].text, "0 1 2 - | 3");
	CHECK_STR(courses[7].text, "800 1000 500 - | 2300");
	CHECK_STR(courses[8].text, "1000 1000 1000 - | 3500");
	CHECK_STR(courses[9].text, "500 500 400 0 | 1400");
}

static void stall_types(struct loom *loom)
{
	loom_type(loom, "vmscan", "mm_vmscan_direct_reclaim_begin", "int order", "\"\"");
	loom_type(loom, "vmscan", "mm_vmscan_direct_reclaim_end", "long nr_reclaimed", "\"\"");
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller", "\"\"");
	loom_task(loom, 7, "ls");
}

static const char asleep[] =
	/* Task ls reclaims from 1200 to 3500. It leaves its CPU at 1500, is woken at 2600, and is back at 3100. */
	"0 1000 8 sched_switch prev_comm=sh prev_pid=8 prev_state=1 next_comm=ls next_pid=7\n"
	"0 1200 7 mm_vmscan_direct_reclaim_begin order=1\n"
	"0 1500 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=sh next_pid=8\n"
	"0 1501 7 kernel_stack size=1 caller=0x77\n"
	"1 2600 9 sched_waking comm=ls pid=7 target_cpu=0\n"
	"0 3100 8 sched_switch prev_comm=sh prev_pid=8 prev_state=0 next_comm=ls next_pid=7\n"
	"0 3500 7 mm_vmscan_direct_reclaim_end nr_reclaimed=5\n"
	"1 4400 9 sched_waking comm=x pid=10 target_cpu=1\n";

TEST(stalls_and_times_off_the_cpu_that_an_interval_cuts_have_their_time_in_each)
{
	struct course stalls[] = { { "stalls", "direct reclaim", "count", "" },
				   { "stalls", "direct reclaim", "total", "" },
				   { NULL, NULL, NULL, "" } };
	struct course offs[] = { { "off_cpu", "0x77", "times", "" },
				 { "off_cpu", "0x77", "blocked", "" },
				 { "off_cpu", "0x77", "runnable", "" },
				 { NULL, NULL, NULL, "" } };

	divide(&memory_analysis, NULL, stall_types, asleep, stalls);
	CHECK_STR(stalls[0].text, "0 0 1 - | 1");
	CHECK_STR(stalls[1].text, "800 1000 500 - | 2300");
	divide(&stacks_analysis, NULL, stall_types, asleep, offs);
	CHECK_STR(offs[0].text, "0 0 1 - | 1");
	CHECK_STR(offs[1].text, "500 600 0 - | 1100");
	CHECK_STR(offs[2].text, "0 400 100 - | 500");
}

TEST(sched_waits_that_an_interval_cuts_count_where_they_end_and_have_their_time_in_each)
{
	struct course courses[] = {
		{ "tasks", "ls", "wait", "" },   { "tasks", "ls", "w/idle", "" }, { "tasks", "ls", "delay_max_ns", "" },
		{ "tasks", "ls", "delays", "" }, { NULL, NULL, NULL, "" },
	};

	/* Task ls is woken at 1600, and waits for CPU 0 until 3300. CPU 1 idles from 1800 to 2500. */
	divide(&sched_analysis, NULL, call_types,
	       "0 1000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=sh next_pid=8\n"
	       "1 1600 9 sched_waking comm=ls pid=7 target_cpu=0\n"
	       "1 1800 9 sched_switch prev_comm=x prev_pid=9 prev_state=1 next_comm=swapper/1 next_pid=0\n"
	       "1 2500 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=x next_pid=9\n"
	       "0 3300 8 sched_switch prev_comm=sh prev_pid=8 prev_state=1 next_comm=ls next_pid=7\n"
	       "0 3400 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=sh next_pid=8\n",
	       courses);
	CHECK_STR(courses[0].text, "400 1000 300 | 1700");
	CHECK_STR(courses[1].text, "200 500 0 | 700");
	CHECK_STR(courses[2].text, "- - 1700 | 1700");
	CHECK_STR(courses[3].text, "0 0 1 | 1");
}
