// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/*
 * What `weft record --for ANALYSIS` records is all that the tables of that analysis depend on: of a recording of
 * everything, the events that it wants make the same tables.
 */

/* The system is in the list only to know whether an event is wanted. */
static const struct {
	const char *system, *name, *fields;
} kinds[] = {
	{ "sched", "sched_switch", NULL },
	{ "sched", "sched_waking", NULL },
	{ "sched", "sched_wakeup", NULL },
	{ "sched", "sched_process_fork", NULL },
	{ "irq", "irq_handler_entry", NULL },
	{ "irq", "irq_handler_exit", NULL },
	{ "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu" },
	{ "sched", "sched_migrate_task", "char comm[16]; pid_t pid; int prio; int orig_cpu; int dest_cpu" },
	{ "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid" },
	{ "sched", "sched_process_exit", "char comm[16]; pid_t pid; int prio" },
	{ "irq", "softirq_raise", "int vec" },
	{ "irq", "softirq_entry", "int vec" },
	{ "irq", "softirq_exit", "int vec" },
	{ "irq_vectors", "local_timer_entry", "int vector" },
	{ "irq_vectors", "local_timer_exit", "int vector" },
	{ "timer", "hrtimer_start", "long hrtimer; u64 expires" },
	{ "timer", "hrtimer_expire_entry", "long hrtimer; long function; u64 now" },
	{ "timer", "hrtimer_expire_exit", "long hrtimer" },
	{ "raw_syscalls", "sys_enter", "long id" },
	{ "raw_syscalls", "sys_exit", "long id; long ret" },
	{ "lock", "contention_begin", "u64 lock_addr; u32 flags" },
	{ "lock", "contention_end", "u64 lock_addr; int ret" },
	{ "block", "block_bio_queue", "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]; char comm[16]" },
	{ "block", "block_rq_issue", "u32 dev; u64 sector; u32 nr_sector; u32 bytes; char rwbs[8]; char comm[16]" },
	{ "block", "block_rq_complete", "u32 dev; u64 sector; u32 nr_sector; int error; char rwbs[8]" },
	{ "kmem", "kmalloc", "long call_site; long ptr; u64 bytes_req; u64 bytes_alloc" },
	{ "kmem", "kfree", "long call_site; long ptr" },
	{ "power", "cpu_idle", "u32 state; u32 cpu_id" },
};

static void types(struct loom *loom)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (kinds[i].fields)
			loom_type(loom, kinds[i].system, kinds[i].name, kinds[i].fields, "\"\"");
}

/*
 * Each CPU begins and ends with an exec, which every analysis wants, so that all see the same span. taskset-100 becomes
 * hog, is blocked in a read, woken by sh-200 and waits for its CPU, which a timer's interrupt holds; sh-200 forks 300,
 * which returns from a clone that it never entered, waits for a lock and for the disk, and dies. At last hog becomes
 * last.
 */
static const char *const story[] = {
	"0 1000 100 sched_process_exec filename=/bin/taskset pid=100 old_pid=100",
	"1 1000 200 sched_process_exec filename=/bin/sh pid=200 old_pid=200",
	"0 1100 100 sched_process_exec filename=/bin/hog pid=100 old_pid=100",
	"0 2000 100 sys_enter id=0",
	"0 2050 100 sys_enter id=0",
	"0 2100 100 sched_switch prev_comm=hog prev_pid=100 prev_state=2 next_comm=swapper/0 next_pid=0",
	"0 2200 0 cpu_idle state=1 cpu_id=0",
	"1 3000 200 sched_waking comm=hog pid=100 target_cpu=1",
	"1 3001 200 sched_migrate_task comm=hog pid=100 orig_cpu=1 dest_cpu=0",
	"1 3100 200 sched_wakeup comm=hog pid=100 target_cpu=0",
	"0 3200 0 local_timer_entry common_flags=8 vector=236",
	"0 3210 0 hrtimer_expire_entry common_flags=8 hrtimer=7 function=9 now=3210",
	"0 3220 0 hrtimer_expire_exit common_flags=8 hrtimer=7",
	"0 3230 0 hrtimer_start common_flags=8 hrtimer=7 expires=9000",
	"0 3700 0 local_timer_exit common_flags=8 vector=236",
	"0 3750 0 softirq_raise vec=1",
	"0 3800 0 softirq_entry common_flags=16 vec=1",
	"0 3900 0 softirq_exit common_flags=16 vec=1",
	"0 3950 0 cpu_idle state=4294967295 cpu_id=0",
	"0 4000 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=hog next_pid=100",
	"0 4100 100 sys_exit id=0 ret=1",
	"1 5000 200 sched_process_fork parent_comm=sh parent_pid=200 child_comm=sh child_pid=300",
	"1 5050 200 sched_wakeup_new comm=sh pid=300 target_cpu=1",
	"1 5100 200 sched_switch prev_comm=sh prev_pid=200 prev_state=1 next_comm=sh next_pid=300",
	"1 5200 300 sys_exit id=56 ret=0",
	"1 5300 300 sys_enter id=59",
	"1 5400 300 sched_process_exec filename=/bin/job pid=300 old_pid=300",
	"1 5500 300 sys_exit id=59 ret=0",
	"1 5600 300 sys_enter id=1",
	"1 5700 300 contention_begin lock_addr=77 flags=2",
	"1 5800 300 sched_switch prev_comm=job prev_pid=300 prev_state=2 next_comm=swapper/1 next_pid=0",
	"0 6000 100 sched_waking comm=job pid=300 target_cpu=1",
	"0 6010 100 sched_wakeup comm=job pid=300 target_cpu=1",
	"1 6500 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=job next_pid=300",
	"1 6600 300 contention_end lock_addr=77 ret=0",
	"1 6700 300 kmalloc call_site=5 ptr=4096 bytes_req=100 bytes_alloc=128",
	"1 6800 300 block_bio_queue dev=8 sector=64 nr_sector=8 rwbs=R comm=job",
	"1 6900 300 block_rq_issue dev=8 sector=64 nr_sector=8 bytes=4096 rwbs=R comm=job",
	"1 7000 300 irq_handler_entry common_flags=8 irq=9 name=disk",
	"1 7100 300 block_rq_complete common_flags=8 dev=8 sector=64 nr_sector=8 error=0 rwbs=R",
	"1 7200 300 irq_handler_exit common_flags=8 irq=9 ret=1",
	"1 7300 300 kfree call_site=6 ptr=4096",
	"1 7400 300 sys_exit id=1 ret=4096",
	"1 7500 300 sched_process_exit comm=job pid=300 prio=120",
	"0 7600 100 sched_waking comm=sh pid=200 target_cpu=1",
	"1 7700 300 sched_switch prev_comm=job prev_pid=300 prev_state=32 next_comm=sh next_pid=200",
	"0 8000 100 sched_process_exec filename=/bin/last pid=100 old_pid=100",
	"1 8000 200 sched_process_exec filename=/bin/next pid=200 old_pid=200",
};

static bool wants(const struct analysis_ops *ops, const char *name)
{
	for (size_t i = 0; ops->wants[i].event; i++)
		if (pass_is_named(ops->wants[i].event, name))
			return true;
	for (size_t i = 0; ops->like && ops->like[i]; i++)
		if (wants(ops->like[i], name))
			return true;
	return false;
}

/* Whether the analysis wants the event of a line. */
static bool has_line(const struct analysis_ops *ops, const char *line)
{
	char event[64] = "", name[128];

	if (!CHECK(sscanf(line, "%*s %*s %*s %63s", event) == 1))
		return false;
	for (size_t i = 0; i < array_size(kinds); i++) {
		snprintf(name, sizeof(name), "%s:%s", kinds[i].system, kinds[i].name);
		if (!strcmp(kinds[i].name, event))
			return wants(ops, name);
	}
	/* An event of the story that kinds[] lacks. */
	return CHECK(false);
}

/* Adds what the analysis makes of the whole story, or of the events that it wants. */
static bool make_tables(const struct analysis_ops *ops, bool whole, struct buf *into)
{
	const struct findings_options options = { .format = TABLE_AS_CSV, .top = UINT64_MAX };
	cleanup_buf struct buf script = BUF_INIT;
	struct analysed analysed;
	struct out out;
	bool ok = true;

	for (size_t i = 0; ok && i < array_size(story); i++)
		if (whole || has_line(ops, story[i]))
			ok = buf_addf(&script, "%s\n", story[i]);
	if (!CHECK(ok) || !CHECK(out_init(&out, 1 << 12)))
		return false;
	ok = analysed_begin(&analysed, ops, NULL, types, buf_str(&script));
	if (ok) {
		ok = findings_write(&analysed.findings, &options, &out) && buf_add(into, out.start, out_len(&out)) &&
		     buf_addf(into, "cut: %s\nbroken: %s\n", buf_str(&analysed.findings.cut),
			      buf_str(&analysed.findings.broken));
		analysed_end(&analysed);
	}
	out_release(&out);
	return CHECK(ok);
}

TEST(what_is_recorded_for_an_analysis_makes_the_tables_of_a_recording_of_everything)
{
	static const char *const names[] = { "sched", "syscalls", "irq",   "latency", "block",
					     "locks", "memory",   "power", "tasks" };

	for (size_t i = 0; i < array_size(names); i++) {
		const struct analysis_ops *ops = analysis_named(names[i]);
		cleanup_buf struct buf all = BUF_INIT, wanted = BUF_INIT;

		REQUIRE(ops);
		if (!make_tables(ops, true, &all) || !make_tables(ops, false, &wanted))
			continue;
		if (!CHECK(!strcmp(buf_str(&all), buf_str(&wanted))))
			printf("%s of everything:\n%s\nof what --for %s records:\n%s\n", names[i], buf_str(&all),
			       names[i], buf_str(&wanted));
	}
}
