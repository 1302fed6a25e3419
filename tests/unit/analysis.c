// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/frame/analysis.h"

#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* Analyses of scripts whose correct results are known. */

/*
 * Runs an analysis over a script. Returns its tables as CSV and the lines about missing facts; the caller frees the
 * text. NULL: it failed, *fail has the reason.
 */
static char *analyse_on(const char *machine, const struct analysis_ops *ops, const void *options, const char *script,
			struct fail *fail)
{
	const struct findings_options as_csv = { .format = TABLE_AS_CSV, .top = UINT64_MAX };
	struct loom loom;
	struct trace *trace;
	struct reader reader;
	struct pass pass;
	struct findings findings;
	struct out out;
	char *text = NULL;
	bool ok;

	loom_init(&loom);
	loom_type(&loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(&loom, "sched", "sched_migrate_task",
		  "char comm[16]; pid_t pid; int prio; int orig_cpu; int dest_cpu", "\"\"");
	loom_type(&loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(&loom, "syscalls", "sys_enter_read", "int __syscall_nr; u64 fd", "\"\"");
	loom_type(&loom, "syscalls", "sys_exit_read", "int __syscall_nr; long ret", "\"\"");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	findings_init(&findings);
	ok = out_init(&out, 0) && trace && !reader_add_trace(&reader, trace, fail) &&
	     !reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (CHECK(ok)) {
		ok = !pass_init(&pass, &reader, &(struct pass_filter){ .cpus = NULL }, fail);
		pass.machine = machine;
		ok = ok && !pass_add(&pass, ops, options, fail) && !pass_run(&pass, NULL, fail) &&
		     !pass_finish(&pass, 0, &findings, fail);
		if (ok && CHECK(!findings_arrange(&findings, &as_csv, fail)) &&
		    CHECK(findings_write(&findings, &as_csv, &out))) {
			out_f(&out, "cut: %s\nbroken: %s\n", buf_str(&findings.cut), buf_str(&findings.broken));
			text = strndup(out.start, out_len(&out));
		}
		findings_release(&findings);
		pass_release(&pass);
	}
	out_release(&out);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
	return text;
}

static char *analyse(const struct analysis_ops *ops, const void *options, const char *script, struct fail *fail)
{
	return analyse_on("x86_64", ops, options, script, fail);
}

/* Whether a line begins with these words. */
static bool has_line(const char *text, const char *begin)
{
	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, begin, strlen(begin)))
			return true;
		if (!*at)
			break;
	}
	printf("no line '%s' in:\n%s", begin, text);
	return false;
}

TEST(sched_tells_what_tasks_and_cpus_did)
{
	/*
	 * seven (7) runs 1000, sleeps 2500, is queued 200 after it was woken and runs 300 after that; it preempts loom
	 * (8) for 1000.
	 */
	cleanup_free char *text = analyse(
		&sched_analysis, NULL,
		"0 10000 7 sched_waking pid=8 target_cpu=0\n"
		"0 11000 7 sched_switch prev_comm=seven prev_pid=7 prev_prio=120 prev_state=1 next_comm=loom "
		"next_pid=8 next_prio=98\n"
		"0 13500 8 sched_waking comm=seven pid=7 target_cpu=0\n"
		"0 13700 8 sched_wakeup comm=seven pid=7 target_cpu=0\n"
		"0 14000 8 sched_switch prev_comm=loom prev_pid=8 prev_prio=98 prev_state=0 next_comm=seven next_pid=7 "
		"next_prio=120\n"
		"0 15000 7 sched_switch prev_comm=seven prev_pid=7 prev_prio=120 prev_state=2 next_comm=loom "
		"next_pid=8 next_prio=98\n"
		"0 18000 8 sched_waking pid=9 target_cpu=0\n",
		NULL);

	REQUIRE(text != NULL);
	CHECK(has_line(text, "loom,8,98,6000,2000,0,0,0,0,0,0,1,1,0,1,1000,,1000,0.000011000,0,0\n"));
	CHECK(has_line(text, "seven,7,120,2000,500,0,2500,3000,0,0,2,0,1,0,1,500,,500,0.000014000,0,0\n"));
	CHECK(has_line(text, "0,8000,100.0,0,,,0,3,\n"));
	CHECK(has_line(text, "waking to queued,1,200,,200,0.000014000,0\n"));
	CHECK(has_line(text, "queued to running,1,300,,300,0.000014000,0\n"));
	CHECK(has_line(text, "waking to running,2,500,,1000,0.000011000,0\n"));
	CHECK(has_line(text, "broken: \n"));
}

TEST(sched_says_that_there_are_no_switches)
{
	struct fail fail = FAIL_INIT;

	CHECK(!analyse(&sched_analysis, NULL, "0 10000 7 sched_waking pid=8 target_cpu=0\n", &fail));
	CHECK(strstr(fail.text, "-e sched"));
}

TEST(latency_splits_a_wakeup_into_parts_that_add_up)
{
	/*
	 * The task waits 200 until it is queued. Then 8 runs for 600, interrupted for 200 more. Then 9 runs for 600,
	 * and a softirq for 100 more.
	 */
	cleanup_free char *text =
		analyse(&latency_analysis, NULL,
			"0 9000 8 sched_waking pid=9 target_cpu=0\n"
			"0 10000 8 sched_waking comm=late pid=7 prio=10 target_cpu=0\n"
			"0 10200 8 sched_wakeup comm=late pid=7 prio=10 target_cpu=0\n"
			"0 10500 8 irq_handler_entry irq=1\n"
			"0 10700 8 irq_handler_exit irq=1\n"
			"0 11000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=nine next_pid=9\n"
			"0 11200 9 softirq_entry vec=1\n"
			"0 11300 9 softirq_exit vec=1\n"
			"0 11700 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 "
			"next_prio=10\n",
			NULL);

	REQUIRE(text != NULL);
	CHECK(has_line(text, "1700,late,7,10,0,0.000010000,0.000011700,200,0,200,100,600,0,600,0,eight,8,eight,8,0,"
			     "the task before it: eight-8 (RT 99),,,,\n"));
	CHECK(has_line(text, "2000,nine,9,"));
}

TEST(latency_follows_a_task_to_another_queue)
{
	/* The task is on the queue of CPU 1 behind 5 for 1000, then on that of CPU 0, which leaves idle within 300. */
	cleanup_free char *text = analyse(&latency_analysis, NULL,
					  "1 9000 5 irq_handler_entry irq=1\n"
					  "1 9100 5 irq_handler_exit irq=1\n"
					  "0 9500 8 sched_switch prev_pid=8 prev_state=1 next_pid=0\n"
					  "1 10000 5 sched_waking comm=late pid=7 target_cpu=1\n"
					  "1 10000 5 sched_wakeup comm=late pid=7 target_cpu=1\n"
					  "0 11000 0 sched_migrate_task comm=late pid=7 orig_cpu=1 dest_cpu=0\n"
					  "0 11300 0 sched_switch prev_pid=0 next_comm=late next_pid=7\n",
					  NULL);

	REQUIRE(text != NULL);
	CHECK(has_line(
		text,
		"1300,late,7,0,0,0.000010000,0.000011300,0,300,0,,1000,0,0,0,<...>,5,<...>,5,,the task before it: "));
}

/*
 * 7 reads for 1000 without error: it is blocked for 400 and waits for 100 of that time. Its open fails after 50. The
 * call of 9 began before the start of the trace.
 */
static const char calls[] = "0 1000 7 sys_enter id=0\n"
			    "0 1100 7 sched_switch prev_pid=7 prev_state=1 next_pid=9\n"
			    "0 1200 9 sys_exit id=1 ret=5\n"
			    "0 1500 9 sched_waking pid=7 target_cpu=0\n"
			    "0 1600 9 sched_switch prev_pid=9 prev_state=1 next_pid=7\n"
			    "0 2000 7 sys_exit id=0 ret=17\n"
			    "0 2100 7 sys_enter id=2\n"
			    "0 2150 7 sys_exit id=2 ret=-2\n"
			    "0 2200 7 sys_enter id=0\n"
			    "0 2230 7 sys_exit id=0 ret=-512\n"
			    "0 2300 7 sys_enter id=231\n"
			    "0 2400 7 sched_switch prev_pid=7 prev_state=32 next_pid=9\n"
			    "0 2500 9 sys_enter id=1\n";

TEST(syscalls_tells_calls_errors_and_what_the_time_was_spent_with)
{
	cleanup_free char *text = analyse(&syscalls_analysis, NULL, calls, NULL);

	REQUIRE(text != NULL);
	/* A call that the kernel restarts has not failed. */
	CHECK(has_line(text, "read,0,2,0,17,1030,95.4,30,1000,,1000,0.000002000,530,400,100,0,7,0,,,,\n"));
	CHECK(has_line(text, "open,2,1,1,0,50,4.6,50,50,,50,0.000002150,50,0,0,0,7,0,50,0.000002100,0.000002150,7\n"));
	CHECK(has_line(text, "exit_group,231,1,0,0,0,0.0,,,,,,0,0,0,,,1,,,,\n"));
	CHECK(has_line(text, "cut: 1 call that began before the start, 1 call under way at the end\n"));
	CHECK(has_line(text, "broken: \n"));
}

TEST(syscalls_counts_by_error_by_task_and_failures_alone)
{
	const struct syscalls_options by_error = { .rows.by = SYSCALLS_BY_ERROR },
				      by_task = { .rows.by = SYSCALLS_BY_TASK, .failures = true };
	cleanup_free char *errors = analyse(&syscalls_analysis, &by_error, calls, NULL);
	cleanup_free char *tasks = analyse(&syscalls_analysis, &by_task, calls, NULL);

	REQUIRE(errors && tasks);
	CHECK(has_line(errors, "open,ENOENT,1,1,0,50,100.0,"));
	CHECK(!strstr(errors, "read"));
	CHECK(has_line(tasks, "<...>,7,1,1,0,50,100.0,"));
}

TEST(syscalls_pairs_nothing_across_lost_events)
{
	/*
	 * Of two reads of 7, the exit of the first and the entry of the second were lost. 8 had a CPU to itself all the
	 * time.
	 */
	cleanup_free char *text = analyse(&syscalls_analysis, NULL,
					  "0 1000 7 sys_enter id=0\n"
					  "1 900 9 sched_switch prev_pid=9 prev_state=1 next_pid=8\n"
					  "1 1000 8 sys_enter id=0\n"
					  "0 1010 7 sched_waking pid=8\n"
					  "0 lost 2\n"
					  "0 5000 7 sys_exit id=0 ret=1\n"
					  "1 6000 8 sys_exit id=0 ret=1\n"
					  "1 6100 8 sched_switch prev_pid=8 prev_state=1 next_pid=0\n",
					  NULL);

	REQUIRE(text != NULL);
	CHECK(has_line(text, "broken: 1 call, 1 gap\n"));
	CHECK(has_line(text, "read,0,1,0,1,5000,"));
}

TEST(syscalls_loses_no_sigreturn_whose_exit_the_kernel_does_not_trace)
{
	/*
	 * rt_sigreturn restores orig_ax, which is then -1: the events of the system syscalls have no exit for it. The
	 * task's next call is therefore no sign of a loss.
	 */
	cleanup_free char *text = analyse(&syscalls_analysis, NULL,
					  "0 1000 7 sched_switch prev_pid=9 prev_state=1 next_pid=7\n"
					  "0 1100 7 sys_enter id=15\n"
					  "0 1200 7 sys_enter id=0\n"
					  "0 1300 7 sys_exit id=0 ret=1\n"
					  "0 1400 7 sys_enter id=1\n"
					  "0 1500 7 sys_enter id=0\n"
					  "0 1600 7 sys_exit id=0 ret=1\n",
					  NULL);

	REQUIRE(text != NULL);
	CHECK(has_line(text, "read,0,2,0,2,200,"));
	/* The exit of the write is missing, which is a sign of a loss. */
	CHECK(has_line(text, "broken: 1 call\n"));
}

TEST(syscalls_knows_the_exit_of_a_sigreturn_by_its_task)
{
	/* raw_syscalls has the exit: with -1 on x86, elsewhere with the number of the interrupted call. */
	cleanup_free char *text = analyse(&syscalls_analysis, NULL,
					  "0 1000 7 sched_switch prev_pid=9 prev_state=1 next_pid=7\n"
					  "0 1100 7 sys_enter id=15\n"
					  "0 1200 7 sys_exit id=-1 ret=-4\n"
					  "0 1300 7 sys_enter id=15\n"
					  "0 1350 7 sys_exit id=0 ret=10\n",
					  NULL);

	REQUIRE(text != NULL);
	/* What it returns is the register of the interrupted program: -4 is no error. */
	CHECK(has_line(text, "rt_sigreturn,15,2,0,0,150,"));
	CHECK(has_line(text, "broken: \n"));
}

TEST(syscalls_counts_calls_that_were_refused_before_their_entry)
{
	cleanup_free char *text = analyse(&syscalls_analysis, NULL,
					  "0 1000 7 sched_switch prev_pid=9 prev_state=1 next_pid=7\n"
					  "0 1100 7 sys_enter id=0\n"
					  "0 1200 7 sys_exit id=0 ret=1\n"
					  "0 1300 7 sys_exit id=435 ret=-38\n"
					  "0 1400 7 sys_exit id=1 ret=5\n",
					  NULL);

	REQUIRE(text != NULL);
	CHECK(has_line(text, "clone3,435,1,1,0,"));
	CHECK(has_line(text, "read,0,1,0,1,100,"));
	/* A call that succeeded was not refused: its entry is missing. */
	CHECK(has_line(text, "broken: 1 call\n"));
}

TEST(syscalls_counts_a_call_once_that_two_kinds_of_events_tell)
{
	cleanup_free char *text = analyse(&syscalls_analysis, NULL,
					  "0 1000 7 sys_enter id=0\n"
					  "0 1001 7 sys_enter_read __syscall_nr=0\n"
					  "0 1500 7 sys_exit id=0 ret=1\n"
					  "0 1501 7 sys_exit_read __syscall_nr=0 ret=1\n",
					  NULL);
	cleanup_free char *named = analyse(&syscalls_analysis, NULL,
					   "0 1000 7 sys_enter_read __syscall_nr=0\n"
					   "0 1500 7 sys_exit_read __syscall_nr=0 ret=-4\n",
					   NULL);

	REQUIRE(text && named);
	CHECK(has_line(text, "read,0,1,0,1,500,"));
	CHECK(has_line(named, "read,0,1,1,0,500,"));
}

/*
 * Task 8 is known to be a 32-bit task from rseq of i386 on, a number that the kernel's own table lacks. So is task 9,
 * which task 8 creates. Task 9 then executes a 64-bit program: its execve returns by that table. Task 10 tries a number
 * without a call, and executes a 32-bit program.
 */
TEST(syscalls_of_a_32_bit_task_have_the_names_of_its_table)
{
	static const char calls[] =
		"0 1000 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=b next_pid=8\n"
		"0 1100 8 sys_enter id=3\n0 1200 8 sys_exit id=3 ret=0\n"
		"0 1300 8 sys_enter id=386\n0 1400 8 sys_exit id=386 ret=0\n"
		"0 1500 8 sys_enter id=3\n0 1600 8 sys_exit id=3 ret=-9\n"
		"0 1700 8 sched_process_fork parent_comm=b parent_pid=8 child_comm=b child_pid=9\n"
		"0 1800 8 sys_enter id=11\n0 1900 8 sys_exit id=59 ret=0\n"
		"0 2000 8 sys_enter id=4\n0 2100 8 sys_exit id=4 ret=0\n"
		"0 2200 8 sched_switch prev_comm=b prev_pid=8 prev_state=1 next_comm=b next_pid=9\n"
		"0 2300 9 sys_enter id=4\n0 2400 9 sys_exit id=4 ret=1\n"
		"0 2500 9 sched_switch prev_comm=b prev_pid=9 prev_state=1 next_comm=c next_pid=10\n"
		"0 2600 10 sys_enter id=386\n0 2700 10 sys_exit id=386 ret=-38\n"
		"0 2800 10 sys_enter id=4\n0 2900 10 sys_exit id=4 ret=0\n"
		"0 3000 10 sys_enter id=59\n0 3100 10 sys_exit id=11 ret=0\n"
		"0 3200 10 sys_enter id=1\n0 3300 10 sys_exit id=1 ret=0\n";
	struct fail fail = FAIL_INIT;
	char *text = analyse(&syscalls_analysis, NULL, calls, &fail);

	if (!CHECK(text))
		return;
	CHECK(has_line(text, "close,3,1,0,"));
	CHECK(has_line(text, "rseq (32-bit),386,1,0,"));
	CHECK(has_line(text, "read (32-bit),3,1,1,"));
	CHECK(has_line(text, "execve (32-bit),11,1,0,"));
	CHECK(has_line(text, "execve,59,1,0,"));
	CHECK(has_line(text, "exit (32-bit),1,1,0,"));
	CHECK(has_line(text, "stat,4,2,0,"));
	CHECK(has_line(text, "write (32-bit),4,1,0,"));
	CHECK(has_line(text, "syscall_386,386,1,1,"));
	free(text);
}

/*
 * Task 8 calls a number that the kernel's own table lacks. Task 9 tries a number without a call on this machine. The
 * names are those of the kernel's syscall.tbl. ENOSYS is 38, but 90 on sparc and 251 on parisc.
 */
TEST(syscalls_of_32_bit_tasks_are_known_on_every_machine_that_has_them)
{
	static const struct {
		const char *machine;
		int own, other, nosys;
		const char *own_row, *other_row;
	} cases[] = {
		{ "aarch64", 403, 6, 38, "clock_gettime64 (32-bit),403,1,0,", "close (32-bit),6,1,0," },
		{ "s390x", 221, 201, 38, "fcntl64 (32-bit),221,1,0,", "geteuid32 (32-bit),201,1,0," },
		{ "ppc64", 204, 6, 38, "fcntl64 (32-bit),204,1,0,", "close (32-bit),6,1,0," },
		{ "riscv64", 403, 62, 38, "clock_gettime64 (32-bit),403,1,0,", "llseek (32-bit),62,1,0," },
		{ "sparc64", 56, 6, 90, "mmap2 (32-bit),56,1,0,", "close (32-bit),6,1,0," },
	};
	char script[1024], row[64];

	for (size_t i = 0; i < array_size(cases); i++) {
		struct fail fail = FAIL_INIT;
		char *text;

		snprintf(script, sizeof(script),
			 "0 1000 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=b next_pid=8\n"
			 "0 1300 8 sys_enter id=%d\n0 1400 8 sys_exit id=%d ret=0\n0 1500 8 sys_enter id=%d\n"
			 "0 1600 8 sys_exit id=%d ret=0\n"
			 "0 2500 8 sched_switch prev_comm=b prev_pid=8 prev_state=1 next_comm=c next_pid=9\n"
			 "0 2600 9 sys_enter id=%d\n0 2700 9 sys_exit id=%d ret=-%d\n",
			 cases[i].own, cases[i].own, cases[i].other, cases[i].other, cases[i].own, cases[i].own,
			 cases[i].nosys);
		snprintf(row, sizeof(row), "syscall_%d,%d,1,1,", cases[i].own, cases[i].own);
		text = analyse_on(cases[i].machine, &syscalls_analysis, NULL, script, &fail);
		if (!CHECK(text))
			continue;
		if (!CHECK(has_line(text, cases[i].own_row)) || !CHECK(has_line(text, cases[i].other_row)) ||
		    !CHECK(has_line(text, row)))
			fprintf(stderr, "%s:\n%s\n", cases[i].machine, text);
		free(text);
	}
}
