// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/answers/locks/locks_internal.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "lock", "contention_begin", "u64 lock_addr; u32 flags", "\"\"");
	loom_type(loom, "lock", "contention_end", "u64 lock_addr; int ret", "\"\"");
	loom_type(loom, "lock", "lock_acquire", "u32 flags; char name[16]; u64 lockdep_addr", "\"\"");
	loom_type(loom, "lock", "lock_contended", "char name[16]; u64 lockdep_addr", "\"\"");
	loom_type(loom, "lock", "lock_acquired", "char name[16]; u64 lockdep_addr", "\"\"");
	loom_type(loom, "lock", "lock_release", "char name[16]; u64 lockdep_addr", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_futex", "int __syscall_nr; u64 uaddr; u64 op; u64 val", "\"\"");
	loom_type(loom, "syscalls", "sys_exit_futex", "int __syscall_nr; long ret", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_futex_time32", "int __syscall_nr; u64 uaddr; u64 op", "\"\"");
	loom_type(loom, "syscalls", "sys_exit_futex_time32", "int __syscall_nr; long ret", "\"\"");
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller", "\"\"");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "sh");
}

TEST(locks_tells_spinning_from_sleeping_and_who_ended_the_wait)
{
	static const struct row_options slowest = { .slowest = 2 };
	struct analysed analysed;

	/*
	 * A wait for a mutex that first spins and then sleeps has two begins: 100 spinning, 5000 asleep, 300 until the
	 * task has a CPU, 50 until the end.
	 */
	if (!analysed_begin(
		    &analysed, &locks_analysis, &slowest, types,
		    "1 900 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=sh next_pid=8\n"
		    "0 1000 7 contention_begin lock_addr=0xffff888001 flags=33\n"
		    "0 1050 7 kernel_stack size=1 caller=0x77\n"
		    "0 1060 7 contention_begin lock_addr=0xffff888001 flags=32\n"
		    "0 1100 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=swapper/0 next_pid=0\n"
		    "1 6100 8 sched_waking comm=ls pid=7 target_cpu=0\n"
		    "0 6400 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 6450 7 contention_end lock_addr=0xffff888001\n"
		    "0 7000 7 contention_begin lock_addr=0xffff888002 flags=1\n"
		    "0 7100 7 contention_end lock_addr=0xffff888002 ret=-4\n"
		    "0 9000 7 sched_switch prev_comm=later prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"))
		return;
	CHECK(analysed_is(&analysed, "locks", "0xffff888001", "type", "mutex") &&
	      analysed_is(&analysed, "locks", "0xffff888001", "waits", "1"));
	CHECK(analysed_is(&analysed, "locks", "0xffff888001", "total", "5450") &&
	      analysed_is(&analysed, "locks", "0xffff888001", "sleep", "5000"));
	CHECK(analysed_is(&analysed, "locks", "0xffff888001", "spin", "150") &&
	      analysed_is(&analysed, "locks", "0xffff888001", "wait", "300"));
	CHECK(analysed_is(&analysed, "locks", "0xffff888001", "woken_by", "sh") &&
	      analysed_is(&analysed, "locks", "0xffff888001", "max_at", "0.000006450"));
	CHECK(analysed_is(&analysed, "locks", "0xffff888001", "caller", "0x77"));
	CHECK(analysed_is(&analysed, "locks", "0xffff888002", "type", "spinlock") &&
	      analysed_is(&analysed, "locks", "0xffff888002", "given_up", "1"));
	CHECK(analysed_is(&analysed, "locks", "0xffff888002", "spin", "100") &&
	      analysed_is(&analysed, "locks", "0xffff888002", "woken_by", "-"));
	CHECK(analysed_is(&analysed, "slowest", "5450", "lock", "0xffff888001") &&
	      analysed_is(&analysed, "slowest", "5450", "cause", "released by sh-8") &&
	      analysed_is(&analysed, "slowest", "5450", "since", "0.000001000"));
	CHECK(analysed_is(&analysed, "slowest", "100", "cause", "gave up: spinning"));
	/* As the task was called then. */
	CHECK(analysed_is(&analysed, "slowest", "5450", "comm", "ls") &&
	      analysed_is(&analysed, "slowest", "100", "comm", "ls"));
	analysed_end(&analysed);
}

/* Two tasks wait for two locks of one task, and spin for a third of nobody. */
TEST(locks_sums_the_waits_that_a_task_ended)
{
	static const struct row_options by = { .by = LOCKS_BY_WAKER };
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &locks_analysis, &by, types,
		    "1 900 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=sh next_pid=8\n"
		    "0 1000 7 contention_begin lock_addr=0xffff888001 flags=32\n"
		    "0 1100 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=swapper/0 next_pid=0\n"
		    "1 6100 8 sched_waking comm=ls pid=7 target_cpu=0\n"
		    "0 6400 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 6450 7 contention_end lock_addr=0xffff888001\n"
		    "0 7000 7 contention_begin lock_addr=0xffff888003 flags=32\n"
		    "0 7100 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=swapper/0 next_pid=0\n"
		    "1 8100 8 sched_waking comm=ls pid=7 target_cpu=0\n"
		    "0 8400 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 8500 7 contention_end lock_addr=0xffff888003\n"
		    "0 9000 7 contention_begin lock_addr=0xffff888002 flags=1\n"
		    "0 9100 7 contention_end lock_addr=0xffff888002\n"
		    "0 9200 7 contention_begin lock_addr=0xffff888003 flags=32\n"
		    "0 9300 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=swapper/0 next_pid=0\n"
		    "0 9400 0 sched_waking common_flags=8 comm=ls pid=7 target_cpu=0\n"
		    "0 9500 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 9600 7 contention_end lock_addr=0xffff888003 ret=-110\n"))
		return;
	/* An interrupt has no PID. */
	CHECK(analysed_is(&analysed, "locks", "an interrupt", "total", "400") &&
	      analysed_is(&analysed, "locks", "an interrupt", "pid", "-") &&
	      analysed_is(&analysed, "locks", "an interrupt", "woken_by_pid", ""));
	CHECK(analysed_is(&analysed, "locks", "sh", "pid", "8") &&
	      analysed_is(&analysed, "locks", "sh", "waits", "2") &&
	      analysed_is(&analysed, "locks", "sh", "total", "6950"));
	CHECK(analysed_is(&analysed, "locks", "(nobody woke it)", "total", "100"));
	analysed_end(&analysed);
}

/* An interrupt that hits a waiting task waits for another lock. */
TEST(locks_keeps_two_waits_of_one_task_apart_and_counts_by_task)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &locks_analysis, &(struct row_options){ .by = LOCKS_BY_TASK }, types,
			    "0 1000 7 contention_begin lock_addr=0x10 flags=1\n"
			    "0 1100 7 contention_begin lock_addr=0x20 flags=1 common_flags=8\n"
			    "0 1150 7 contention_end lock_addr=0x20 common_flags=8\n"
			    "0 1400 7 contention_end lock_addr=0x10\n"
			    "1 1100 8 contention_begin lock_addr=0x10 flags=1\n"
			    "1 1500 8 contention_end lock_addr=0x10\n"))
		return;
	CHECK(analysed_is(&analysed, "locks", "ls", "total", "450") &&
	      analysed_is(&analysed, "locks", "ls", "waits", "2"));
	CHECK(analysed_is(&analysed, "locks", "sh", "total", "400") &&
	      analysed_is(&analysed, "locks", "sh", "pid", "8"));
	analysed_end(&analysed);
}

TEST(locks_pairs_waits_for_a_futex_and_leaves_out_those_that_did_not_wait)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "0 1000 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=128\n"
			    "0 6000 7 sys_exit_futex __syscall_nr=202 ret=0\n"
			    "0 7000 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=128\n"
			    "0 7001 7 sys_exit_futex __syscall_nr=202 ret=-11\n"
			    "0 7100 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=129\n"
			    "0 7900 7 sys_exit_futex __syscall_nr=202 ret=1\n"
			    "0 8000 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=393\n"
			    "0 8100 7 sys_exit_futex __syscall_nr=202 ret=-110\n"))
		return;
	CHECK(analysed_is(&analysed, "locks", "0x5000", "type", "futex") &&
	      analysed_is(&analysed, "locks", "0x5000", "waits", "2"));
	CHECK(analysed_is(&analysed, "locks", "0x5000", "total", "5100") &&
	      analysed_is(&analysed, "locks", "0x5000", "given_up", "1"));
	analysed_end(&analysed);
}

TEST(locks_says_that_threads_of_one_process_cannot_be_told)
{
	struct analysed analysed;

	/* 7 and 8 may be threads of one process, or have a futex each. */
	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "0 1000 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=128\n"
			    "1 1100 8 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=128\n"
			    "0 6000 7 sys_exit_futex __syscall_nr=202 ret=0\n"
			    "1 6100 8 sys_exit_futex __syscall_nr=202 ret=0\n"))
		return;
	CHECK(strstr(buf_str(&analysed.findings.missing), "-O record-tgid (which threads share a futex"));
	analysed_end(&analysed);
}

TEST(locks_counts_both_calls_of_a_32_bit_kernel)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "0 1000 7 sys_enter_futex __syscall_nr=422 uaddr=0x5000 op=128\n"
			    "0 6000 7 sys_exit_futex __syscall_nr=422 ret=0\n"
			    "0 7000 7 sys_enter_futex_time32 __syscall_nr=240 uaddr=0x5000 op=128\n"
			    "0 7100 7 sys_exit_futex_time32 __syscall_nr=240 ret=0\n"))
		return;
	CHECK(analysed_is(&analysed, "locks", "0x5000", "waits", "2") &&
	      analysed_is(&analysed, "locks", "0x5000", "total", "5100"));
	analysed_end(&analysed);
}

TEST(locks_knows_the_names_and_holds_of_lockdep)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "0 1000 7 lock_acquire name=&mm->lock lockdep_addr=0x30\n"
			    "0 1001 7 lock_contended name=&mm->lock lockdep_addr=0x30\n"
			    "0 1201 7 lock_acquired name=&mm->lock lockdep_addr=0x30\n"
			    "0 1500 7 lock_release name=&mm->lock lockdep_addr=0x30\n"))
		return;
	CHECK(analysed_is(&analysed, "locks", "&mm->lock", "total", "200") &&
	      analysed_is(&analysed, "locks", "&mm->lock", "held_max_ns", "299"));
	analysed_end(&analysed);
}

TEST(locks_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "0 1000 7 contention_end lock_addr=0x10\n"
			    "0 1100 7 contention_begin lock_addr=0x20 flags=1\n"
			    "1 1150 8 contention_begin lock_addr=0x30 flags=1\n"
			    "1 lost 3\n"
			    "1 1500 8 contention_end lock_addr=0x30\n"
			    "0 1600 7 contention_begin lock_addr=0x40 flags=1\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut), "1 wait that began before the start, 1 wait under way at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "2 waits, 1 gap");
	analysed_end(&analysed);
}

TEST(locks_takes_a_wait_for_the_end_of_a_thread_for_no_wait_for_a_lock)
{
	struct analysed analysed;

	/*
	 * pthread_join() of the thread 9: FUTEX_WAIT_BITSET with FUTEX_CLOCK_REALTIME, of the TID. Task 7 then waits
	 * for a mutex that processes share, whose state is 2, and for one of its own, whose value is by chance a TID.
	 */
	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "1 900 0 sched_switch prev_comm=swapper/1 next_comm=thread next_pid=9\n"
			    "0 1000 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=265 val=9\n"
			    "0 900000 7 sys_exit_futex __syscall_nr=202 ret=0\n"
			    "0 910000 7 sys_enter_futex __syscall_nr=202 uaddr=0x6000 op=0 val=2\n"
			    "0 910300 7 sys_exit_futex __syscall_nr=202 ret=0\n"
			    "0 920000 7 sys_enter_futex __syscall_nr=202 uaddr=0x7000 op=128 val=9\n"
			    "0 920200 7 sys_exit_futex __syscall_nr=202 ret=0\n"))
		return;
	CHECK(analysed_is(&analysed, "locks", "0x6000", "total", "300") &&
	      analysed_is(&analysed, "locks", "0x7000", "total", "200"));
	CHECK(analysed.findings.items[0].table.nr_items / analysed.findings.items[0].table.nr_columns == 2);
	CHECK(analysed.findings.worst[0].lasted == 300);
	CHECK(strstr(buf_str(&analysed.findings.notes), "1 time a task waited for the end of a thread (pthread_join)"));
	CHECK(!analysed.findings.broken.len);
	analysed_end(&analysed);
}

TEST(locks_sorts_rows_that_are_equal_by_the_name_of_the_lock)
{
	static const char *const rows[] = { "0x1000", "0x2000", "0x3000", "0x4000", "0x5000", "0x6000" };
	const struct findings_options options = { .top = UINT64_MAX };
	struct analysed analysed;
	const struct table *table;

	if (!analysed_begin(&analysed, &locks_analysis, NULL, types,
			    "0 1000 7 contention_begin lock_addr=0x6000 flags=1\n"
			    "0 1100 7 contention_end lock_addr=0x6000\n"
			    "0 1200 7 contention_begin lock_addr=0x2000 flags=1\n"
			    "0 1300 7 contention_end lock_addr=0x2000\n"
			    "0 1400 7 contention_begin lock_addr=0x5000 flags=1\n"
			    "0 1500 7 contention_end lock_addr=0x5000\n"
			    "0 1600 7 contention_begin lock_addr=0x1000 flags=1\n"
			    "0 1700 7 contention_end lock_addr=0x1000\n"
			    "0 1800 7 contention_begin lock_addr=0x4000 flags=1\n"
			    "0 1900 7 contention_end lock_addr=0x4000\n"
			    "0 2000 7 contention_begin lock_addr=0x3000 flags=1\n"
			    "0 2100 7 contention_end lock_addr=0x3000\n"))
		return;
	CHECK(!findings_arrange(&analysed.findings, &options, NULL));
	table = &analysed.findings.items[0].table;
	for (size_t i = 0; i < array_size(rows); i++)
		CHECK(!strcmp(table_text_at(table, i, 0), rows[i]));
	analysed_end(&analysed);
}

TEST(locks_says_what_ended_a_wait_that_was_given_up_and_that_a_switch_is_missing)
{
	static const struct row_options slowest = { .slowest = 1 };
	struct analysed analysed;

	/* At 7000 the task 7 is on a CPU that the last sched_switch gave to 8. */
	if (!analysed_begin(
		    &analysed, &locks_analysis, &slowest, types,
		    "1 900 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=sh next_pid=8\n"
		    "0 1000 7 contention_begin lock_addr=0xffff888001 flags=32\n"
		    "0 1100 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=swapper/0 next_pid=0\n"
		    "1 6100 8 sched_waking comm=ls pid=7 target_cpu=0\n"
		    "0 6400 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 6450 7 contention_end lock_addr=0xffff888001 ret=-4\n"
		    "1 7000 7 contention_begin lock_addr=0xffff888002 flags=1\n"))
		return;
	CHECK(analysed_is(&analysed, "slowest", "5450", "cause", "gave up; the wait was ended by sh-8"));
	CHECK(strstr(buf_str(&analysed.findings.notes),
		     "had left it: the file lacks the event of the switch, though none is lost"));
	analysed_end(&analysed);
}

TEST(locks_says_which_event_needs_a_stack_and_that_a_futex_has_no_caller)
{
	static const char *const futex = "0 1000 7 sys_enter_futex __syscall_nr=202 uaddr=0x5000 op=128\n"
					 "0 6000 7 sys_exit_futex __syscall_nr=202 ret=0\n",
				 *const lock = "0 1000 7 contention_begin lock_addr=0xffff888001 flags=1\n"
					       "0 1100 7 contention_end lock_addr=0xffff888001\n";
	static const char *const of_kernel = "its caller is not known; record lock:contention_begin with -T",
				 *const of_futex = "a futex has no CALLER: programs wait for it; weft stacks -e "
						   "syscalls:sys_enter_futex shows their functions";
	struct analysed analysed;

	if (!analysed_begin(&analysed, &locks_analysis, NULL, types, futex))
		return;
	CHECK(strstr(buf_str(&analysed.findings.notes), of_futex));
	CHECK(!strstr(buf_str(&analysed.findings.notes), "with -T\n"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &locks_analysis, NULL, types, lock))
		return;
	CHECK(strstr(buf_str(&analysed.findings.notes), of_kernel));
	CHECK(!strstr(buf_str(&analysed.findings.notes), "a futex has no CALLER"));
	analysed_end(&analysed);
}
