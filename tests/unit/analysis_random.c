// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/block/block.h"
#include "lib/answers/locks/locks_internal.h"
#include "lib/answers/tasks/tasks.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/*
 * Random events in impossible orders, with values that repeat and extreme values, and with losses: nothing may crash,
 * and all sums must hold.
 */

#define BIO "u32 dev; u64 sector; u32 nr_sector; char rwbs[8]"

static const struct {
	const char *system, *name, *fields, *line;
} kinds[] = {
	{ "block", "block_bio_queue", BIO, "dev=%u sector=%" PRIu64 " nr_sector=%u rwbs=R" },
	{ "block", "block_rq_issue", BIO, "dev=%u sector=%" PRIu64 " nr_sector=%u rwbs=R" },
	{ "block", "block_rq_complete", BIO "; int error", "dev=%u sector=%" PRIu64 " nr_sector=%u rwbs=R" },
	{ "block", "block_rq_requeue", BIO, "dev=%u sector=%" PRIu64 " nr_sector=%u rwbs=R" },
	{ "block", "block_split", "u32 dev; u64 sector; u64 new_sector; char rwbs[8]",
	  "dev=%u sector=%" PRIu64 " new_sector=%u rwbs=R" },
	{ "block", "block_bio_frontmerge", BIO, "dev=%u sector=%" PRIu64 " nr_sector=%u rwbs=R" },
	{ "block", "block_bio_remap", "u32 dev; u64 sector; u32 nr_sector; u32 old_dev",
	  "dev=%u sector=%" PRIu64 " old_dev=%u" },
	{ "lock", "contention_begin", "u32 flags; u64 lock_addr; u32 pad", "flags=%u lock_addr=%" PRIu64 " pad=%u" },
	{ "lock", "contention_end", "int ret; u64 lock_addr; u32 pad", "ret=%u lock_addr=%" PRIu64 " pad=%u" },
	{ "ftrace", "kernel_stack", "int size; u64 caller; u64 next", "size=%u caller=%" PRIu64 " next=%u" },
	{ "ftrace", "user_stack", "u32 tgid; u64 caller; u64 next", "tgid=%u caller=%" PRIu64 " next=%u" },
	{ "kmem", "kmalloc", "u32 call_site; u64 ptr; u32 bytes_alloc", "call_site=%u ptr=%" PRIu64 " bytes_alloc=%u" },
	{ "kmem", "kfree", "u32 call_site; u64 ptr; u32 pad", "call_site=%u ptr=%" PRIu64 " pad=%u" },
	{ "vmscan", "mm_vmscan_direct_reclaim_begin", "u32 order; u64 pad; u32 more",
	  "order=%u pad=%" PRIu64 " more=%u" },
	{ "vmscan", "mm_vmscan_direct_reclaim_end", "u32 pad; u64 nr_reclaimed; u32 more",
	  "pad=%u nr_reclaimed=%" PRIu64 " more=%u" },
	{ "power", "cpu_idle", "u32 state; u64 pad; u32 cpu_id", "state=%u pad=%" PRIu64 " cpu_id=%u" },
	{ "task", "task_newtask", "pid_t pid; u64 clone_flags; u32 pad", "pid=%u clone_flags=%" PRIu64 " pad=%u" },
	{ "sched", "sched_process_exec", "pid_t pid; u64 pad; pid_t old_pid; __data_loc char[] filename",
	  "pid=%u pad=%" PRIu64 " old_pid=%u filename=/bin/a" },
	{ "sched", "sched_process_exit", "pid_t pid; u64 pad; u32 more", "pid=%u pad=%" PRIu64 " more=%u" },
	{ "task", "task_rename", "pid_t pid; u64 pad; u32 more; char newcomm[16]",
	  "pid=%u pad=%" PRIu64 " more=%u newcomm=b" },
	{ "syscalls", "sys_enter_exit_group", "int nr; u64 error_code; u32 pad",
	  "nr=%u error_code=%" PRIu64 " pad=%u" },
	{ "signal", "signal_deliver", "int sig; u64 sa_handler; u32 pad", "sig=%u sa_handler=%" PRIu64 " pad=%u" },
	{ "power", "cpu_frequency", "u32 state; u64 pad; u32 cpu_id", "state=%u pad=%" PRIu64 " cpu_id=%u" },
	{ "irq", "softirq_entry", "u32 vec; u64 pad; u32 more", "vec=%u pad=%" PRIu64 " more=%u" },
	{ "irq", "softirq_exit", "u32 vec; u64 pad; u32 more", "vec=%u pad=%" PRIu64 " more=%u" },
	{ "timer", "hrtimer_expire_entry", "u32 hrtimer; u64 now; u32 function",
	  "hrtimer=%u now=%" PRIu64 " function=%u" },
};

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly one of few values, so that many events refer to the same objects. */
static uint64_t value(uint64_t *seed)
{
	uint64_t random = next(seed);

	return random % 16 == 0 ? UINT64_MAX : random % 17 == 0 ? random : random % 5;
}

static void play(struct loom *loom, uint64_t seed)
{
	struct buf script = { .data = NULL };
	char text[128];

	for (uint64_t i = 0; i < 3000; i++) {
		unsigned cpu = (unsigned)(next(&seed) % LOOM_CPUS),
			 kind = (unsigned)(next(&seed) % (array_size(kinds) + 3));
		uint64_t sector = value(&seed);

		if (kind < array_size(kinds)) {
			snprintf(text, sizeof(text), kinds[kind].line, (unsigned)value(&seed), sector,
				 (unsigned)value(&seed));
			CHECK(buf_addf(&script, "%u %" PRIu64 " %u %s %s\n", cpu, 1000 + i * 10,
				       (unsigned)(next(&seed) % 4), kinds[kind].name, text));
		} else if (kind == array_size(kinds) && next(&seed) % 64 == 0) {
			CHECK(buf_addf(&script, "%u lost 3\n", cpu));
		} else {
			CHECK(buf_addf(&script, "%u %" PRIu64 " 1 sched_switch prev_pid=%u prev_state=%u next_pid=%u\n",
				       cpu, 1000 + i * 10, (unsigned)(next(&seed) % 4), (unsigned)(next(&seed) % 3),
				       (unsigned)(next(&seed) % 4)));
		}
	}
	loom_play(loom, buf_str(&script));
	buf_release(&script);
}

static void run(uint64_t seed)
{
	static const struct block_options block = { .rows.by = BLOCK_BY_TASK };
	static const struct row_options locks = { .by = LOCKS_BY_CALLER };
	static const struct row_options stacks = { .by = 1 /* function */ };
	static const struct tasks_options tree = { .tree = true }, programs = { .rows.by = TASKS_BY_PROGRAM };
	static const struct tasks_options parents = { .rows.by = TASKS_BY_PARENT };
	const struct {
		const struct analysis_ops *ops;
		const void *options;
	} all[] = { { &block_analysis, NULL },   { &locks_analysis, NULL },      { &stacks_analysis, NULL },
		    { &memory_analysis, NULL },  { &power_analysis, NULL },      { &block_analysis, &block },
		    { &locks_analysis, &locks }, { &stacks_analysis, &stacks },  { &tasks_analysis, NULL },
		    { &tasks_analysis, &tree },  { &tasks_analysis, &programs }, { &tasks_analysis, &parents },
		    { &irq_analysis, NULL } };
	const struct findings_options options = { .format = TABLE_AS_TEXT, .top = 5, .input = "f" };
	struct analysed analysed = { .trace = NULL };
	struct fail fail = FAIL_INIT;

	loom_init(&analysed.loom);
	for (size_t i = 0; i < array_size(kinds); i++)
		loom_type(&analysed.loom, kinds[i].system, kinds[i].name, kinds[i].fields, "\"\"");
	play(&analysed.loom, seed);
	analysed.trace = loom_trace(&analysed.loom);
	reader_init(&analysed.reader);
	REQUIRE(analysed.trace && !reader_add_trace(&analysed.reader, analysed.trace, &fail));
	REQUIRE(!reader_start(&analysed.reader, &(struct reader_options){ .pool = NULL }, &fail));
	REQUIRE(!pass_init(&analysed.pass, &analysed.reader, &(struct pass_filter){ .nr_pids = 0 }, &fail));
	for (size_t i = 0; i < array_size(all); i++)
		REQUIRE(!pass_add(&analysed.pass, all[i].ops, all[i].options, &fail));
	CHECK(!pass_run(&analysed.pass, NULL, &fail));
	for (size_t i = 0; i < array_size(all); i++) {
		struct findings findings;
		struct out out;

		findings_init(&findings);
		REQUIRE(out_init(&out, 1 << 14));
		CHECK(!pass_finish(&analysed.pass, i, &findings, &fail) &&
		      !findings_arrange(&findings, &options, &fail));
		CHECK(findings_write(&findings, &options, &out) && out_len(&out));
		out_release(&out);
		findings_release(&findings);
	}
	findings_init(&analysed.findings);
	analysed_end(&analysed);
}

TEST(analyses_of_resources_live_with_any_order_of_events)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		run(seed * 0x9e3779b97f4a7c15u);
}
