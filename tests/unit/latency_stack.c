// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/latency/latency.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 next", "\"\"");
	loom_task(loom, 6, "hog");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "cat");
}

/*
 * hog keeps the CPU for 3000 while ls waits; cat waits on an idle CPU. Only the former has a culprit with a stack. hog
 * also keeps nl waiting, and sh runs between the two: the stack is the one of hog.
 */
TEST(latency_shows_where_the_task_was_that_kept_the_cpu)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=hog next_pid=6\n"
			    "0 1001 0 kernel_stack caller=0x99 next=0x98\n"
			    "1 2000 0 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "1 2001 0 kernel_stack caller=0x77 next=0x76\n"
			    "1 2010 0 sched_wakeup comm=ls pid=7 target_cpu=0\n"
			    "0 5000 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"
			    "0 5001 6 kernel_stack caller=0x10 next=0x20\n"
			    "1 6000 0 sched_waking comm=cat pid=8 target_cpu=1\n"
			    "1 6010 0 sched_wakeup comm=cat pid=8 target_cpu=1\n"
			    "1 6500 0 sched_switch prev_comm=swapper/1 prev_pid=0 next_comm=cat next_pid=8\n"
			    "1 6501 0 kernel_stack caller=0x55 next=0x56\n"
			    "0 7000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=hog next_pid=6\n"
			    "0 7001 7 kernel_stack caller=0x60 next=0x61\n"
			    "1 8000 8 sched_waking comm=nl pid=9 target_cpu=0\n"
			    "1 8010 8 sched_wakeup comm=nl pid=9 target_cpu=0\n"
			    "0 11000 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=sh next_pid=5\n"
			    "0 11001 6 kernel_stack caller=0x30 next=0x31\n"
			    "0 11500 5 sched_switch prev_comm=sh prev_pid=5 prev_state=1 next_comm=nl next_pid=9\n"
			    "0 11501 5 kernel_stack caller=0x40 next=0x41\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "3000", "cause", "the task before it: hog-6 (RT 99)") &&
	      analysed_is(&analysed, "wakeups", "3000", "stack", "0x10 < 0x20"));
	CHECK(analysed_is(&analysed, "wakeups", "3500", "cause", "the task before it: hog-6 (RT 99)") &&
	      analysed_is(&analysed, "wakeups", "3500", "stack", "0x30 < 0x31"));
	CHECK(analysed_is(&analysed, "wakeups", "500", "comm", "cat") &&
	      analysed_is(&analysed, "wakeups", "500", "stack", ""));
	analysed_end(&analysed);
}

static void timerlat(struct loom *loom)
{
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 n1; u64 n2; u64 n3; u64 n4; u64 n5",
		  "\"\"");
	loom_type(loom, "ftrace", "timerlat", "int seqnum; int context; u64 timer_latency", "\"\"");
	loom_task(loom, 8, "eight");
	loom_task(loom, 9, "timerlat/0");
	loom->kallsyms = "ffffffff81000000 T timerlat_irq\nffffffff81000100 T hrtimer_interrupt\n"
			 "ffffffff81000200 T asm_sysvec_apic_timer_interrupt\nffffffff81000300 T busy\n"
			 "ffffffff81000400 T vfs_read\nffffffff81000500 T last\n";
}

/* The frames of the timer's interrupt, in front, and the zeros behind are not shown. */
#define TIMER_HIT " caller=0xffffffff81000010 n1=0xffffffff81000110 n2=0xffffffff81000210 "
#define BUSY TIMER_HIT "n3=0xffffffff81000310 n4=0xffffffff81000410 n5=0\n"

TEST(latency_shows_what_the_timer_of_timerlat_hit)
{
	struct analysed analysed;

	/* An interrupt, with a stack of its own, comes between the sample of the thread and its stack. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, timerlat,
			    "0 13200 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=3200\n"
			    "0 14700 9 timerlat seqnum=1 context=1 timer_latency=4700\n"
			    "0 14800 9 irq_handler_entry common_flags=8 irq=9 name=disk\n"
			    "0 14810 9 kernel_stack common_flags=8 caller=0xffffffff81000410\n"
			    "0 14820 9 irq_handler_exit common_flags=8 irq=9 ret=1\n"
			    "0 14900 9 kernel_stack" BUSY))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "4700", "stack", "busy < vfs_read"));
	CHECK(analysed_is(&analysed, "timerlat", "3200", "stack", "busy < vfs_read"));
	analysed_end(&analysed);
}

TEST(latency_shows_what_the_timer_of_timerlat_hit_where_that_ends_the_trace)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, timerlat,
			    "0 13200 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=3200\n"
			    "0 13300 8 kernel_stack common_flags=8" BUSY))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "3200", "stack", "busy < vfs_read"));
	analysed_end(&analysed);
}

TEST(latency_takes_no_other_stack_for_that_of_a_sample_of_timerlat)
{
	struct analysed analysed;

	/* It is the stack of another event, of another CPU, behind lost events, of another task, in no interrupt. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, timerlat,
			    "0 1000 9 timerlat seqnum=1 context=1 timer_latency=100\n"
			    "0 1010 9 sched_waking comm=eight pid=8 target_cpu=0\n"
			    "0 1020 9 kernel_stack" BUSY "0 2000 9 timerlat seqnum=2 context=1 timer_latency=200\n"
			    "1 2010 9 kernel_stack" BUSY "0 3000 9 timerlat seqnum=3 context=1 timer_latency=300\n"
			    "0 lost 1\n"
			    "0 3010 9 kernel_stack" BUSY "0 4000 9 timerlat seqnum=4 context=1 timer_latency=400\n"
			    "0 4010 8 kernel_stack" BUSY
			    "0 5000 8 timerlat common_flags=8 seqnum=5 context=0 timer_latency=500\n"
			    "0 5010 8 kernel_stack" BUSY))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "100", "stack", "") &&
	      analysed_is(&analysed, "timerlat", "200", "stack", "") &&
	      analysed_is(&analysed, "timerlat", "300", "stack", "") &&
	      analysed_is(&analysed, "timerlat", "400", "stack", "") &&
	      analysed_is(&analysed, "timerlat", "500", "stack", ""));
	analysed_end(&analysed);
}

TEST(latency_shows_where_a_task_left_the_cpu_that_kept_timerlat_waiting)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &latency_analysis, NULL, timerlat,
		    "0 9000 1 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=eight next_pid=8\n"
		    "0 9010 1 kernel_stack caller=0xffffffff81000510\n"
		    "0 13000 8 irq_handler_entry common_flags=8 irq=1 name=timer\n"
		    "0 13200 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=3200\n"
		    "0 13500 8 irq_handler_exit common_flags=8 irq=1 ret=1\n"
		    "0 14500 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=timerlat/0 next_pid=9\n"
		    "0 14510 8 kernel_stack caller=0xffffffff81000310 n1=0xffffffff81000410\n"
		    "0 14700 9 timerlat seqnum=1 context=1 timer_latency=4700\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "4700", "cause", "the task before it: eight-8 (RT 99)") &&
	      analysed_is(&analysed, "timerlat", "4700", "stack", "busy < vfs_read"));
	analysed_end(&analysed);
}
