// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/tally/tally.h"

#include <stdio.h>
#include <string.h>

#include "lib/answers/tally/tally_calls_internal.h"
#include "lib/answers/tally/tally_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static const char script[] = "0 1000 7 cost value=-2 size=100 where=open\n"
			     "0 2000 7 cost value=5 size=120 where=open\n"
			     "1 3000 8 cost value=5 size=130 where=close\n"
			     "1 4500 8 cost value=-2 size=64 where=open\n"
			     "0 9000 7 done value=5 kind=1\n"
			     "0 9500 7 done value=-2 kind=2\n"
			     "0 9700 7 done value=-2 kind=3\n";

/* The text of the rows and totals, or the error. */
static void count(const char *events, const struct tally_wanted *wanted, struct buf *text, struct fail *fail)
{
	struct reader reader;
	struct trace *trace;
	struct tally *tally = NULL;
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "test", "cost", "int value; u64 size; __data_loc char[] where", "\"\"");
	loom_type(&loom, "test", "done", "int value; int kind", "\"\"");
	loom_type(&loom, "ftrace", "function", "u64 ip; u64 parent_ip", "\"\"");
	loom_type(&loom, "ftrace", "func_repeats",
		  "u64 ip; u64 parent_ip; u16 count; u16 top_delta_ts; u32 bottom_delta_ts", "\"\"");
	loom_task(&loom, 7, "seven");
	loom_play(&loom, events);
	trace = loom_trace(&loom);
	reader_init(&reader);
	if (CHECK(trace && !reader_add_trace(&reader, trace, fail) &&
		  !reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail)) &&
	    !tally_new(&reader, wanted, &tally, fail) &&
	    !reader_run(&reader, &(struct reader_consumer){ tally_see, tally }, 1, fail))
		(void)!tally_text(tally, text, fail);
	tally_free(tally);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

static bool counts(const struct tally_wanted *wanted, const char *rows)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	const char *begin;

	count(script, wanted, &text, &fail);
	begin = strstr(buf_str(&text), "#\n\n");
	if (begin && !strncmp(begin + 3, rows, strlen(rows)))
		return true;
	printf("%s\n%s\n", fail.text, buf_str(&text));
	return false;
}

static bool refuses(const struct tally_wanted *wanted, const char *why)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;

	count(script, wanted, &text, &fail);
	if (strstr(fail.text, why) && !text.len)
		return true;
	printf("%s\n", fail.text);
	return false;
}

TEST(tally_prints_the_trigger_the_rows_and_the_totals_as_the_kernel_does)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;

	count(script,
	      &(struct tally_wanted){ .event = "test:cost",
				      .keys = "value",
				      .values = "size",
				      .sort = "value",
				      .filter = "size > 99",
				      .size = 200 },
	      &text, &fail);
	CHECK(!strcmp(
		buf_str(&text),
		"# event histogram\n#\n# trigger info: hist:keys=value:vals=hitcount,size:sort=value:size=256 if size "
		"> 99 [active]\n#\n\n"
		"{ value: 18446744073709551614 } hitcount:          1  size:        100\n"
		"{ value:          5 } hitcount:          2  size:        250\n"
		"\nTotals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n"));
}

/* trace_func_repeats_print(): "a <-b (repeats: 3)" stands for three more calls of a. */
TEST(tally_of_functions_counts_those_that_repeats_stand_for)
{
	static const char calls[] = "0 1000 7 function ip=16 parent_ip=32\n"
				    "0 1900 7 func_repeats ip=16 parent_ip=32 count=3 bottom_delta_ts=100\n"
				    "0 2000 7 function ip=16 parent_ip=48\n"
				    "0 2900 7 func_repeats ip=16 parent_ip=48 count=7 bottom_delta_ts=100\n";
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;

	count(calls,
	      &(struct tally_wanted){ .event = "function",
				      .keys = "ip",
				      .values = "parent_ip,parent_ip.p50",
				      .filter = "parent_ip == 32" },
	      &text, &fail);
	CHECK(strstr(buf_str(&text), "{ ip:         16 } hitcount:          4  parent_ip:        128  "
				     "parent_ip.p50:         32\n"));
	CHECK(strstr(buf_str(&text), "Hits: 4\n    Entries: 1\n    Dropped: 0\n"));
	buf_clear(&text);
	/* The rows are used up by the first caller. */
	count(calls, &(struct tally_wanted){ .event = "function", .keys = "parent_ip", .size = 1 }, &text, &fail);
	CHECK(strstr(buf_str(&text), "Hits: 4\n    Entries: 1\n    Dropped: 8\n"));
}

TEST(tally_has_keys_of_every_kind)
{
	CHECK(counts(&(struct tally_wanted){ .event = "cost", .keys = "size.log2", .sort = "size" },
		     "{ size: ~ 2^6  } hitcount:          1\n{ size: ~ 2^7  } hitcount:          2\n"
		     "{ size: ~ 2^8  } hitcount:          1\n"));
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost", .keys = "size.buckets=50" },
		     "{ size: ~ 50-99 } hitcount:          1\n{ size: ~ 100-149 } hitcount:          3\n"));
	CHECK(counts(&(struct tally_wanted){ .event = "test/cost",
					     .keys = "where,common_cpu",
					     .sort = "where,common_cpu.descending" },
		     "{ where: close                                             , common_cpu:          1 } "
		     "hitcount:          1\n"
		     "{ where: open                                              , common_cpu:          1 } "
		     "hitcount:          1\n"
		     "{ where: open                                              , common_cpu:          0 } "
		     "hitcount:          2\n"));
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost",
					     .keys = "execname,value.hex",
					     .sort = "common_pid,value" },
		     "{ common_pid: seven           [         7], value: fffffffffffffffe } hitcount:          1\n"
		     "{ common_pid: seven           [         7], value: 5 } hitcount:          1\n"
		     "{ common_pid: <...>           [         8], value: fffffffffffffffe } hitcount:          1\n"));
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost",
					     .keys = "common_timestamp.usecs",
					     .sort = "common_timestamp.descending" },
		     "{ common_timestamp:          5 } hitcount:          1\n"
		     "{ common_timestamp:          3 } hitcount:          1\n"));
}

TEST(tally_has_sums_parts_bars_and_percentiles)
{
	CHECK(counts(
		&(struct tally_wanted){ .event = "test:cost",
					.keys = "where",
					.values = "size.percent,size.graph,size.hex",
					.sort = "where" },
		"{ where: close                                              } hitcount:          1  size (%):  31.40  "
		"size: #########             size:         82\n"
		"{ where: open                                               } hitcount:          3  size (%):  68.59  "
		"size: ####################  size:        11c\n"));
	CHECK(counts(
		&(struct tally_wanted){ .event = "test:cost",
					.keys = "where",
					.values = "size.p50,size.min,size.max",
					.sort = "size.max" },
		"{ where: open                                               } hitcount:          3  size.p50:        "
		"100  size.min:         64  size.max:        120\n"));
}

/* The rows of `nr` events whose values count up from 1, and of one other event. */
static bool counts_many(unsigned nr, const char *values, const char *sort, const char *rows)
{
	const struct tally_wanted wanted = { .event = "test:cost", .keys = "value", .values = values, .sort = sort };
	cleanup_buf struct buf events = BUF_INIT, text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	const char *begin;

	for (unsigned i = 1; i <= nr; i++)
		CHECK(buf_addf(&events, "0 %u 7 cost value=1 size=%u where=open\n", i * 10, i));
	CHECK(buf_addf(&events, "0 %u 7 cost value=2 size=7 where=open\n", nr * 10 + 10));
	count(buf_str(&events), &wanted, &text, &fail);
	begin = strstr(buf_str(&text), "#\n\n");
	if (begin && !strncmp(begin + 3, rows, strlen(rows)))
		return true;
	printf("%s\n%s\n", fail.text, buf_str(&text));
	return false;
}

TEST(tally_has_no_percentile_of_too_few_values)
{
	CHECK(counts_many(99, "size.p90,size.p99", "value",
			  "{ value:          1 } hitcount:         99  size.p90:         90  size.p99:          -\n"
			  "{ value:          2 } hitcount:          1  size.p90:          7  size.p99:          -\n"));
	/* An unknown value sorts below all others. */
	CHECK(counts_many(100, "size.p99,size.p999", "size.p99",
			  "{ value:          2 } hitcount:          1  size.p99:          -  size.p999:          -\n"
			  "{ value:          1 } hitcount:        100  size.p99:         99  size.p999:          -\n"));
	CHECK(counts_many(999, "size.p999", "value",
			  "{ value:          1 } hitcount:        999  size.p999:          -\n"));
	CHECK(counts_many(1000, "size.p999", "value",
			  "{ value:          1 } hitcount:       1000  size.p999:        999\n"));
}

TEST(tally_knows_numbers_below_0)
{
	static const char events[] = "0 1000 7 cost value=-5 size=1 where=a\n"
				     "0 2000 7 cost value=3 size=1 where=a\n"
				     "0 3000 7 cost value=-9 size=1 where=a\n"
				     "0 4000 7 cost value=2 size=2 where=a\n"
				     "0 5000 7 cost value=-1 size=3 where=a\n";
	const struct tally_wanted wanted = { .event = "test:cost",
					     .keys = "size",
					     .values = "value.min,value.p50,value.p90,value.max",
					     .sort = "value.max,size" };
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;

	count(events, &wanted, &text, &fail);
	/* -1, 2, 3: the rows are in the order of their largest values. */
	CHECK(strstr(buf_str(&text),
		     "#\n\n{ size:          3 } hitcount:          1  value.min: 18446744073709551615  value.p50: "
		     "18446744073709551615  value.p90: 18446744073709551615  value.max: 18446744073709551615\n"
		     "{ size:          2 } hitcount:          1  value.min:          2  value.p50:          2  "
		     "value.p90:          2  value.max:          2\n"
		     "{ size:          1 } hitcount:          3  value.min: 18446744073709551607  value.p50: "
		     "18446744073709551611  value.p90:          3  value.max:          3\n"));
}

TEST(tally_sorts_by_the_key_unless_a_percentile_of_it_is_named)
{
	CHECK(counts(
		&(struct tally_wanted){ .event = "test:cost",
					.keys = "size",
					.values = "size.p50,value.p50",
					.sort = "size",
					.filter = "common_cpu == 1" },
		"{ size:         64 } hitcount:          1  size.p50:         64  value.p50: 18446744073709551614\n"
		"{ size:        130 } hitcount:          1  size.p50:        130  value.p50:          5\n"));
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost",
					     .keys = "value,size",
					     .values = "value.p50",
					     .sort = "value.descending,size" },
		     "{ value:          5, size:        120 } hitcount:          1  value.p50:          5\n"
		     "{ value:          5, size:        130 } hitcount:          1  value.p50:          5\n"));
	CHECK(counts(
		&(struct tally_wanted){
			.event = "test:cost", .keys = "where", .values = "size.p90", .sort = "size.descending" },
		"{ where: close                                              } hitcount:          1  size.p90:        "
		"130\n"));
	/* The sum of a row is what the name alone means if there are both. */
	CHECK(counts(
		&(struct tally_wanted){
			.event = "test:cost", .keys = "where", .values = "size.p90,size", .sort = "size.descending" },
		"{ where: open                                               } hitcount:          3  size.p90:        "
		"120  size:        284\n"));
}

TEST(tally_adds_no_key_to_those_that_are_named)
{
	/* Two times, 6000 and 5000, in one row. */
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost",
					     .second = "test:done",
					     .match = "value",
					     .ns = true,
					     .keys = "common_pid",
					     .values = "lat.max,lat" },
		     "{ common_pid:          7 } hitcount:          2  lat.max:       6000  lat:      11000\n"
		     "\nTotals:\n"));
}

TEST(tally_measures_from_one_event_to_the_next_other_that_matches)
{
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost",
					     .second = "test:done",
					     .match = "value",
					     .ns = true,
					     .keys = "value,kind,lat,where",
					     .sort = "kind" },
		     "{ value:          5, kind:          1, lat:       6000, where: "
		     "close                                              } hitcount:          1\n"
		     "{ value: 18446744073709551614, kind:          2, lat:       5000, where: "
		     "open                                               } hitcount:          1\n"
		     "\nTotals:\n    Hits: 2\n"));
	CHECK(counts(&(struct tally_wanted){ .event = "test:cost",
					     .second = "test:done",
					     .match = "value=value",
					     .ns = true,
					     .keys = "lat",
					     .values = "lat.max",
					     .filter = "lat > 5500" },
		     "{ lat:       6000 } hitcount:          1  lat.max:       6000\n\nTotals:\n"));
	/* Both times are rounded, as the kernel does. */
	CHECK(counts(
		&(struct tally_wanted){
			.event = "test:cost", .second = "test:done", .match = "value", .keys = "lat", .sort = "lat" },
		"{ lat:          5 } hitcount:          1\n{ lat:          6 } hitcount:          1\n"));
}

TEST(tally_drops_what_finds_no_row)
{
	cleanup_buf struct buf events = BUF_INIT, text = BUF_INIT;
	struct fail fail = FAIL_INIT;

	for (unsigned i = 0; i < 300; i++)
		CHECK(buf_addf(&events, "0 %u 7 cost value=%u size=1 where=a\n", 1000 + i, i % 150));
	count(buf_str(&events), &(struct tally_wanted){ .event = "test:cost", .keys = "value", .size = 128 }, &text,
	      &fail);
	CHECK(strstr(buf_str(&text), "Hits: 256\n    Entries: 128\n    Dropped: 44\n"));
}

TEST(tally_refuses_with_the_kernels_words_and_a_caret)
{
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cots", .keys = "value" }, "did you mean 'test:cost'"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "size,valeu" },
		      "--keys: Couldn't find field; did you mean 'value'?\n  size,valeu\n       ^"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value.log3" }, "Invalid field modifier"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value.execname" },
		      "Invalid field modifier"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value.buckets=0" },
		      "Invalid field modifier"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "where.log2" }, "Invalid field modifier"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value", .values = "where" },
		      "Only numbers can be summed up"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value", .sort = "size" },
		      "Sort field must be a key or a val"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value", .sort = "value.down" },
		      "Invalid sort modifier"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .keys = "value", .filter = "sise == 1" },
		      "--filter: Field not found"));
	CHECK(refuses(&(struct tally_wanted){ .event = "test:cost", .second = "test:done", .match = "nothing" },
		      "--key: Couldn't find field"));
}

/* Counts with stacks; the text must contain `want`. */
static void stacked(const char *events, const struct tally_wanted *wanted, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct tally *tally = NULL;
	struct reader reader;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom.kallsyms = "ffffffff81000000 T _stext\nffffffff81000100 T vfs_read\nffffffff81000200 T ksys_read\n"
			"ffffffff81000300 T _etext\n";
	loom_type(&loom, "test", "cost", "int value", "\"\"");
	loom_type(&loom, "ftrace", "kernel_stack", "int size; u32 none; u64 caller; u64 second; u64 end", "\"\"");
	loom_play(&loom, events);
	trace = loom_trace(&loom);
	reader_init(&reader);
	CHECK(trace && !reader_add_trace(&reader, trace, &fail) &&
	      !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail));
	CHECK(!tally_new(&reader, wanted, &tally, &fail) &&
	      !reader_run(&reader, &(struct reader_consumer){ tally_see, tally }, 1, &fail));
	CHECK(!tally_text(tally, &text, &fail));
	CHECK_STR(fail.text, "");
	if (!CHECK(strstr(buf_str(&text), want)))
		printf("%s\n", buf_str(&text));
	CHECK(tally_lacks_stacks(tally) == !strstr(want, "+0x"));
	tally_free(tally);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

/*
 * hist_trigger_stacktrace_print() of kernel/trace/trace_events_hist.c; the stack is the next event of the task on its
 * CPU.
 */
TEST(tally_counts_stacks_that_follow_their_events)
{
	const struct tally_wanted wanted = { .event = "test:cost", .keys = "stacktrace", .sort = "hitcount" };

	stacked("0 1000 7 cost value=1\n"
		"0 1010 7 kernel_stack size=2 caller=0xffffffff81000110 second=0xffffffff81000220 "
		"end=0xffffffffffffffff\n"
		"1 1500 8 cost value=1\n"
		"1 1510 8 kernel_stack size=1 caller=0xffffffff81000220 second=0xffffffffffffffff\n"
		"0 2000 7 cost value=2\n"
		/* An interrupt between the two events has a stack of its own. */
		"0 2005 7 irq_handler_entry irq=9 common_flags=8\n"
		"0 2006 7 kernel_stack size=1 caller=0xffffffff81000000 second=0xffffffffffffffff common_flags=8\n"
		"0 2010 7 kernel_stack size=2 caller=0xffffffff81000110 second=0xffffffff81000220 "
		"end=0xffffffffffffffff\n",
		&wanted,
		"stacktrace:\n         ksys_read+0x20/0x100\n} hitcount:          1\n"
		"{ common_stacktrace:\n         vfs_read+0x10/0x100\n         ksys_read+0x20/0x100\n"
		"} hitcount:          2\n");
	/* Events without a stack have an empty one. */
	stacked("0 1000 7 cost value=1\n0 2000 7 cost value=1\n0 3000 7 irq_handler_entry irq=9\n", &wanted,
		"hitcount:          2\n");
}

static bool is_called(const struct context *context, int number, const char *name)
{
	char into[TALLY_CALL_SIZE];

	return CHECK_STR(tally_call_name(context, (uint64_t)number, into), name);
}

TEST(tally_names_a_call_as_the_source_of_that_machine_defines_it)
{
	struct context context = { .machine = "x86_64", .abi = { .long_size = 8 } };

	CHECK(is_called(&context, 102, "sys_getuid"));
	CHECK(is_called(&context, 35, "sys_nanosleep"));
	CHECK(is_called(&context, 4, "sys_newstat"));
	CHECK(is_called(&context, 40, "sys_sendfile64"));
	CHECK(is_called(&context, 221, "sys_fadvise64"));
	CHECK(is_called(&context, 99999, "unknown_syscall"));
	CHECK(is_called(&context, 0x40000000, "unknown_syscall"));
	/* create_module */
	CHECK(is_called(&context, 174, "unknown_syscall"));
	context = (struct context){ .machine = "i686", .abi = { .long_size = 4 } };
	CHECK(is_called(&context, 24, "sys_getuid16"));
	CHECK(is_called(&context, 199, "sys_getuid"));
	CHECK(is_called(&context, 191, "sys_getrlimit"));
	CHECK(is_called(&context, 162, "sys_nanosleep_time32"));
	CHECK(is_called(&context, 407, "sys_clock_nanosleep"));
	CHECK(is_called(&context, 403, "sys_clock_gettime"));
	CHECK(is_called(&context, 192, "sys_mmap_pgoff"));
	CHECK(is_called(&context, 3, "sys_read"));
	context = (struct context){ .machine = "armv7l", .abi = { .long_size = 4 } };
	CHECK(is_called(&context, 240, "sys_futex_time32"));
	CHECK(is_called(&context, 180, "sys_pread64"));
	/* set_tls; the kernel has no name for the calls that only arm has. */
	CHECK(is_called(&context, 0xf0005, "unknown_syscall"));
	context = (struct context){ .machine = "s390x", .abi = { .long_size = 8 } };
	CHECK(is_called(&context, 90, "sys_old_mmap"));
	CHECK(is_called(&context, 253, "sys_fadvise64_64"));
	context = (struct context){ .machine = "aarch64", .abi = { .long_size = 8 } };
	CHECK(is_called(&context, 80, "sys_newfstat"));
}

TEST(tally_has_of_a_32_bit_kernel_the_lower_half_of_a_field)
{
	static const int32_t data = -2;
	struct event event = { .data = (const uint8_t *)&data, .len = sizeof(data) };
	struct place place = { .size = 4, .is_signed = true };
	struct context context = { .abi = { .long_size = 8 } };
	struct tally_bound bound = { .context = &context };
	struct tally_column column = { .of = TALLY_NUMBER };
	static struct tally tally;

	CHECK(tally_number(&tally, &column, &bound, &place, 0, &event) == (uint64_t)-2);
	context.abi.long_size = 4;
	CHECK(tally_number(&tally, &column, &bound, &place, 0, &event) == (uint32_t)-2);
}

/* The steps are those of Linux 6.1.192 on x86_64, 7.2.13 on arm, and 6.1.176 on x86_64, i386 and arm. */
TEST(tally_has_the_step_of_log2_for_numbers_below_0_of_each_machine)
{
	static const int32_t data = -2, nothing = 0, two = 2;
	static const struct {
		const char *machine;
		uint8_t long_size;
		uint64_t step;
	} olds[] = { { "x86_64", 8, 0 }, { "i686", 4, 0 }, { "armv7l", 4, UINT64_MAX } };
	struct event event = { .data = (const uint8_t *)&data, .len = sizeof(data), .ts = (UINT64_C(1) << 32) + 5 };
	struct place place = { .size = 4, .is_signed = true };
	struct context context = { .machine = "x86_64", .abi = { .long_size = 8 } };
	struct tally_bound bound = { .context = &context };
	struct tally_column number = { .of = TALLY_NUMBER, .how = TALLY_LOG2 },
			    time = { .of = TALLY_TIME, .how = TALLY_LOG2 };
	static struct tally tally;

	CHECK(tally_number(&tally, &number, &bound, &place, 0, &event) == 64);
	CHECK(tally_number(&tally, &time, &bound, &place, 0, &event) == 33);
	context = (struct context){ .machine = "armv7l", .abi = { .long_size = 4 } };
	CHECK(tally_number(&tally, &number, &bound, &place, 0, &event) == 32);
	CHECK(tally_number(&tally, &time, &bound, &place, 0, &event) == 3);
	context = (struct context){ .release_major = 6, .release_minor = 1, .release_patch = 176 };
	for (size_t i = 0; i < array_size(olds); i++) {
		snprintf(context.machine, sizeof(context.machine), "%s", olds[i].machine);
		context.abi.long_size = olds[i].long_size;
		event.data = (const uint8_t *)&data;
		CHECK(tally_number(&tally, &number, &bound, &place, 0, &event) == olds[i].step);
		event.data = (const uint8_t *)&nothing;
		CHECK(tally_number(&tally, &number, &bound, &place, 0, &event) == olds[i].step);
		event.data = (const uint8_t *)&two;
		CHECK(tally_number(&tally, &number, &bound, &place, 0, &event) == 1);
	}
}
