// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compared tables and their --by. In these traces one row of many has become slower; they are random, but from fixed
 * seeds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/block/block.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/latency/latency.h"
#include "lib/answers/locks/locks_internal.h"
#include "lib/answers/stats/diff_internal.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/diffed.h"
#include "tests/unit/test.h"

enum { ROWS = 6, ROUNDS = 300, NOTHING_SLOW = ROWS };

/* An interval of row `row` from `begin` until `end`. */
typedef bool put_thing(struct buf *script, unsigned row, uint64_t begin, uint64_t end);

struct workload {
	const struct analysis_ops *ops;
	const void *options;
	put_thing *put;
	const char *condition; /* a condition that the slower row meets */
	const char *first;     /* first cells of row 4 as CSV, behind a newline */
	unsigned figures;      /* number of tested figures of each row */
};

/* The task of each row is 100 + row. */
static bool put_request(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	unsigned device = 0x800000 + 16 * (row / 2);
	const char *operation = row % 2 ? "W" : "R";

	return buf_addf(script, "0 %" PRIu64 " %u block_bio_queue dev=%u sector=64 nr_sector=8 rwbs=%s\n", begin - 40,
			100 + row, device, operation) &&
	       buf_addf(script, "0 %" PRIu64 " %u block_rq_issue dev=%u sector=64 nr_sector=8 rwbs=%s\n", begin,
			100 + row, device, operation) &&
	       buf_addf(script, "0 %" PRIu64 " 0 block_rq_complete dev=%u sector=64 nr_sector=8 rwbs=%s\n", end, device,
			operation);
}

static bool put_wait(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "0 %" PRIu64 " %u contention_begin lock_addr=0x%x flags=2\n", begin, 100 + row,
			0x1000 * (row + 1)) &&
	       buf_addf(script, "0 %" PRIu64 " %u contention_end lock_addr=0x%x\n", end, 100 + row, 0x1000 * (row + 1));
}

/* The locks have no names, and their addresses differ from those of the other file. */
static bool put_moved_wait(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	/* LCB_F_READ and so on: each row has another type. */
	static const unsigned flags[ROWS] = { 1, 2, 4, 8, 16, 32 };
	uint64_t address = 0xffff888000000000 + begin % 64 * 64 + row * 0x10000;

	return buf_addf(script, "0 %" PRIu64 " %u contention_begin lock_addr=0x%" PRIx64 " flags=%u\n", begin,
			100 + row, address, flags[row]) &&
	       buf_addf(script, "0 %" PRIu64 " %u contention_end lock_addr=0x%" PRIx64 "\n", end, 100 + row, address);
}

static bool put_call(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "0 %" PRIu64 " %u sys_enter id=0\n", begin, 100 + row) &&
	       buf_addf(script, "0 %" PRIu64 " %u sys_exit id=0 ret=1\n", end, 100 + row);
}

/* The task sleeps in a function of its own and is woken 30 before it runs. */
static bool put_sleep(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script,
			"0 %" PRIu64
			" %u sched_switch prev_comm=task%u prev_pid=%u prev_state=1 next_comm=swapper/0 next_pid=0\n",
			begin, 100 + row, row, 100 + row) &&
	       buf_addf(script, "0 %" PRIu64 " %u kernel_stack caller=0x%x next=0x7000\n", begin + 1, 100 + row,
			0x1000 * (row + 1)) &&
	       buf_addf(script, "1 %" PRIu64 " 7 sched_waking comm=task%u pid=%u target_cpu=0\n", end - 30, row,
			100 + row) &&
	       buf_addf(script,
			"0 %" PRIu64 " 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=task%u next_pid=%u\n",
			end, row, 100 + row);
}

/* Each row has its own CPU, because rows of one state differ only in the CPU. */
static bool put_idle_of_cpu(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "0 %" PRIu64 " 0 cpu_idle state=1 cpu_id=%u\n", begin, row) &&
	       buf_addf(script, "0 %" PRIu64 " 0 cpu_idle state=0xffffffff cpu_id=%u\n", end, row);
}

/* The CPU is idle for that long before the woken task runs. */
static bool put_late(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "1 %" PRIu64 " 7 sched_waking comm=task%u pid=%u target_cpu=0\n", begin, row,
			100 + row) &&
	       buf_addf(script,
			"0 %" PRIu64 " 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=task%u next_pid=%u\n",
			end, row, 100 + row) &&
	       buf_addf(script,
			"0 %" PRIu64
			" %u sched_switch prev_comm=task%u prev_pid=%u prev_state=1 next_comm=swapper/0 next_pid=0\n",
			end + 10, 100 + row, row, 100 + row);
}

/* Each CPU also has another state. */
static bool put_idle(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	unsigned cpu = begin % 2;

	return buf_addf(script, "0 %" PRIu64 " 0 cpu_idle state=%u cpu_id=%u\n", begin, row, cpu) &&
	       buf_addf(script, "0 %" PRIu64 " 0 cpu_idle state=0xffffffff cpu_id=%u\n", end, cpu);
}

/* Each row is a program of its own. */
static bool put_run(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "0 %" PRIu64 " %u sched_process_exec filename=/bin/program%u pid=%u old_pid=%u\n",
			begin, 100 + row, row, 100 + row, 100 + row) &&
	       buf_addf(script, "0 %" PRIu64 " %u sched_process_exit pid=%u\n", end, 100 + row, 100 + row);
}

/* Each row is a task that runs at a frequency of its own. */
static bool put_cycles(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "0 %" PRIu64 " 0 cpu_frequency state=%u cpu_id=0\n", begin, (row + 1) * 500000) &&
	       buf_addf(script,
			"0 %" PRIu64 " 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=task%u next_pid=%u\n",
			begin, row, 100 + row) &&
	       buf_addf(script,
			"0 %" PRIu64
			" %u sched_switch prev_comm=task%u prev_pid=%u prev_state=1 next_comm=swapper/0 next_pid=0\n",
			end, 100 + row, row, 100 + row);
}

/* Each row is an interrupt, and the task that it hits. */
static bool put_hit(struct buf *script, unsigned row, uint64_t begin, uint64_t end)
{
	return buf_addf(script, "0 %" PRIu64 " %u irq_handler_entry irq=%u name=disk\n", begin, 100 + row, row) &&
	       buf_addf(script, "0 %" PRIu64 " %u irq_handler_exit irq=%u ret=1\n", end, 100 + row, row);
}

static const struct workload workloads[] = {
	/* Requests have three times: in the queue, in the device, and both together. */
	{ &block_analysis, NULL, put_request, "8:32 read d2c: p50 > 5%", "\nrequests,8:32 read ", 3 * DIFF_METRICS },
	{ &block_analysis, &(struct block_options){ .rows.by = BLOCK_BY_TASK }, put_request, "task4 d2c: p50 > 5%",
	  "\nrequests,task4 ", 3 * DIFF_METRICS },
	{ &locks_analysis, NULL, put_wait, "lock4 rwsem:R: p50 > 5%", "\nlocks,lock4 rwsem:R,", DIFF_METRICS },
	{ &locks_analysis, NULL, put_moved_wait, "percpu-rwsem: p50 > 5%", "\nlocks,percpu-rwsem,", DIFF_METRICS },
	{ &locks_analysis, &(struct row_options){ .by = LOCKS_BY_TASK }, put_wait, "task4: p50 > 5%", "\nlocks,task4,",
	  DIFF_METRICS },
	{ &syscalls_analysis, &(struct syscalls_options){ .rows.by = SYSCALLS_BY_TASK }, put_call, "task4: p50 > 5%",
	  "\nsyscalls,task4,", DIFF_METRICS },
	/* Each row of a stack is also one of its events. Such a row has only the number of events. */
	{ &stacks_analysis, NULL, put_sleep, "lock4 * blocked: p50 > 5%", "\noff_cpu,lock4 lock4 < end blocked,",
	  2 * DIFF_METRICS + 1 },
	{ &stacks_analysis, &(struct row_options){ .by = 1 /* function */ }, put_sleep, "lock4 blocked: p50 > 5%",
	  "\noff_cpu,lock4 blocked,", 2 * DIFF_METRICS + 1 },
	{ &stacks_analysis, &(struct row_options){ .by = 2 /* task */ }, put_sleep, "task4 blocked: p50 > 5%",
	  "\noff_cpu,task4 blocked,", 2 * DIFF_METRICS + 1 },
	{ &power_analysis, NULL, put_idle, "state 4: p50 > 5%", "\nstates,state 4,", DIFF_METRICS },
	{ &power_analysis, &(struct row_options){ .by = 1 /* cpu */ }, put_idle_of_cpu, "state 1 cpu 4: p50 > 5%",
	  "\nstates,state 1 cpu 4,", DIFF_METRICS },
	/* The time at a frequency ends with the next row. */
	{ &power_analysis, NULL, put_cycles, "task4 at 1 GHz: p50 > 5%", "\ntasks,task4 at 1 GHz,", 2 * DIFF_METRICS },
	/* The task has the same times as its interrupt. */
	{ &irq_analysis, NULL, put_hit, "task4: p50 > 5%", "\nsources,irq 4 disk,", 2 * DIFF_METRICS },
	{ &tasks_analysis, NULL, put_run, "/bin/program4: p50 > 5%", "\nprograms,/bin/program4,", DIFF_METRICS },
	{ &latency_analysis, &(struct latency_options){ .rows = { .by = LATENCY_BY_TASK, .slowest = 1 } }, put_late,
	  "task4 *: p50 > 5%", "\nwakeups,task4 ", 2 * DIFF_METRICS },
};

static void types(struct loom *loom)
{
	static const char *const names[ROWS] = { "task0", "task1", "task2", "task3", "task4", "task5" };

	loom_type(loom, "block", "block_bio_queue", "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_issue", "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; u32 nr_sector; int error; char rwbs[8]",
		  "\"\"");
	loom_type(loom, "lock", "contention_begin", "u64 lock_addr; u32 flags", "\"\"");
	loom_type(loom, "lock", "contention_end", "u64 lock_addr; int ret", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 next", "\"\"");
	loom_type(loom, "power", "cpu_idle", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid", "\"\"");
	loom_type(loom, "sched", "sched_process_exit", "char comm[16]; pid_t pid", "\"\"");
	loom->kallsyms =
		"1000 d lock0\n2000 d lock1\n3000 d lock2\n4000 d lock3\n5000 d lock4\n6000 d lock5\n7000 d end\n";
	for (int i = 0; i < ROWS; i++)
		loom_task(loom, 100 + i, names[i]);
}

static void play(struct loom *loom, const struct workload *workload, uint64_t seed, unsigned slow)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15 + 1, now = 1000;
	cleanup_buf struct buf script = BUF_INIT;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned row = 0; row < ROWS; row++) {
			uint64_t lasts =
				(uint64_t)(diffed_duration(&state, 2000.0 * (row + 1)) * (row == slow ? 1.5 : 1));

			CHECK(workload->put(&script, row, now + 50, now + 50 + lasts));
			now += 100 + lasts;
		}
		now += 1000 + diffed_random(&state) % 20000;
	}
	loom_play(loom, buf_str(&script));
}

static bool add(struct diff *diff, const struct workload *workload, bool is_new, uint64_t seed, unsigned slow)
{
	struct loom loom;

	loom_init(&loom);
	types(&loom);
	play(&loom, workload, seed, slow);
	return diffed_add(diff, is_new, &loom, workload->ops, workload->options);
}

/*
 * Compares one file on each side; row `slow` takes half as long again on the new side. Writes to `csv`. Returns the
 * value of diff_finish().
 */
static int compare(const struct workload *workload, uint64_t old_seed, uint64_t new_seed, unsigned slow,
		   struct out *csv)
{
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;

	if (!CHECK(!diff_new(1, 1, &diff, &fail)))
		return -1;
	CHECK(add(diff, workload, false, old_seed, NOTHING_SLOW) && add(diff, workload, true, new_seed, slow));
	return diffed_finish(diff, workload->condition, csv);
}

TEST(diff_ranks_first_the_device_lock_or_task_that_takes_half_as_long_again)
{
	for (size_t i = 0; i < array_size(workloads); i++) {
		const char *line;
		struct out csv;

		REQUIRE(out_init(&csv, 1 << 14));
		CHECK(compare(&workloads[i], 100 + 2 * i, 101 + 2 * i, 4, &csv) == -ERANGE);
		line = strchr(csv.start, '\n');
		if (!CHECK(line && !strncmp(line, workloads[i].first, strlen(workloads[i].first)) &&
			   diffed_count(&csv, ",+,") > 0))
			printf("%zu: %.600s\n", i, csv.start);
		out_release(&csv);
	}
}

TEST(diff_calls_little_a_change_between_equal_workloads_of_devices_locks_and_tasks)
{
	unsigned changed = 0, all = 0, wanted = 0;

	for (size_t i = 0; i < 4 * array_size(workloads); i++) {
		struct out csv;

		REQUIRE(out_init(&csv, 1 << 14));
		CHECK(!compare(&workloads[i / 4], 1000 + 2 * i, 1001 + 2 * i, NOTHING_SLOW, &csv));
		changed += diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,");
		all += diffed_count(&csv, ",~,") + diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,");
		out_release(&csv);
	}
	for (size_t i = 0; i < array_size(workloads); i++)
		wanted += 4 * ROWS * workloads[i].figures;
	if (!CHECK(all == wanted))
		printf("%u instead of %u\n", all, wanted);
	if (!CHECK(changed * 20 <= all))
		printf("%u of %u\n", changed, all);
}

TEST(diff_of_a_file_and_itself_calls_no_device_lock_or_task_changed)
{
	for (size_t i = 0; i < array_size(workloads); i++) {
		struct out csv;

		REQUIRE(out_init(&csv, 1 << 14));
		CHECK(!compare(&workloads[i], 7, 7, NOTHING_SLOW, &csv));
		CHECK(diffed_count(&csv, ",+,") + diffed_count(&csv, ",-,") == 0 && diffed_count(&csv, ",~,") > 0);
		out_release(&csv);
	}
}

/*
 * The parts of a delay of 1000: 100 until another CPU had put the task on the queue, 200 of an interrupt, and the rest
 * of the task before it.
 */
static const char interrupted[] =
	"0 1000 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=eight next_pid=8\n"
	"1 2000 7 sched_waking comm=nine pid=9 target_cpu=0\n"
	"1 2100 7 sched_wakeup comm=nine pid=9 target_cpu=0\n"
	"0 2300 8 irq_handler_entry irq=1 name=disk\n"
	"0 2500 8 irq_handler_exit irq=1 ret=1\n"
	"0 3000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=nine next_pid=9\n"
	"0 9000 9 timerlat seqnum=1 context=0 timer_latency=500\n"
	"0 9100 9 irq_noise start=8500 duration=150 desc=timer vector=236\n"
	"0 9200 9 thread_noise comm=eight start=9110 duration=90 pid=8\n"
	"0 9900 9 sample_threshold start=8000 duration=1900 interference=2\n";

TEST(diff_of_delays_has_their_parts_and_the_sources_of_noises)
{
	static const char *const rows[] = {
		"\nwakeups,delay,p50,1.0 us,",         "\nwakeups,the way to its queue,p50,100 ns,",
		"\nwakeups,interrupts,p50,200 ns,",    "\nwakeups,the task before it,p50,700 ns,",
		"\ntimerlat,irq delay,p50,500 ns,",    "\nnoises,noise,p50,1.9 us,",
		"\nsources,irq timer:236,p50,150 ns,", "\nsources,thread eight,p50,90 ns,"
	};
	struct fail fail = FAIL_INIT;
	struct diff *diff = NULL;
	struct out csv;

	REQUIRE(out_init(&csv, 1 << 14));
	if (!CHECK(!diff_new(1, 1, &diff, &fail)))
		return;
	for (int side = 0; side < 2; side++) {
		struct loom loom;

		loom_init(&loom);
		loom_type(&loom, "ftrace", "timerlat", "int seqnum; int context; u64 timer_latency", "\"\"");
		loom_type(&loom, "osnoise", "irq_noise", "u64 start; u64 duration; char desc[16]; int vector", "\"\"");
		loom_type(&loom, "osnoise", "thread_noise", "char comm[16]; u64 start; u64 duration; pid_t pid",
			  "\"\"");
		loom_type(&loom, "osnoise", "sample_threshold", "u64 start; u64 duration; u64 interference", "\"\"");
		loom_play(&loom, interrupted);
		CHECK(diffed_add(diff, side, &loom, &latency_analysis, NULL));
	}
	CHECK(!diffed_finish(diff, NULL, &csv));
	for (size_t i = 0; i < array_size(rows); i++)
		if (!CHECK(strstr(csv.start, rows[i])))
			printf("%s is not in %s\n", rows[i] + 1, csv.start);
	out_release(&csv);
}

/* An analysis grows its arrays, and writes the next name into the same bytes, while it fills its tables. */
TEST(diff_takes_rows_whose_stores_have_moved_since_they_were_attached)
{
	static const struct table_column columns[] = { { "TASK", TABLE_TEXT, NULL, 0 }, { NULL, TABLE_TEXT, NULL, 0 } };
	struct samples_budget budget = { .left = 10, .marks = true };
	struct samples *store = calloc(1, sizeof(*store)), kept;
	struct diff diff = { .several = false };
	struct diff_run run = { .nr = 0 };
	struct fail fail = FAIL_INIT;
	char name[] = "state 1", part[] = "cpu 3";
	struct findings findings;
	struct table *table;

	REQUIRE(store);
	findings_init(&findings);
	table = findings_table(&findings, "states", "", NULL, columns);
	REQUIRE(table);
	samples_add(store, &budget, 7);
	samples_add(store, &budget, 9);
	table_attach_part(table, store, name, part);
	table_cell(table, "loom");
	kept = *store;
	memset(store, 0xff, sizeof(*store));
	free(store);
	memset(name, 'x', sizeof(name) - 1);
	memset(part, 'x', sizeof(part) - 1);
	CHECK(!diff_run_take(&diff, false, &run, &findings, &fail));
	REQUIRE(run.nr == 1);
	CHECK_STR(run.rows[0].name, "states\tstate 1 cpu 3");
	CHECK(run.rows[0].count == 2);
	CHECK(run.rows[0].sum == 16);
	CHECK(run.rows[0].p99 == 9);
	diff_run_release(&run);
	findings_release(&findings);
	samples_release(&kept);
}

/* Per run, a task's row is what it did; the program of the new side has the name of the old one. */
TEST(diff_per_run_compares_the_states_of_tasks_under_one_name)
{
	static const struct table_column columns[] = { { "TASK", TABLE_TEXT, NULL, 0 },
						       { "RUN", TABLE_TIME, NULL, 0 },
						       { "WAIT", TABLE_TIME, NULL, 0 },
						       { "VOL", TABLE_COUNT, "voluntary", 0 },
						       { NULL, TABLE_TEXT, NULL, 0 } };
	struct samples_budget budget = { .left = 10 };
	struct samples delays = { .count = 0 };
	struct diff_run run = { .nr = 0 };
	struct fail fail = FAIL_INIT;
	struct findings findings;
	struct diff *diff = NULL;
	struct table *table;

	REQUIRE(!diff_new(1, 1, &diff, &fail));
	diff_per(diff, DIFF_PER_RUN, NULL);
	diff_rename(diff, "work.new", "work");
	findings_init(&findings);
	table = findings_table(&findings, "tasks", "", NULL, columns);
	REQUIRE(table);
	samples_add(&delays, &budget, 7);
	for (size_t i = 0; i < 2; i++) {
		table_attach(table, &delays);
		table_cell(table, i ? "work.newer" : "work.new");
		table_cell_u64(table, 500);
		table_cell_u64(table, i * 30);
		table_cell_u64(table, 3);
	}
	CHECK(!diff_run_take(diff, true, &run, &findings, &fail));
	REQUIRE(run.nr == 3);
	CHECK_STR(run.rows[0].name, "tasks\twork on a CPU");
	CHECK(run.rows[0].sum == 500 && run.rows[0].count == 3);
	CHECK_STR(run.rows[1].name, "tasks\twork.newer on a CPU");
	CHECK_STR(run.rows[2].name, "tasks\twork.newer waiting for a CPU");
	CHECK(run.rows[2].sum == 30 && run.rows[2].count == 1);
	diff_run_release(&run);
	findings_release(&findings);
	samples_release(&delays);
	diff_free(diff);
}
