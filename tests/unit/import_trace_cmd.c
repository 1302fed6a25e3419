// SPDX-License-Identifier: GPL-2.0-only
/* The texts of libtraceevent's plugins, and those that the kernel prints of the same events. */
#include <stdio.h>
#include <string.h>

#include "lib/files/import/graph_text_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/files/import/import_internal.h"
#include "tests/unit/test.h"

static const char *read_body(struct trace_cmd *reader, bool kernels, const char *body, char *into, size_t size)
{
	struct head head = { .body = body, .body_len = strlen(body) };
	struct graph_text graph;

	switch (trace_cmd_read(reader, kernels, &head, &graph)) {
	case TRACE_CMD_NOTHING:
		return "nothing";
	case TRACE_CMD_EVENT:
		snprintf(into, size, "%.*s", (int)head.body_len, head.body);
		return into;
	case TRACE_CMD_GRAPH:
		return "graph";
	case TRACE_CMD_STARVED:
		return "starved";
	}
	return "";
}

TEST(import_makes_the_kernel_s_text_of_what_plugins_of_trace_cmd_print)
{
	static const char *const rows[][2] = {
		{ "sched_switch:         sh:62 [120] S ==> cat:70 [98]",
		  "sched_switch: prev_comm=sh prev_pid=62 prev_prio=120 prev_state=S ==> "
		  "next_comm=cat next_pid=70 next_prio=98" },
		{ "sched_switch:         a ==> b:1 [2] R ==> c:3 [-4]",
		  "sched_switch: prev_comm=a ==> b prev_pid=1 prev_prio=2 prev_state=R ==> "
		  "next_comm=c next_pid=3 next_prio=-4" },
		{ "sched_switch:         k:1 [2] W ==> c:3 [4]",
		  "sched_switch: prev_comm=k prev_pid=1 prev_prio=2 "
		  "prev_state=I ==> next_comm=c next_pid=3 next_prio=4" },
		{ "sched_switch:         k:1 [2] DW ==> c:3 [4]",
		  "sched_switch: prev_comm=k prev_pid=1 prev_prio=2 "
		  "prev_state=DK ==> next_comm=c next_pid=3 next_prio=4" },
		{ "sched_switch:         k:1 [2]  ==> c:3 [4]", "sched_switch: k:1 [2]  ==> c:3 [4]" },
		{ "sched_switch:         k:1 2] S ==> c:3 [4]", "sched_switch: k:1 2] S ==> c:3 [4]" },
		{ "sched_wakeup:         cat:70 [120] success=1 CPU:001",
		  "sched_wakeup: comm=cat pid=70 prio=120 success=1 target_cpu=001" },
		{ "sched_wakeup:         cat:70 [120] CPU:012",
		  "sched_wakeup: comm=cat pid=70 prio=120 target_cpu=012" },
		{ "sched_wakeup_new:     kworker/0:1:126 [120]<CANT FIND FIELD success> CPU:001",
		  "sched_wakeup_new: kworker/0:1:126 [120]<CANT FIND FIELD success> CPU:001" },
		{ "sched_wakeup_new:     kworker/0:1:126 [120] CPU:000",
		  "sched_wakeup_new: comm=kworker/0:1 pid=126 prio=120 target_cpu=000" },
		{ "sched_wakeup:         cat:70 [120] success=x CPU:001",
		  "sched_wakeup: cat:70 [120] success=x CPU:001" },
		{ "sched_wakeup:         cat:70 [120] CPU:", "sched_wakeup: cat:70 [120] CPU:" },
		{ "sys_enter_read:       fd: 0x00000003, buf: 0x7ffdf610b380, count: 0x00000000",
		  "sys_read(fd: 3, buf: 7ffdf610b380, count: 0)" },
		{ "sys_enter_getppid:    ", "sys_getppid()" },
		{ "sys_enter_read:       fd: 3", "sys_enter_read: fd: 3" },
		{ "sys_enter_read:       fd: 0x3 buf: 0x4", "sys_enter_read: fd: 0x3 buf: 0x4" },
		{ "sys_enter_read:       fd: 0x", "sys_enter_read: fd: 0x" },
		{ "sys_enter_read:       fd: 0x12345678123456781", "sys_enter_read: fd: 0x12345678123456781" },
		{ "sys_exit_read:        0x1f", "sys_read -> 0x1f" },
		{ "sys_exit_read:        0x0", "sys_read -> 0x0" },
		{ "sys_exit_read:        0xfffffffffffffff2", "sys_read -> 0xfffffffffffffff2" },
		{ "sys_exit_read:        0x1f more", "sys_exit_read: 0x1f more" },
		{ "sys_exit_read:        31", "sys_exit_read: 31" },
		{ "function:             vfs_read <-- ksys_read", "vfs_read <-ksys_read" },
		{ "function:                vfs_read", "vfs_read" },
		{ "function:             two words", "function: two words" },
		{ "kernel_stack:         <stack trace >", "<stack trace>" },
		{ "user_stack:           \t=> 0x473bf3", "<user stack trace>" },
		{ "print:                tracing_mark_write: hello", "tracing_mark_write: hello" },
		{ "irq_handler_exit:     irq=1 ret=handled", "irq_handler_exit: irq=1 ret=handled" },
		{ "a_very_long_name_of_an_event: x=1", "a_very_long_name_of_an_event: x=1" },
		{ "no_event", "nothing" },
		{ ": x", "nothing" },
		{ "two words:            x", "nothing" },
		{ "irq_handler_exit: irq=1 ret=handled", "nothing" },
		{ "tracing_mark_write:   hello", "nothing" },
	};
	struct trace_cmd reader = { .is = true };
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(read_body(&reader, false, rows[i][0], text, sizeof(text)), rows[i][1]);
	buf_release(&reader.body);
}

/* A text of the kernel has no column there; it is one of trace-cmd from the first line on that has one. */
TEST(import_knows_by_its_columns_whether_a_text_is_of_trace_cmd)
{
	struct trace_cmd reader = { .is = false };
	char text[128];

	CHECK_STR(read_body(&reader, false, "a_very_long_name_of_an_event: x=1", text, sizeof(text)), "nothing");
	CHECK_STR(read_body(&reader, true, "irq_handler_exit:     irq=1", text, sizeof(text)), "nothing");
	CHECK(!reader.is);
	CHECK_STR(read_body(&reader, false, "irq_handler_exit:     irq=1", text, sizeof(text)),
		  "irq_handler_exit: irq=1");
	CHECK(reader.is);
	CHECK_STR(read_body(&reader, true, "a_very_long_name_of_an_event: x=1", text, sizeof(text)),
		  "a_very_long_name_of_an_event: x=1");
	buf_release(&reader.body);
	CHECK(trace_cmd_header("cpus=2", 6) && trace_cmd_header("cpus=12345", 10));
	CHECK(!trace_cmd_header("cpus=", 5) && !trace_cmd_header("cpus=123456", 11) && !trace_cmd_header("cpus=x", 6) &&
	      !trace_cmd_header("cpu =2", 6));
}

TEST(import_makes_the_kernel_s_lines_of_stacks_of_trace_cmd)
{
	static const char *const rows[][2] = {
		{ "=> vfs_read (ffffffff81234567)", " => vfs_read" },
		{ " => vfs_read", " => vfs_read" },
		{ "   => 7fffffff", " => [FTRACE TRAMPOLINE]" },
		{ "\t=> 0x473bf3", " =>  <0000000000473bf3>" },
		{ "\t=> 0x0000007f12345678", " =>  <0000007f12345678>" },
		{ "\t=> x", NULL },
		{ "=>vfs_read", NULL },
		{ "vfs_read", NULL },
		{ "", NULL },
	};
	struct trace_cmd reader = { .is = true };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(trace_cmd_caller(&reader, rows[i][0], strlen(rows[i][0])) == (rows[i][1] != NULL));
		if (rows[i][1])
			CHECK_STR(buf_str(&reader.body), rows[i][1]);
	}
	buf_release(&reader.body);
}
