// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

/* What happened is the same on a machine whose numbers have the other byte order: so is each text of it. */

static const char script[] =
	"0 1000 7 sched_process_fork parent_comm=sh parent_pid=7 child_comm=sh child_pid=30\n"
	"0 1100 7 sched_waking common_flags=1 common_preempt_count=33 comm=ls pid=30 prio=120 target_cpu=1\n"
	"1 1200 0 sched_switch common_flags=5 prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=0 next_comm=ls "
	"next_pid=30 next_prio=120\n"
	"1 1300 30 irq_handler_entry common_flags=9 irq=41 name=virtio0-req.0\n"
	"1 1350 30 thing wide=0x123456789abcdef0 small=-5 half=65000 byte=200 list=1,70000,3 func=0xffffffff81000110\n"
	"1 1400 30 irq_handler_exit common_flags=9 irq=41 ret=1\n"
	"1 lost 12\n"
	"1 900000000 30 sched_switch prev_comm=ls prev_pid=30 prev_prio=120 prev_state=2 next_comm=swapper/1 "
	"next_pid=0 next_prio=120\n"
	"2 1000 9 funcgraph_entry func=0xffffffff81000100 depth=0\n"
	"2 1500 9 funcgraph_entry func=0xffffffff81000200 depth=1\n"
	"2 2000 9 funcgraph_exit func=0xffffffff81000200 depth=1 calltime=1500 rettime=2000 retval=-2\n"
	"2 9000000 9 funcgraph_exit func=0xffffffff81000100 depth=0 calltime=1000 rettime=9000000\n"
	"2 9100000 9 function ip=0xffffffff81000110 parent_ip=0xffffffff81000204\n"
	"2 9200000 9 kernel_stack size=2 caller=0xffffffff81000110,0xffffffff81000204\n"
	"2 9300000 9 print ip=0xffffffff81000110 buf=hello\n"
	"2 9400000 9 bputs ip=0xffffffff81000110 str=0x4000\n"
	"3 5000 -1 sched_wakeup comm=x pid=-1 prio=-5 target_cpu=3\n";

static struct trace *make(struct loom *loom, bool swap, const char *tracer)
{
	loom_init(loom);
	loom->swap = swap;
	loom->kallsyms = "ffffffff81000100 t do_it\nffffffff81000200 T do_more\n";
	loom->printk = "0x4000 : \"a text\\n\"\n";
	loom_graph(loom);
	loom_type(loom, "ftrace", "function", "long ip; long parent_ip", "\" %ps <-- %ps\", REC->ip, REC->parent_ip");
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller[2]", "\"\"");
	loom_type(loom, "ftrace", "print", "long ip; char buf[16]", "\"%ps: %s\", REC->ip, REC->buf");
	loom_type(loom, "ftrace", "bputs", "long ip; long str", "\"%ps: %s\", REC->ip, REC->str");
	loom_type(loom, "any", "thing", "u64 wide; int small; u16 half; u8 byte; u32 list[3]; long func",
		  "\"%llx %d %u %u %s %pS %lu\", REC->wide, REC->small, REC->half, REC->byte, __print_array(REC->list, "
		  "3, 4), (void *)REC->func, REC->wide >> 4");
	loom_setting(loom, "current_tracer", tracer);
	loom_task(loom, 7, "sh");
	loom_task(loom, 9, "nine");
	loom_play(loom, script);
	return loom_trace(loom);
}

static void print(bool swap, const char *tracer, const struct printed *how, struct buf *ret)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;

	trace = make(&loom, swap, tracer);
	if (CHECK(trace != NULL) && !CHECK(!printed_trace(trace, how, ret, &fail)))
		fprintf(stderr, "%s\n", fail.text);
	trace_free(trace);
	loom_release(&loom);
}

TEST(other_order_of_bytes_has_the_same_text)
{
	static const char *const options[] = { NULL,         "sym-offset",     "verbose", "latency-format",
					       "noirq-info", "nocontext-info", "fields",  "sym-addr" };
	static const char *const tracers[] = { "nop\n", "function_graph\n", "function\n" };
	static const char *const events[] = { NULL, "sched_*", "thing" };

	for (size_t tracer = 0; tracer < array_size(tracers); tracer++)
		for (size_t option = 0; option < array_size(options); option++)
			for (size_t event = 0; event < array_size(events); event++) {
				const struct printed how = { .format = "ftrace",
							     .option = options[option],
							     .events = events[event] };
				cleanup_buf struct buf ours = BUF_INIT, theirs = BUF_INIT;

				print(false, tracers[tracer], &how, &ours);
				print(true, tracers[tracer], &how, &theirs);
				CHECK(ours.len > 90);
				CHECK_STR(buf_str(&theirs), buf_str(&ours));
			}
}

/* The lines themselves, by hand. */
TEST(other_order_of_bytes_is_read_as_what_was_written)
{
	static const char *const lines[] = {
		"              sh-7       [000] d..12     0.000001: sched_waking: comm=ls pid=30 prio=120 "
		"target_cpu=001\n",
		"thing: 123456789abcdef0 -5 65000 200 {0x1,0x11170,0x3} do_it+0x10/0x100 81985529216486895\n",
		"irq_handler_entry: irq=41 name=virtio0-req.0\n",
		"CPU:1 [LOST 12 EVENTS]\n",
		"sched_switch: prev_comm=ls prev_pid=30 prev_prio=120 prev_state=2 ==> next_comm=swapper/1 next_pid=0 "
		"next_prio=120\n",
		"sched_wakeup: comm=x pid=-1 prio=-5 target_cpu=003\n",
		"do_it: hello",
		" => do_it\n => do_more\n",
	};
	cleanup_buf struct buf text = BUF_INIT;

	print(true, "nop\n", &(struct printed){ .format = "ftrace" }, &text);
	for (size_t i = 0; i < array_size(lines); i++)
		if (!CHECK(strstr(buf_str(&text), lines[i])))
			fprintf(stderr, "%s%s\n", lines[i], i ? "" : buf_str(&text));
}

/* ns2usecs() rounds, and trace_print_context() prints "%5lu.%06lu: ". */
TEST(other_order_of_magnitude_of_a_time_is_printed_as_printf_does)
{
	cleanup_buf struct buf lines = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
	struct fail fail = FAIL_INIT;
	uint64_t last = 0;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	/* One record is at most 2^59 ns after another. */
	for (uint64_t magnitude = 1, i = 0; magnitude <= UINT64_C(1000000000000000000);
	     magnitude = i++ % 2 ? magnitude * 2 : magnitude * 5)
		for (int by = -501; by <= 1501; by += 500) {
			uint64_t ts = magnitude + (uint64_t)(int64_t)by, us = (ts + 500) / 1000;

			/* The times of a CPU do not go back. */
			if (ts < last || ts > UINT64_C(1) << 62)
				continue;
			last = ts;
			CHECK(buf_addf(&lines, "0 %llu 0 sched_waking comm=x pid=1\n", (unsigned long long)ts));
			CHECK(buf_addf(&want,
				       "          <idle>-0       [000] ..... %5llu.%06llu: sched_waking: comm=x pid=1 "
				       "prio=0 target_cpu=000\n",
				       (unsigned long long)(us / 1000000), (unsigned long long)(us % 1000000)));
		}
	loom_play(&loom, buf_str(&lines));
	trace = loom_trace(&loom);
	if (CHECK(trace && !printed_trace(trace, &(struct printed){ .format = "ftrace" }, &got, &fail)))
		CHECK_STR(printed_body(&got), buf_str(&want));
	trace_free(trace);
	loom_release(&loom);
}
