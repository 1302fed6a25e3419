// SPDX-License-Identifier: GPL-2.0-only
/* The text of entries that the kernel prints in C, by its options: trace_output.c, trace_events_synth.c. */
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

static void add_types(struct loom *loom)
{
	loom_init(loom);
	loom->kallsyms = "0000000000001000 T one\n0000000000002000 T two\n0000000000003000 T end\n";
	loom->printk = "0x9000 : \"put\"\n0x9100 : \"%d of %s\"\n";
	loom_task(loom, 7, "sh");
	loom_task(loom, 21, "tick/0");
	loom_type(loom, "ftrace", "function", "u64 ip; u64 parent_ip", "\" %ps <-- %ps\", REC->ip, REC->parent_ip");
	loom_type(loom, "ftrace", "context_switch",
		  "u32 prev_pid; u32 next_pid; u32 next_cpu; u8 prev_prio; u8 prev_state; u8 next_prio; u8 next_state",
		  "\"\"");
	loom_type(loom, "ftrace", "wakeup",
		  "u32 prev_pid; u32 next_pid; u32 next_cpu; u8 prev_prio; u8 prev_state; u8 next_prio; u8 next_state",
		  "\"\"");
	loom_type(loom, "ftrace", "print", "u64 ip; char buf[8]", "\"%ps: %s\", (void *)REC->ip, REC->buf");
	loom_type(loom, "ftrace", "bputs", "u64 ip; u64 str", "\"%ps: %s\", (void *)REC->ip, REC->str");
	loom_type(loom, "ftrace", "hwlat",
		  "u64 duration; u64 outer_duration; u64 nmi_total_ts; u64 tv_sec; u64 tv_nsec; u32 nmi_count; "
		  "u32 seqnum; u32 count",
		  "\"\"");
	loom_type(loom, "ftrace", "timerlat", "u32 seqnum; int context; u64 timer_latency", "\"\"");
	loom_type(loom, "synthetic", "late", "u64 lat; int left; u32 mask; char comm[16]; __data_loc char[] file",
		  "\"lat=%llu, left=%d, mask=%x, "
		  "comm=%.*s, file=%.*s\", REC->lat, REC->left, REC->mask, REC->comm, __get_str(file)");
}

static const char script[] =
	"0 1000000 7 function ip=0x1010 parent_ip=0x2000\n"
	"0 1001000 7 context_switch prev_pid=7 prev_prio=120 prev_state=1 next_pid=21 next_prio=0 next_cpu=3\n"
	"0 1002000 7 wakeup prev_pid=7 prev_prio=120 prev_state=99 next_pid=21 next_prio=0 next_cpu=3 next_state=8\n"
	"0 1003000 7 print ip=0x1000 buf=hello\n"
	"0 1004000 7 bputs ip=0x2000 str=0x9000\n"
	"0 1005000 7 bputs ip=0x2000 str=0x9001\n"
	"0 1006000 7 hwlat duration=21 outer_duration=22 tv_sec=5 tv_nsec=42 seqnum=1 count=6\n"
	"0 1007000 7 hwlat duration=21 outer_duration=22 tv_sec=5 tv_nsec=42 seqnum=2 count=6 nmi_count=1\n"
	"0 1008000 7 hwlat duration=21 outer_duration=22 tv_sec=5 tv_nsec=42 seqnum=3 count=6 nmi_count=1 "
	"nmi_total_ts=4\n"
	"0 1009000 7 timerlat seqnum=5 timer_latency=932\n"
	"0 1010000 7 timerlat seqnum=5 context=1 timer_latency=932\n"
	"0 1011000 7 late lat=18446744073709551615 left=-4 mask=4294967280 comm=sh file=/etc/passwd\n"
	"0 1012000 7 late\n";

static void check(const char *format, const char *option, const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;

	add_types(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	if (CHECK(trace) &&
	    CHECK(!printed_trace(trace, &(struct printed){ .format = format, .option = option }, &got, &fail)))
		CHECK_STR(printed_body(&got), want);
	CHECK_STR(fail.text, "");
	trace_free(trace);
	loom_release(&loom);
}

TEST(kernel_text_of_entries_that_it_prints_in_c)
{
	check("ftrace", "nocontext-info",
	      "one <-two\n"
	      "       7:120:S ==> [003]      21:  0:R tick/0\n"
	      "       7:120:?   + [003]      21:  0:I tick/0\n"
	      "one: hellotwo: puttwo: 0x9001\n"
	      "#1     inner/outer(us):   21/22    ts:5.000000042 count:6\n"
	      "#2     inner/outer(us):   21/22    ts:5.000000042 count:6 nmi-count:1\n"
	      "#3     inner/outer(us):   21/22    ts:5.000000042 count:6 nmi-total:4 nmi-count:1\n"
	      "#5     context    irq timer_latency       932 ns\n"
	      "#5     context thread timer_latency       932 ns\n"
	      "late: lat=18446744073709551615 left=-4 mask=fffffff0 comm=sh file=/etc/passwd\n"
	      "late: lat=0 left=0 mask=0 comm= file=\n");
	check("ftrace", "raw",
	      "7 0 1000000 1010 2000\n"
	      "7 0 1001000 7 120 S 3 21 0 R\n"
	      "7 0 1002000 7 120 + 3 21 0 I\n"
	      "7 0 1003000 # 1000 hello7 0 1004000 : 2000 : put7 0 1005000 : 2000 : 0x9001\n"
	      "7 0 1006000 21 22 5 000000042 1\n7 0 1007000 21 22 5 000000042 2\n7 0 1008000 21 22 5 000000042 3\n"
	      "7 0 1009000 5 0 932\n7 0 1010000 5 1 932\n7 0 1011000 type: 313\n7 0 1012000 type: 313\n");
}

/* The option hex prints a function and a switch as numbers, and of all others the type. */
TEST(kernel_text_of_entries_in_hex)
{
	check("ftrace", "hex",
	      "00000007 00000000 00000000000f4240 0000000000001010 0000000000002000 \n"
	      "00000007 00000000 00000000000f4628 00000007 78 53 00000003 00000015 00 00000052 \n"
	      "00000007 00000000 00000000000f4a10 00000007 78 2b 00000003 00000015 00 00000049 \n"
	      "00000007 00000000 00000000000f4df8 type: 309\n\n00000007 00000000 00000000000f51e0 type: 310\n\n"
	      "00000007 00000000 00000000000f55c8 type: 310\n\n00000007 00000000 00000000000f59b0 type: 311\n\n"
	      "00000007 00000000 00000000000f5d98 type: 311\n\n00000007 00000000 00000000000f6180 type: 311\n\n"
	      "00000007 00000000 00000000000f6568 type: 312\n\n00000007 00000000 00000000000f6950 type: 312\n\n"
	      "00000007 00000000 00000000000f6d38 type: 313\n\n00000007 00000000 00000000000f7120 type: 313\n\n");
}
