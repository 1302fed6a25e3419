// SPDX-License-Identifier: GPL-2.0-only
/* The text of perf script becomes that of the kernel. */
#include <stdlib.h>
#include <string.h>

#include "lib/pages/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/test.h"

TEST(import_reads_the_events_of_perf_script)
{
	static const char text[] =
		"# captured on: Wed Nov 25 08:00:01 2026\n"
		"            perf    61 [000]    44.401475:    raw_syscalls:sys_enter: NR 16 (11, "
		"2400, 0, 7f3c, 1, 0)\n"
		"            perf    61 [000]    44.401479:     raw_syscalls:sys_exit: NR 16 = 0\n"
		" kworker/u8:0-ex 26123 [001]    44.401500:        sched:sched_waking: comm=a "
		"pid=62 prio=120 target_cpu=001\n"
		"             a 1    62 [001]    44.401600:        sched:sched_switch: prev_comm=a "
		"1 prev_pid=62 prev_prio=120 "
		"prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"
		"             :63    63 [001]    44.401700: irq:softirq_entry: vec=1 [action=TIMER]\n"
		"swapper 0 [001] 44.401800: sched:sched_switch: swapper/1:0 [120] R ==> a 1:62 [98]\n"
		"a 1 62 [001] 44.401900: syscalls:sys_enter_close: fd: 0x00000003\n"
		"a 1 62 [001] 44.402000: syscalls:sys_exit_close: 0x0\n"
		"a 1 62 [001] 44.402100: probe_libc:malloc_1: (7f3cd1dc35e0) size=0x10\n"
		"a 1 62 [001] 44.402200: syscalls:sys_enter_getppid:\n";
	struct import_counts counts = imported_prints(
		text, NULL,
		"            perf-61      [000]     44.401475: sys_enter: NR 16 (11, 2400, 0, 7f3c, 1, 0)\n"
		"            perf-61      [000]     44.401479: sys_exit: NR 16 = 0\n"
		" kworker/u8:0-ex-26123   [001]     44.401500: sched_waking: comm=a pid=62 "
		"prio=120 target_cpu=001\n"
		"             a 1-62      [001]     44.401600: sched_switch: prev_comm=a 1 "
		"prev_pid=62 prev_prio=120 "
		"prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"
		"           <...>-63      [001]     44.401700: softirq_entry: vec=1 [action=TIMER]\n"
		"          <idle>-0       [001]     44.401800: sched_switch: prev_comm=swapper/1 "
		"prev_pid=0 prev_prio=120 "
		"prev_state=R ==> next_comm=a 1 next_pid=62 next_prio=98\n"
		"             a 1-62      [001]     44.401900: sys_close(fd: 3)\n"
		"             a 1-62      [001]     44.402000: sys_close -> 0x0\n"
		"             a 1-62      [001]     44.402100: malloc_1: (7f3cd1dc35e0) size=0x10\n"
		"             a 1-62      [001]     44.402200: sys_getppid()\n");

	CHECK(counts.events == 10 && !unknown_lines_count(&counts.told) && counts.no_flags);
}

TEST(import_reads_processes_and_nanoseconds_of_perf_script)
{
	static const char text[] =
		"  a    60/62    [001]    44.401600789:  sched:sched_process_exit: comm=a pid=62 prio=120\n";
	char *fields = imported_fields(text, "ts,pid,tgid,event");

	if (CHECK(fields))
		CHECK_STR(fields, "44401600789,62,60,sched_process_exit\n");
	free(fields);
}

TEST(import_keeps_the_stacks_of_perf_script)
{
	static const char text[] =
		"a    62 [001]    44.401600: sched:sched_waking: comm=b pid=63 prio=120 target_cpu=001\n"
		"\tffffffff813a50f1 __traceiter_sched_waking+0x41 ([kernel.kallsyms])\n"
		"\tffffffffc03a50f1 zz_one+0x41 ([zzmod])\n"
		"\tffffffffc03a60f1 zz_two+0x41 (/lib/modules/6.1.0/kernel/fs/zz-mod.ko.xz)\n"
		"\tffffffffc03a70f1 [unknown] ([kernel.kallsyms])\n"
		"\t           ee137 std::foo(int)+0x7 (/usr/lib/libc.so.6)\n"
		"\t    7f3cd1dc35e0 [unknown] (/memfd:a (deleted))\n"
		"\t               0 [unknown] ([unknown])\n"
		"\n"
		"a    62 [001]    44.401700: sched:sched_waking: comm=b pid=63 prio=120 target_cpu=001\n"
		"\tffffffff813a50f1 __traceiter_sched_waking+0x41 ([kernel.kallsyms])\n"
		"\n";
	struct import_counts counts =
		imported_prints(text, NULL,
				"               a-62      [001]     44.401600: sched_waking: comm=b pid=63 "
				"prio=120 target_cpu=001\n"
				"               a-62      [001]     44.401600: <stack trace>\n"
				" => __traceiter_sched_waking\n"
				" => zz_one\n"
				" => zz_two\n"
				" => 0xffffffffc03a70f1\n"
				"               a-62      [001]     44.401600: <user stack trace>\n"
				" =>  <00000000000ee137>\n"
				" =>  <00007f3cd1dc35e0>\n"
				"               a-62      [001]     44.401700: sched_waking: comm=b pid=63 "
				"prio=120 target_cpu=001\n"
				"               a-62      [001]     44.401700: <stack trace>\n"
				" => __traceiter_sched_waking\n");

	CHECK(counts.events == 5 && unknown_lines_count(&counts.told) == 1 &&
	      counts.told.counts[UNKNOWN_LINES_DEEP] == 1);
}

TEST(import_tells_what_perf_script_prints_and_the_kernel_does_not)
{
	struct import_counts counts = imported_prints(
		"a 62 [001] 44.401600: sched:sched_process_exit: comm=a pid=62 prio=120\n"
		"\t1 a (b)\n\t2 a (b)\n\t3 a (b)\n\t4 a (b)\n\t5 a (b)\n\t6 a (b)\n\t7 a (b)\n\t8 a (b)\n"
		"\t9 the_ninth (b)\n"
		"a 62 44.401700: sched:sched_process_exit: comm=a pid=62 prio=120\n"
		"a 62 [001] 44.401800:     250000 cycles:u:  7f3cd1dc35e0 foo+0x1 (/usr/bin/a)\n"
		"  [001] 44.401900: sched_process_exit: comm=a pid=62 prio=120\n"
		"  44.401900: sched_process_exit: comm=a pid=62 prio=120\n",
		NULL,
		"               a-62      [001]     44.401600: sched_process_exit: comm=a pid=62 prio=120\n"
		"               a-62      [001]     44.401600: <user stack trace>\n"
		" =>  <0000000000000001>\n =>  <0000000000000002>\n =>  <0000000000000003>\n"
		" =>  <0000000000000004>\n =>  <0000000000000005>\n =>  <0000000000000006>\n"
		" =>  <0000000000000007>\n =>  <0000000000000008>\n");

	CHECK(counts.events == 2 && unknown_lines_count(&counts.told) == 5 && unknown_lines_events(&counts.told) == 4);
	CHECK(counts.told.counts[UNKNOWN_LINES_DEEP] == 1 && counts.told.counts[UNKNOWN_LINES_PERF] == 2);
	CHECK(counts.told.counts[UNKNOWN_LINES_NO_TASK] == 2);
}
