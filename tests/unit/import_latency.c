// SPDX-License-Identifier: GPL-2.0-only
/* Texts of latency-format, which have times that were rounded more than once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/head_internal.h"
#include "lib/files/import/rounding_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/meaning/event/event.h"
#include "tests/unit/imported.h"
#include "tests/unit/test.h"

/* Of a 7.2: 1 us and 2 us until the next event, although the times are 2 us and 1 us apart. */
static const char verbose[] =
	"# tracer: function\n#\n# function latency trace v1.1.5 on 7.2.13+deb14-amd64\n"
	"          <idle>       0   1 9 00000002 00000000 [04c9278a] 11.480ms (+0.001ms): _raw_spin_unlock <-tick\n"
	"          <idle>       0   1 9 00000001 00000001 [04c9278b] 11.481ms (+0.001ms): tick_nohz_handler <-tick\n"
	"          <idle>       0   1 9 00000001 00000002 [04c9278c] 11.482ms (+0.001ms): ktime_get <-tick\n"
	"          <idle>       0   1 9 00000001 00000003 [04c9278d] 11.483ms (+0.001ms): update_process <-tick\n"
	"          <idle>       0   1 9 00000001 00000004 [04c9278f] 11.484ms (+0.002ms): account_process <-tick\n"
	"          <idle>       0   1 9 00000001 00000005 [04c92790] 11.486ms (+0.002ms): hrtimer_run_queues <-tick\n"
	"          <idle>       0   1 9 00000001 00000006 [04c92792] 11.488ms (+0.001ms): tmigr_requires <-tick\n"
	"          <idle>       0   1 9 00000001 00000007 [04c92793] 11.489ms (+0.000ms): <stack trace>\n"
	" => tick\n";

TEST(import_gives_verbose_text_back)
{
	CHECK(comes_back(verbose).events == 8);
	CHECK(comes_back("# tracer: nop\n#\n"
			 "           thr-a     392   0 1 00000002 00000000 [00000000000009e4] 10 (+0): odd: a=1\n"
			 "          a 1  2     394   3 255 00000003 00000001 [00000000000009e4] 10 (+2): odd: a=2\n"
			 "         [04c92]     393   0 17 00000003 00000002 [00000000000009e6] 12 (+0): odd: a=3\n")
		      .events == 3);
}

TEST(import_reads_what_a_verbose_line_says)
{
	struct head head;
	static const char line[] =
		"           a 1 2     392   3 45 00000012 0000000a [04c9278f] 11.484ms (+0.002ms): x: y";

	REQUIRE(head_parse(line, strlen(line), &head));
	CHECK(head.comm_len == 5 && !memcmp(head.comm, "a 1 2", 5));
	CHECK(head.pid == 392 && head.cpu == 3 && head.flags == 45 && head.preempt_count == 0x12);
	CHECK(head.ts == UINT64_C(0x04c9278f) * 1000 && head.since == 11484000 && head.until == 2000);
	CHECK(head.is_verbose && head.has_unit && head.body_len == 4);
	for (size_t len = 0; len < (size_t)(head.body - line) - 2; len++) {
		struct head cut;

		CHECK(!head_parse(line, len, &cut));
	}
}

TEST(import_takes_no_verbose_line_with_numbers_of_no_kernel)
{
	static const char *const lines[] = {
		"sh 392 4096 45 00000002 0000000a [04c9278f] 11.484ms (+0.002ms): x",
		"sh 392 3 256 00000002 0000000a [04c9278f] 11.484ms (+0.002ms): x",
		"sh 392 3 45 00000102 0000000a [04c9278f] 11.484ms (+0.002ms): x",
		"sh 392 3 45 00000002 0000000a [04c927] 11.484ms (+0.002ms): x",
		"sh 392 3 45 00000002 0000000a [fffffffffffffff] 11.484ms (+0.002ms): x",
		"sh 392 3 45 00000002 0000000a [04c9278f] 11.48ms (+0.002ms): x",
		"sh 392 3 45 00000002 0000000a [04c9278f] 11.484ms (+2): x",
		"sh 99999999999 3 45 00000002 0000000a [04c9278f] 11.484ms (+0.002ms): x",
	};
	struct head head;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		CHECK(!head_parse(lines[i], strlen(lines[i]), &head));
}

TEST(import_gives_marks_of_delays_back)
{
	CHECK(comes_back("# tracer: nop\n#\n"
			 "      sh-143       1d..2.  100us+: odd: a=1\n"
			 "      sh-143       0d..2.  110us : odd: a=2\n"
			 "      sh-143       1d..2.  121us : odd: a=3\n"
			 "      sh-143       0d..2.  121us : odd: a=4\n"
			 "      sh-143       1d..2.  121us!: odd: a=5\n"
			 "      sh-143       1d..2.  221us : odd: a=6\n")
		      .events == 6);
}

TEST(import_gives_marks_of_kernels_before_3_19_back)
{
	CHECK(comes_back("# tracer: wakeup\n#\n# wakeup latency trace v1.1.5 on 3.18.20\n"
			 "      sh-143     1d..2  100us : odd: a=1\n"
			 "      sh-143     1d..2  101us+: odd: a=2\n"
			 "      sh-143     1d..2  102us+: odd: a=3\n"
			 "      sh-143     1d..2  202us!: odd: a=4\n"
			 "      sh-143     1d..2  303us : odd: a=5\n")
		      .events == 5);
}

/* As mails to linux-kernel have it: /proc/latency_trace of 2.6.12-rc6-RT and 2.6.11-rc4-RT. */
TEST(import_reads_the_latency_trace_of_2_6_rt)
{
	static const char header[] = "preemption latency trace v1.1.4 on 2.6.12-rc6-RT-V0.7.48-04\n"
				     "----------------------------------------------------------\n"
				     " latency: 1178 us, #121/121, CPU#0 | (M:rt VP:0, KP:1, SP:1 HP:1 #P:1)\n"
				     "    -----------------\n"
				     "    | task: ksoftirqd/0-2 (uid:0 nice:-10 policy:0 rt_prio:0)\n"
				     "    -----------------\n\n"
				     "                 _------=> CPU#            \n"
				     "                / _-----=> irqs-off        \n"
				     "               |||| /                      \n"
				     "               |||||     delay             \n"
				     "   cmd     pid ||||| time  |   caller      \n"
				     "      \\   /    |||||   \\   |   /           \n";
	static const char lines[] = "automoun-9953  0dnh3    0us : __trace_start_sched_wakeup (try_to_wake_up)\n"
				    "automoun-9953  0dnh2    1us : try_to_wake_up <<...>-2> (73 79)\n"
				    "automoun-9953  0dnh.    3us+< (608)\n"
				    "automoun-9953  0dnh.   10\xb5s!: do_IRQ (c02174dc 0 0)\n"
				    "   <...>-2     0Dnh1 1178us : trace_stop_sched_switched (__schedule)\n"
				    "\n\nvim:ft=help\n";
	static const char verbose_lines[] =
		"(T1/#2)            dmesg  3249 0 9 00000002 00000002 [0000163455167105] 0.000ms (+0.000ms): "
		"__trace_start+0x96/0xc0 <c012cbe6> (try_to_wake_up+0x81/0x150 <c010f911>)\n"
		"(T1/#5)            dmesg  3249 0 2 00000000 00000005 [0000163455168677] 0.003ms (+0.000ms): "
		"page_remove_rmap+0x8/0x40 <c0149f78> (zap_pte_range+0x13a/0x250 <c0142f4a>)\n";
	cleanup_buf struct buf text = BUF_INIT;
	struct import_counts counts;

	REQUIRE(buf_add_str(&text, header) && buf_add_str(&text, lines));
	counts = imported_prints(buf_str(&text), NULL,
				 "automoun-9953    0dnh3    0us : __trace_start_sched_wakeup <-try_to_wake_up\n"
				 "automoun-9953    0dnh2    1us : try_to_wake_up <<...>-2> (73 79)\n"
				 "automoun-9953    0dnh.    3us+: < (608)\n"
				 "automoun-9953    0dnh.   10us!: do_IRQ (c02174dc 0 0)\n"
				 "   <...>-2       0Dnh1 1178us : trace_stop_sched_switched <-__schedule\n");
	CHECK(counts.events == 5 && !unknown_lines_count(&counts.told));
	buf_clear(&text);
	REQUIRE(buf_add_str(&text, header) && buf_add_str(&text, verbose_lines));
	counts = imported_prints(
		buf_str(&text), NULL,
		"   dmesg-3249    0d.h2    0us+: __trace_start+0x96/0xc0 <-try_to_wake_up+0x81/0x150\n"
		"   dmesg-3249    0.n..    3us : page_remove_rmap+0x8/0x40 <-zap_pte_range+0x13a/0x250\n");
	CHECK(counts.events == 2 && !unknown_lines_count(&counts.told));
}

/* No kernel prints this: the times are kept, and the marks follow from them. */
TEST(import_keeps_times_that_contradict_the_marks)
{
	imported_prints("# tracer: nop\n#\n"
			"      sh-143       1d..2.  100us$: odd: a=1\n"
			"      sh-143       0d..2.  140us : odd: a=2\n"
			"      sh-143       1d..2.  121us : odd: a=3\n",
			NULL,
			"      sh-143       1d..2.  100us+: odd: a=1\n"
			"      sh-143       1d..2.  121us+: odd: a=3\n"
			"      sh-143       0d..2.  140us : odd: a=2\n");
}

/* Prints as the kernel does: ns2usecs() rounds each of the times by itself. */
static void add_line(struct buf *text, unsigned index, uint64_t start, uint64_t ts, uint64_t next)
{
	uint64_t since = (ts - start + 500) / 1000, until = next ? (next - ts + 500) / 1000 : 0;

	CHECK(buf_addf(text,
		       "              sh      62   %u 1 00000001 %08x [%08" PRIx64 "] %" PRIu64 ".%03" PRIu64
		       "ms (+%" PRIu64 ".%03" PRIu64 "ms): odd: a=%u\n",
		       index % 2, index, (ts + 500) / 1000, since / 1000, since % 1000, until / 1000, until % 1000,
		       index));
}

TEST(import_gives_more_verbose_lines_back_than_wait_at_a_time)
{
	enum { LINES = 30000 };
	cleanup_buf struct buf text = BUF_INIT;
	uint64_t start = 5000000321, ts = start + 77, next;

	CHECK(buf_add_str(&text, "# tracer: nop\n#\n"));
	srandom(29);
	for (unsigned i = 0; i < LINES; i++, ts = next) {
		next = ts + 200 + (uint64_t)random() % 2500;
		add_line(&text, i, start, ts, i + 1 < LINES ? next : 0);
	}
	CHECK(comes_back(buf_str(&text)).events == LINES);
}

TEST(rounding_moves_a_time_by_less_than_a_microsecond)
{
	struct rounding events[] = {
		{ .wanted = 5000, .since = -1, .until_min = 10500, .until_max = 20000 },
		{ .wanted = 15000, .since = -1, .until_min = 1, .until_max = 20000 },
		{ .wanted = 20000, .since = -1, .until_min = 1, .until_max = 20000 },
	};

	rounding_solve(events, 3, 0, NULL);
	CHECK(events[1].ts - events[0].ts >= 10500);
	CHECK(events[0].ts >= 4500 && events[1].ts <= 15499);
	CHECK(events[2].ts == 20000);
}

TEST(rounding_finds_a_buffer_that_began_at_0)
{
	struct rounding events[] = {
		{ .wanted = 1000, .since = 1000, .until_min = 1, .until_max = 1 << 20 },
		{ .wanted = 5000, .since = 5000, .until_min = 1, .until_max = 1 << 20 },
	};
	struct rounding silent = { .wanted = 1000, .since = -1, .until_min = 1, .until_max = 1 << 20 };
	int64_t start = -1;

	CHECK(!rounding_start(&silent, 1, &start) && start == -1);
	CHECK(rounding_start(events, 2, &start) && start >= 0 && start < 500);
	CHECK(!rounding_start(events, 0, &start));
}
