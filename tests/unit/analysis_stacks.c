// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 next", "\"\"");
	loom_type(loom, "ftrace", "user_stack", "int tgid; u64 caller; u64 next", "\"\"");
	loom_type(loom, "block", "touch", "int dev", "\"\"");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "sh");
}

TEST(stacks_counts_events_by_the_stack_behind_them)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &stacks_analysis, NULL, types,
			    "0 1000 7 touch dev=1\n"
			    "0 1001 7 kernel_stack caller=0x10 next=0x20\n"
			    "0 1100 7 touch dev=1\n"
			    "0 1101 7 kernel_stack caller=0x10 next=0x20\n"
			    "0 1102 7 user_stack tgid=7 caller=0x5000\n"
			    "1 1200 8 touch dev=1\n"
			    "1 1201 8 kernel_stack caller=0x30 next=0x20\n"
			    "1 1300 8 touch dev=1\n"))
		return;
	CHECK(analysed_is(&analysed, "events", "0x10", "count", "2") &&
	      analysed_is(&analysed, "events", "0x10", "stack", "0x10 < 0x20"));
	CHECK(analysed_is(&analysed, "events", "0x30", "count", "1") &&
	      analysed_is(&analysed, "events", "0x30", "event", "block:touch"));
	CHECK(analysed_is(&analysed, "events", "0x5000", "count", "1"));
	analysed_end(&analysed);
}

/* FTRACE_TRAMPOLINE_MARKER of the kernel is no address. */
TEST(stacks_names_the_trampoline_of_the_tracer_as_the_kernel_does)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &stacks_analysis, NULL, types,
			    "0 1000 7 touch dev=1\n"
			    "0 1001 7 kernel_stack caller=0x7fffffff next=0x20\n"))
		return;
	CHECK(analysed_is(&analysed, "events", "[ftrace trampoline]", "stack", "[ftrace trampoline] < 0x20"));
	analysed_end(&analysed);
}

static void faults(struct loom *loom)
{
	types(loom);
	loom->kallsyms = "ffffffff81000000 T _stext\nffffffff81000100 T asm_exc_page_fault\n"
			 "ffffffff81000200 T exc_page_fault\nffffffff81000300 T copy_page_to_iter\n"
			 "ffffffff81000400 T vfs_read\nffffffff81000500 T _etext\n";
	loom_type(loom, "exceptions", "page_fault_user", "u64 address; u64 ip", "\"\"");
	loom_type(loom, "exceptions", "page_fault_kernel", "u64 address; u64 ip", "\"\"");
}

/* All page faults enter the kernel by the same functions. */
TEST(stacks_names_who_had_a_page_fault_not_how_it_enters)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &stacks_analysis, NULL, faults,
			    "0 1000 7 page_fault_kernel address=0x5000 ip=0xffffffff81000310\n"
			    "0 1001 7 kernel_stack caller=0xffffffff81000210 next=0xffffffff81000310\n"
			    "0 1100 7 page_fault_user address=0x6000 ip=0x7000\n"
			    "0 1101 7 kernel_stack caller=0xffffffff81000210 next=0xffffffff81000110\n"
			    "0 1102 7 user_stack tgid=7 caller=0x7000\n"))
		return;
	CHECK(analysed_is(&analysed, "events", "copy_page_to_iter", "count", "1") &&
	      analysed_is(&analysed, "events", "copy_page_to_iter", "stack", "exc_page_fault < copy_page_to_iter"));
	CHECK(analysed_is(&analysed, "events", "exc_page_fault", "event", "exceptions:page_fault_user"));
	CHECK(analysed_is(&analysed, "events", "0x7000", "event", "exceptions:page_fault_user"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "1 page fault of programs: the kernel's stack is the entry"));
	analysed_end(&analysed);
}

static void ticks(struct loom *loom)
{
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 next; u64 last", "\"\"");
	loom_type(loom, "ftrace", "user_stack", "int tgid; u64 caller; u64 next", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_entry", "u64 function", "\"\"");
	loom_task(loom, 7, "ls");
	loom->kallsyms = "ffffffff81000000 T _stext\nffffffff81000100 T hrtimer_interrupt\n"
			 "ffffffff81000200 T asm_sysvec_apic_timer_interrupt\nffffffff81000300 T vfs_read\n"
			 "ffffffff81000400 T handle_softirqs\nffffffff81000500 T _etext\n";
	loom_setting(loom, "weft/hz", "100\n");
}

/* In the order of the script: in the program, in the kernel, without stacks, idle, and in a softirq of an idle CPU. */
static const char ticks_script[] =
	"0 1000 7 hrtimer_expire_entry common_flags=0x8 function=1\n"
	"0 1001 7 kernel_stack caller=0xffffffff81000110 next=0xffffffff81000210 last=0xffffffffffffffff\n"
	"0 1002 7 user_stack tgid=7 caller=0x5000 next=0x6000\n"
	"0 2000 7 hrtimer_expire_entry common_flags=0x8 function=1\n"
	"0 2001 7 kernel_stack caller=0xffffffff81000110 next=0xffffffff81000210 last=0xffffffff81000310\n"
	"0 2002 7 user_stack tgid=7 caller=0x5000 next=0x6000\n"
	"0 3000 7 hrtimer_expire_entry common_flags=0x8 function=1\n"
	"1 3500 0 hrtimer_expire_entry common_flags=0x8 function=1\n"
	"1 3501 0 kernel_stack caller=0xffffffff81000110 next=0xffffffff81000210 last=0xffffffff81000310\n"
	"1 4000 0 hrtimer_expire_entry common_flags=0x18 function=1\n"
	"1 4001 0 kernel_stack caller=0xffffffff81000110 next=0xffffffff81000210 last=0xffffffff81000410\n";

TEST(stacks_on_cpu_has_what_each_tick_interrupted_and_nothing_of_the_tick)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &stacks_on_cpu_analysis, NULL, ticks, ticks_script))
		return;
	CHECK(analysed_is(&analysed, "on_cpu", "0x5000", "samples", "1") &&
	      analysed_is(&analysed, "on_cpu", "0x5000", "stack", "0x5000 < 0x6000") &&
	      analysed_is(&analysed, "on_cpu", "0x5000", "time_ns", "10000000"));
	CHECK(analysed_is(&analysed, "on_cpu", "vfs_read", "samples", "1") &&
	      analysed_is(&analysed, "on_cpu", "vfs_read", "stack", "vfs_read < 0x5000 < 0x6000"));
	CHECK(analysed_is(&analysed, "on_cpu", "(no stack)", "samples", "1"));
	CHECK(analysed_is(&analysed, "on_cpu", "handle_softirqs", "samples", "1"));
	CHECK(strstr(buf_str(&analysed.findings.notes),
		     "4 samples, one at each tick of a CPU that is not idle: 100 a second"));
	analysed_end(&analysed);
}

static const char off_script[] =
	"1 900 8 sched_waking comm=x pid=9 target_cpu=2\n"
	"0 1000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
	"0 1001 7 kernel_stack caller=0x10 next=0x20\n"
	"1 4000 8 sched_waking comm=ls pid=7 target_cpu=0\n"
	"1 4001 8 kernel_stack caller=0x50 next=0x60\n"
	"1 4002 8 user_stack tgid=8 caller=0x5000\n"
	"0 4500 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
	"0 4501 0 kernel_stack caller=0x99 next=0x98\n"
	"0 5000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=0 next_comm=rt next_pid=6\n"
	"0 5001 7 kernel_stack caller=0x30 next=0x20\n"
	"0 5200 6 sched_switch prev_comm=rt prev_pid=6 prev_state=2 next_comm=ls next_pid=7\n"
	"0 5201 6 kernel_stack caller=0x10 next=0x20\n";

TEST(stacks_tells_blocked_from_runnable_by_the_stack_where_the_task_left)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &stacks_analysis, NULL, types, off_script))
		return;
	CHECK(analysed_is(&analysed, "off_cpu", "0x10", "blocked", "3000") &&
	      analysed_is(&analysed, "off_cpu", "0x10", "runnable", "500"));
	CHECK(analysed_is(&analysed, "off_cpu", "0x10", "woken_by", "sh") &&
	      analysed_is(&analysed, "off_cpu", "0x10", "max_at", "0.000004500"));
	CHECK(analysed_is(&analysed, "off_cpu", "0x10", "waker_stack", "0x50 < 0x60 < 0x5000") &&
	      analysed_is(&analysed, "off_cpu", "0x30", "waker_stack", ""));
	CHECK(analysed_is(&analysed, "off_cpu", "0x30", "blocked", "0") &&
	      analysed_is(&analysed, "off_cpu", "0x30", "runnable", "200"));
	CHECK_STR(buf_str(&analysed.findings.cut), "1 time off the CPU at the end");
	analysed_end(&analysed);
}

/* Task 9 wakes and ends; an interrupt on top of task 8 has nothing to do with that. */
TEST(stacks_names_a_waker_that_has_ended_and_no_bystander)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &stacks_analysis, NULL, types,
		    "1 900 9 sched_switch prev_comm=cc prev_pid=9 prev_state=0 next_comm=cc next_pid=9\n"
		    "0 1000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		    "0 1001 7 kernel_stack caller=0x10 next=0x20\n"
		    "1 4000 9 sched_waking comm=ls pid=7 target_cpu=0\n"
		    "1 4100 9 sched_switch prev_comm=cc prev_pid=9 prev_state=16 next_comm=sh next_pid=8\n"
		    "0 4500 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 5000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		    "0 5001 7 kernel_stack caller=0x30 next=0x20\n"
		    "1 6000 8 sched_waking common_flags=8 comm=ls pid=7 target_cpu=0\n"
		    "0 6500 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "off_cpu", "0x10", "woken_by", "cc"));
	CHECK(analysed_is(&analysed, "off_cpu", "0x30", "woken_by", "an interrupt"));
	analysed_end(&analysed);
}

TEST(stacks_adds_up_the_times_of_a_task)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &stacks_analysis, &(struct row_options){ .by = 2 /* task */ }, types,
			    off_script))
		return;
	CHECK(analysed_is(&analysed, "off_cpu", "0x10", "comm", "ls") &&
	      analysed_is(&analysed, "off_cpu", "0x10", "total", "3700"));
	CHECK(analysed_is(&analysed, "off_cpu", "0x10", "times", "2") &&
	      analysed_is(&analysed, "off_cpu", "0x10", "max", "3500"));
	analysed_end(&analysed);
}

TEST(stacks_counts_no_time_that_events_were_lost_in)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &stacks_analysis, NULL, types,
		    "0 1000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		    "0 1001 7 kernel_stack caller=0x10 next=0x20\n"
		    "1 1500 8 sched_waking comm=x pid=9 target_cpu=2\n"
		    "1 lost 3\n"
		    "1 4000 8 sched_waking comm=ls pid=7 target_cpu=0\n"
		    "0 4500 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
		    "0 4501 0 kernel_stack caller=0x99 next=0x98\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.broken), "1 time off the CPU, 1 gap");
	analysed_end(&analysed);
}
