// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

/*
 * Entries that the kernel prints in C and that are in no recording of tests/fixtures/golden. The expected texts follow
 * from the kernel's source, which each test names.
 */
static bool prints(struct loom *loom, const char *option, const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace = loom_trace(loom);
	bool ok = CHECK(trace && !printed_trace(trace, &(struct printed){ .format = "ftrace", .option = option }, &got,
						&fail)) &&
		  CHECK(strstr(buf_str(&got), want));

	if (!ok)
		fprintf(stderr, "%s\nprinted: %s\nwant: %s\n", fail.text, buf_str(&got), want);
	trace_free(trace);
	return ok;
}

static const char ctx_fields[] =
	"u32 prev_pid; u32 next_pid; u32 next_cpu; u8 prev_prio; u8 prev_state; u8 next_prio; u8 next_state";

/* trace_ctxwake_print() of kernel/trace/trace_output.c: " %7d:%3d:%c %s [%03d] %7d:%3d:%c %s" */
TEST(entries_of_context_switches_and_wakeups_are_printed_as_the_latency_tracers_have_them)
{
	struct loom loom;

	loom_init(&loom);
	loom_task(&loom, 7, "sh");
	loom_task(&loom, 8, "ls");
	loom_type(&loom, "ftrace", "context_switch", ctx_fields, "\"\"");
	loom_type(&loom, "ftrace", "wakeup", ctx_fields, "\"\"");
	loom_play(
		&loom,
		"0 1000000 7 context_switch prev_pid=7 prev_prio=120 prev_state=0 next_cpu=1 next_pid=8 next_prio=100 "
		"next_state=0\n"
		"0 2000000 7 wakeup prev_pid=7 prev_prio=120 next_cpu=3 next_pid=9 next_prio=120 next_state=0\n");
	prints(&loom, NULL, "] .....     0.001000:        7:120:R ==> [001]       8:100:R ls\n");
	prints(&loom, NULL, "] .....     0.002000:        7:120:R   + [003]       9:120:R <...>\n");
	prints(&loom, "raw", "7 120 R 1 8 100 R\n");
	prints(&loom, "raw", "7 120 + 3 9 120 R\n");
	loom_release(&loom);
}

/* mmio_print_rw(), mmio_print_map() of kernel/trace/trace_mmiotrace.c */
static const char mmio_script[] =
	"0 1000000499 7 mmiotrace_rw phys=0xfe000010 value=0x2a pc=0xffffffff81000100 map_id=3 opcode=1 width=4\n"
	"0 1000000500 7 mmiotrace_rw phys=0xfe000014 value=0x1 pc=0 map_id=-1 opcode=2 width=1\n"
	"0 1500000000 7 mmiotrace_rw phys=0xfe000018 value=0x0f8b90 pc=0x10 map_id=3 opcode=5\n"
	"0 1600000000 7 mmiotrace_rw opcode=9\n"
	"0 2000000000 7 mmiotrace_map phys=0xfe000000 virt=0xffffc90000000000 len=0x1000 map_id=3 opcode=3\n"
	"0 2100000000 7 mmiotrace_map phys=0xfe000000 virt=0xffffc90000000000 len=0x1000 map_id=3 opcode=4\n"
	"0 2200000000 7 mmiotrace_map opcode=1\n";
static const char mmio_text[] = "R 4 1.000000 3 0xfe000010 0x2a 0xffffffff81000100 0\n"
				"W 1 1.000001 -1 0xfe000014 0x1 0x0 0\n"
				"UNKNOWN 1.500000 3 0xfe000018 0f,8b,90 0x10 0\n"
				"rw what?\n"
				"MAP 2.000000 3 0xfe000000 0xffffc90000000000 0x1000 0x0 0\n"
				"UNMAP 2.100000 3 0x0 0\n"
				"map what?\n";

static void add_mmio(struct loom *loom)
{
	loom_type(loom, "ftrace", "mmiotrace_rw", "u64 phys; u64 value; u64 pc; int map_id; u8 opcode; u8 width",
		  "\"\"");
	loom_type(loom, "ftrace", "mmiotrace_map", "u64 phys; u64 virt; u64 len; int map_id; u8 opcode", "\"\"");
}

TEST(entries_of_mmiotrace_are_its_own_text)
{
	struct loom loom;

	loom_init(&loom);
	add_mmio(&loom);
	loom_setting(&loom, "current_tracer", "mmiotrace\n");
	loom_play(&loom, mmio_script);
	prints(&loom, NULL, mmio_text);
	loom_release(&loom);
	/* print_trace_fmt(): the type is not registered under other tracers. */
	loom_init(&loom);
	add_mmio(&loom);
	loom_play(&loom, "0 1000000 7 mmiotrace_rw opcode=1\n");
	prints(&loom, NULL, ": Unknown type 306\n");
	loom_release(&loom);
}

/*
 * print_kprobe_event(), print_kretprobe_event() of kernel/trace/trace_kprobe.c; print_eprobe_event() of trace_eprobe.c
 */
TEST(entries_of_probes_have_the_symbol_of_their_place)
{
	struct loom loom;

	loom_init(&loom);
	loom.kallsyms = "ffffffff81000000 T _stext\nffffffff81000100 T vfs_read\nffffffff81000200 T vfs_write\n"
			"ffffffff81000300 T _etext\n";
	loom_setting(&loom, "dynamic_events", "p:weft/at vfs_read+4 n=%di\ne:weft/ev sched.sched_switch n=$prev_pid\n");
	loom_type(&loom, "weft", "at", "u64 __probe_ip; int n", "\"(%lx) n=%d\", REC->__probe_ip, REC->n");
	loom_type(&loom, "weft", "back", "u64 __probe_func; u64 __probe_ret_ip; int n",
		  "\"(%lx <- %lx) n=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->n");
	loom_type(&loom, "weft", "named", "u64 __probe_ip; __data_loc char[] name",
		  "\"(%lx) name=\\\"%s\\\"\", REC->__probe_ip, __get_str(name)");
	loom_type(&loom, "weft", "ev", "int n", "\" n=%d\", REC->n");
	loom_play(&loom, "0 1000000 7 at __probe_ip=0xffffffff81000104 n=5\n"
			 "0 2000000 7 back __probe_func=0xffffffff81000100 __probe_ret_ip=0xffffffff81000210 n=-1\n"
			 "0 3000000 7 back __probe_func=0x401000 __probe_ret_ip=0xffffffff81000210 n=-1\n"
			 "0 4000000 7 named __probe_ip=0xffffffff81000100 name=passwd\n"
			 "0 5000000 7 named __probe_ip=0xffffffff81000100\n"
			 "0 6000000 7 ev n=9\n");
	prints(&loom, NULL, "0.001000: at: (vfs_read+0x4/0x100) n=5\n");
	prints(&loom, NULL, "0.002000: back: (vfs_write+0x10/0x100 <- vfs_read) n=-1\n");
	prints(&loom, NULL, "0.003000: back: (vfs_write+0x10/0x100 <- 0x401000) n=-1\n");
	prints(&loom, NULL, "0.004000: named: (vfs_read+0x0/0x100) name=\"passwd\"\n");
	prints(&loom, NULL, "0.005000: named: (vfs_read+0x0/0x100) name=(fault)\n");
	prints(&loom, NULL, "0.006000: ev: (sched.sched_switch) n=9\n");
	prints(&loom, "sym-addr", "at: (vfs_read+0x4/0x100 <ffffffff81000104>) n=5\n");
	loom_release(&loom);
}

/* print_syscall_enter() and sys_enter_openat_print() of kernel/trace/trace_syscalls.c, 6.19 */
TEST(entries_of_system_calls_have_what_their_user_passed)
{
	static const char open_print[] =
		"\"dfd: 0x%08lx, filename: 0x%08lx \\\"%s\\\", flags: %s, mode: 0x%08lx\", "
		"((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)), __get_str(__filename_val), "
		"__print_flags(REC->flags, \"|\", { 0x1, \"O_WRONLY\" }, { 0x2, \"O_RDWR\" }, { 0x40, \"O_CREAT\" }, "
		"{ 0x10000, \"O_DIRECTORY\" }), ((unsigned long)(REC->mode))";
	static const char write_print[] =
		"\"fd: 0x%08lx, buf: 0x%08lx (%s), count: 0x%08lx\", ((unsigned long)(REC->fd)), "
		"((unsigned long)(REC->buf)), __print_dynamic_array(__buf_val, 1), ((unsigned long)(REC->count))";
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "syscalls", "sys_enter_openat",
		  "int __syscall_nr; u64 dfd; u64 filename; u64 flags; u64 mode; __data_loc char[] __filename_val",
		  open_print);
	loom_type(&loom, "syscalls", "sys_enter_write",
		  "int __syscall_nr; u64 fd; u64 buf; u64 count; __data_loc char[] __buf_val", write_print);
	loom_play(&loom, "0 1000000 7 sys_enter_openat __syscall_nr=257 dfd=5 filename=0x7f00 flags=0x41 mode=0x1a4 "
			 "__filename_val=/tmp/x\n"
			 "0 2000000 7 sys_enter_openat __syscall_nr=257 dfd=5 filename=0x7f00 flags=0 mode=0x1a4 "
			 "__filename_val=/tmp/y\n"
			 "0 3000000 7 sys_enter_openat __syscall_nr=257 dfd=5 filename=0x7f00 flags=0x80000 "
			 "__filename_val=/tmp/z\n"
			 "0 4000000 7 sys_enter_write __syscall_nr=1 fd=2 buf=0x7f10 count=0x40 __buf_val=hi\n");
	prints(&loom, NULL,
	       "0.001000: sys_openat(dfd: 5, filename: 32512 \"/tmp/x\", flags: O_WRONLY|O_CREAT, mode: 0644)\n");
	prints(&loom, NULL, "0.002000: sys_openat(dfd: 5, filename: 32512 \"/tmp/y\", flags: O_RDONLY)\n");
	prints(&loom, NULL, "0.003000: sys_openat(dfd: 5, filename: 32512 \"/tmp/z\", flags: O_RDONLY|0x80000)\n");
	prints(&loom, NULL, "0.004000: sys_write(fd: 2, buf: 0x7f10 (68:69:00, ...) \"hi.\"..., count: 0x40)\n");
	prints(&loom, "verbose",
	       "sys_openat(u64 dfd: 5, u64 filename: 0x7f00 \"/tmp/x\", u64 flags: 0x41, u64 mode: 0x1a4)\n");
	loom_release(&loom);
}

/*
 * lat_print_generic(), lat_print_timestamp() of kernel/trace/trace_output.c: times count from the reset of the buffer,
 * which the latency sample shows.
 */
static const char latency_sample[] = "# tracer: nop\n#\n"
				     "# nop latency trace v1.1.5 on 6.12.0\n"
				     "# --------------------------------------------------------------------\n"
				     "# latency: 0 us, #2/2, CPU#1 | (M:PREEMPT(full) VP:0, KP:0, SP:0 HP:0 #P:2)\n"
				     "#    -----------------\n"
				     "      sh-7         0.....    3us+: irq_handler_entry: irq=9 name=acpi\n"
				     "      sh-7         0.....   43us : irq_handler_exit: irq=9 ret=handled\n";

TEST(entries_in_latency_format_count_from_the_reset_of_the_buffer)
{
	struct loom loom;

	loom_init(&loom);
	loom_task(&loom, 7, "sh");
	loom_setting(&loom, "weft/latency_sample", latency_sample);
	loom_play(&loom, "0 5000000 7 irq_handler_entry irq=9 name=acpi\n0 5040000 7 irq_handler_exit irq=9 ret=1\n");
	prints(&loom, "latency-format",
	       "\n      sh-7         0.....    3us+: irq_handler_entry: irq=9 name=acpi\n"
	       "      sh-7         0.....   43us : irq_handler_exit: irq=9 ret=handled\n");
	prints(&loom, "latency-format", "CPU#1 | (M:PREEMPT(full) VP:0, KP:0, SP:0 HP:0 #P:");
	loom_release(&loom);
	/* A sample of other events has no time_start: times count from the first event. */
	loom_init(&loom);
	loom_task(&loom, 7, "sh");
	loom_setting(&loom, "weft/latency_sample",
		     "      ls-8         0.....    3us+: irq_handler_entry: irq=9 name=acpi\n");
	loom_play(&loom, "0 5000000 7 irq_handler_entry irq=9 name=acpi\n0 5040000 7 irq_handler_exit irq=9 ret=1\n");
	prints(&loom, "latency-format", "\n      sh-7         0.....    0us+: irq_handler_entry");
	loom_release(&loom);
}

/* struct ftrace_graph_ent of 7.x */
TEST(entries_of_the_graph_have_a_depth_of_four_or_eight_bytes)
{
	static const char *const depths[] = { "u32", "u64" };
	char fields[128];
	struct loom loom;

	for (size_t i = 0; i < array_size(depths); i++) {
		loom_init(&loom);
		loom_task(&loom, 7, "sh");
		loom_setting(&loom, "current_tracer", "function_graph");
		snprintf(fields, sizeof(fields), "u64 func; %s depth", depths[i]);
		loom_type(&loom, "ftrace", "funcgraph_entry", fields, "\"\"");
		snprintf(fields, sizeof(fields), "u64 func; %s depth; u64 calltime; u64 rettime", depths[i]);
		loom_type(&loom, "ftrace", "funcgraph_exit", fields, "\"\"");
		loom_play(&loom, "0 1000 7 funcgraph_entry func=0xa depth=0\n"
				 "0 2000 7 funcgraph_entry func=0xb depth=1\n"
				 "0 3000 7 funcgraph_exit func=0xb depth=1 calltime=2000 rettime=3000\n"
				 "0 4000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=4000\n");
		prints(&loom, NULL,
		       " 0)               |  0xa() {\n"
		       " 0)   1.000 us    |    0xb();\n"
		       " 0)   3.000 us    |  }\n");
		loom_release(&loom);
	}
}

/* trace_timerlat_print(), trace_timerlat_raw() of kernel/trace/trace_output.c */
TEST(entries_of_timerlat_have_the_latency_of_each_context)
{
	struct loom loom;

	loom_init(&loom);
	loom_setting(&loom, "current_tracer", "timerlat\n");
	loom_type(&loom, "ftrace", "timerlat", "u32 seqnum; int context; u64 timer_latency", "\"\"");
	loom_play(&loom, "0 1000000 7 timerlat seqnum=5 context=0 timer_latency=1234\n"
			 "0 2000000 7 timerlat seqnum=5 context=1 timer_latency=12345678901\n"
			 "0 3000000 7 timerlat seqnum=123456 context=2 timer_latency=7\n");
	prints(&loom, NULL, "0.001000: #5     context    irq timer_latency      1234 ns\n");
	prints(&loom, NULL, "0.002000: #5     context thread timer_latency 12345678901 ns\n");
	prints(&loom, NULL, "0.003000: #123456 context user-ret timer_latency         7 ns\n");
	prints(&loom, NULL, "ID            CONTEXT                 LATENCY\n");
	prints(&loom, "raw", "5 1 12345678901\n");
	loom_release(&loom);
}

/* trace_branch_print(), branch_print_header() of kernel/trace/trace_branch.c */
TEST(entries_of_branches_say_whether_the_guess_was_right)
{
	struct loom loom;

	loom_init(&loom);
	loom_setting(&loom, "current_tracer", "branch\n");
	loom_type(&loom, "ftrace", "branch", "u32 line; char func[31]; char file[21]; char correct; char constant",
		  "\"\"");
	loom_play(&loom, "0 1000000 7 branch line=30 func=vfs_read file=read_write.c correct=1\n"
			 "0 2000000 7 branch line=31 func=vfs_write file=read_write.c correct=0\n");
	prints(&loom, NULL, "0.001000: [  ok  ] vfs_read:read_write.c:30\n");
	prints(&loom, NULL, "0.002000: [ MISS ] vfs_write:read_write.c:31\n");
	prints(&loom, NULL, "TIMESTAMP  CORRECT  FUNC:FILE:LINE\n");
	loom_release(&loom);
}

static const char few_symbols[] = "ffffffff81000000 T _stext\nffffffff81000100 T vfs_read\n"
				  "ffffffff81000200 T vfs_write\nffffffff81000300 T _etext\n";

/* trace_func_repeats_print(), trace_func_repeats_raw() of kernel/trace/trace_output.c */
TEST(entries_of_repeated_functions_have_their_number_and_the_last_time)
{
	struct loom loom;

	loom_init(&loom);
	loom.kallsyms = few_symbols;
	loom_type(&loom, "ftrace", "func_repeats",
		  "u64 ip; u64 parent_ip; u16 count; u16 top_delta_ts; u32 bottom_delta_ts", "\"\"");
	loom_play(&loom, "0 9000000000 7 func_repeats ip=0xffffffff81000100 parent_ip=0xffffffff81000200 count=12 "
			 "top_delta_ts=1 bottom_delta_ts=5032704\n");
	/* The difference is 1 << 32 and 5032704 ns: 4.3 s. */
	prints(&loom, NULL, "9.000000: vfs_read <-vfs_write (repeats: 12, last_ts:     4.700000)\n");
	prints(&loom, "noprint-parent", "9.000000: vfs_read (repeats: 12, last_ts:     4.700000)\n");
	prints(&loom, "raw", "18446744071578845440 18446744071578845696 12 4300000000\n");
	loom_release(&loom);
}

/* trace_bputs_print(), trace_bprint_print(), trace_bprint_raw() of kernel/trace/trace_output.c */
TEST(entries_of_trace_printk_have_the_kernels_strings)
{
	struct loom loom;

	loom_init(&loom);
	loom.kallsyms = few_symbols;
	loom.printk = "0xffffffff82000000 : \"one line\\n\"\n0xffffffff82000100 : \"n=%d of %d\\n\"\n";
	loom_type(&loom, "ftrace", "bputs", "u64 ip; u64 str", "\"\"");
	loom_type(&loom, "ftrace", "bprint", "u64 ip; u64 fmt; u32 buf; u32 more", "\"\"");
	loom_play(&loom, "0 1000000 7 bputs ip=0xffffffff81000104 str=0xffffffff82000000\n"
			 "0 2000000 7 bprint ip=0xffffffff81000204 fmt=0xffffffff82000100 buf=5 more=9\n"
			 "0 3000000 7 bputs ip=0xffffffff81000104 str=0xffffffff82000800\n"
			 "0 4000000 7 bprint ip=0xffffffff81000204 fmt=0xffffffff82000800 buf=5 more=9\n");
	prints(&loom, NULL, "0.001000: vfs_read: one line\n");
	prints(&loom, NULL, "0.002000: vfs_write: n=5 of 9\n");
	/* The file lacks these strings: their addresses are all that is known. */
	prints(&loom, NULL, "0.003000: vfs_read: 0xffffffff82000800\n");
	prints(&loom, NULL, "0.004000: vfs_write: 0xffffffff82000800\n");
	prints(&loom, "raw", ": ffffffff81000104 : one line\n");
	prints(&loom, "raw", ": ffffffff81000204 : n=5 of 9\n");
	prints(&loom, "printk-msg-only", "\none line\nn=5 of 9\n");
	loom_release(&loom);
}

/* lat_print_generic(), lat_print_timestamp() of kernel/trace/trace_output.c with the option verbose */
TEST(entries_in_verbose_latency_format_have_numbers_for_the_flags)
{
	struct loom loom;

	loom_init(&loom);
	loom_task(&loom, 7, "sh");
	loom_setting(&loom, "trace_options", "latency-format\n");
	loom_play(&loom, "0 5000000 7 irq_handler_entry common_flags=9 irq=9 name=acpi\n"
			 "0 5040000 7 irq_handler_exit irq=9 ret=1\n");
	prints(&loom, "verbose",
	       "              sh       7   0 9 00000000 00000000 [00001388] 0.000ms (+0.040ms): irq_handler_entry: "
	       "irq=9 name=acpi\n");
	prints(&loom, "verbose", "[000013b0] 0.040ms (+0.000ms): irq_handler_exit: irq=9 ret=handled\n");
	loom_release(&loom);
}
