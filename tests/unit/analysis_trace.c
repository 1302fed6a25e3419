// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/syscalls/syscalls.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom->version = 6;
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_openat",
		  "int __syscall_nr; int dfd; u64 count; u64 mode; u64 flags; __data_loc char[] __count_val", "\"\"");
	loom_type(loom, "syscalls", "sys_exit_openat", "int __syscall_nr; long ret", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_exit", "int __syscall_nr; int error_code", "\"\"");
}

static const struct syscalls_options options = { .trace = true };

/* Task 8 sleeps in its call while task 9 makes one. */
TEST(syscalls_trace_joins_entry_and_exit_and_tells_what_was_unfinished)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &syscalls_analysis, &options, types,
		    "0 1000 8 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=b next_pid=8\n"
		    "0 1100 8 sys_exit_openat __syscall_nr=257 ret=5\n"
		    "0 2000 8 sys_enter_openat __syscall_nr=257 dfd=-100 count=3 mode=438 flags=577\n"
		    "0 3000 8 sched_switch prev_comm=b prev_pid=8 prev_state=1 next_comm=c next_pid=9\n"
		    "0 4000 9 sys_enter_openat __syscall_nr=257 dfd=4 count=0 mode=0 flags=0 __count_val=ab\\c\n"
		    "0 4500 9 sys_exit_openat __syscall_nr=257 ret=-2\n"
		    "0 5000 9 sched_waking comm=b pid=8 prio=120 target_cpu=0\n"
		    "0 6000 9 sched_switch prev_comm=c prev_pid=9 prev_state=0 next_comm=b next_pid=8\n"
		    "0 7000 8 sys_exit_openat __syscall_nr=257 ret=-512\n"
		    "0 lost 3\n"
		    "0 8000 8 sys_enter_exit __syscall_nr=60 error_code=1\n"))
		return;
	CHECK(analysed_prints(
		&analysed, "       0.000001100   0  b-8                  <... openat resumed> = 5\n"
			   "       0.000002000   0  b-8                  openat(dfd: AT_FDCWD, count: 3, mode: 0666, "
			   "flags: O_WRONLY|O_CREAT|O_TRUNC) <unfinished ...>\n"
			   "       0.000004000   0  c-9                  openat(dfd: 4, count: \"ab\\\\c\", mode: 0, "
			   "flags: O_RDONLY) = -1 ENOENT <0.000000500>\n"
			   "       0.000007000   0  b-8                  <... openat resumed> = ? ERESTARTSYS"
			   " <0.000005000, blocked 0.000002000, waiting 0.000001000>\n"
			   "# CPU 0 lost 3 events\n"
			   "       0.000008000   0  b-8                  exit(error_code: 1) <unfinished ...>\n\n"));
	analysed_end(&analysed);
}
