// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/files/import/head_internal.h"
#include "lib/files/import/pairs_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"
#include "tests/unit/test.h"

static bool parse(const char *line, struct head *ret)
{
	return head_parse(line, strlen(line), ret);
}

TEST(import_finds_task_cpu_flags_and_time_in_front_of_an_event)
{
	struct head head;

	REQUIRE(parse("     a-b 1-62      (  60) [003] dNh2.     2.921018: x: y", &head));
	CHECK(head.comm_len == 5 && !memcmp(head.comm, "a-b 1", 5));
	CHECK(head.pid == 62 && head.tgid == 60 && head.has_tgid && head.cpu == 3);
	CHECK(head.ts == 2921018000 && head.has_unit);
	CHECK(head.flags == (0x01 | 0x04 | 0x20 | 0x08) && head.preempt_count == 2);
	CHECK(head.body_len == 4 && !memcmp(head.body, "x: y", 4));
	REQUIRE(parse(" sh-62 [001] d...2.3     2.921018: x: y", &head) == false || head.has_flags);
	REQUIRE(parse("sh-62 [001] 12345: x", &head));
	CHECK(!head.has_flags && !head.has_unit && head.ts == 12345);
	REQUIRE(parse("<4>[    1.000000] sh-62 0d.... 15us!: x", &head));
	CHECK(head.ts == 15000 && head.cpu == 0 && head.flags == 1);
}

static unsigned flags_of(const char *columns)
{
	char line[64];
	struct head head;

	snprintf(line, sizeof(line), "sh-62 [001] %s 2.921018: x", columns);
	return CHECK(parse(line, &head)) && CHECK(head.has_flags) ? head.flags : 0;
}

TEST(import_reads_each_letter_of_the_flags)
{
	static const struct {
		const char *columns;
		unsigned flags;
	} all[] = {
		{ "....", 0 },
		{ "d...", EVENT_IRQS_OFF },
		{ "b....", EVENT_BH_OFF },
		{ "D....", EVENT_IRQS_OFF | EVENT_BH_OFF },
		{ ".N...", EVENT_NEED_RESCHED | EVENT_PREEMPT_RESCHED },
		{ ".n...", EVENT_NEED_RESCHED },
		{ ".p...", EVENT_PREEMPT_RESCHED },
		{ ".B...", EVENT_NEED_RESCHED | EVENT_NEED_RESCHED_LAZY | EVENT_PREEMPT_RESCHED },
		{ ".b...", EVENT_NEED_RESCHED | EVENT_NEED_RESCHED_LAZY },
		{ ".L...", EVENT_NEED_RESCHED_LAZY | EVENT_PREEMPT_RESCHED },
		{ ".l...", EVENT_NEED_RESCHED_LAZY },
		{ "..Z..", EVENT_NMI | EVENT_HARDIRQ },
		{ "..z..", EVENT_NMI },
		{ "..H..", EVENT_HARDIRQ | EVENT_SOFTIRQ },
		{ "..h..", EVENT_HARDIRQ },
		{ "..s..", EVENT_SOFTIRQ },
		/* with PREEMPT_RT before 6.12, which has a column of its own for the lazy flag */
		{ ".n.h...", EVENT_NEED_RESCHED | EVENT_HARDIRQ },
		{ ".N.h...", EVENT_NEED_RESCHED | EVENT_PREEMPT_RESCHED | EVENT_HARDIRQ },
		{ "..Ls...", EVENT_NEED_RESCHED_LAZY | EVENT_SOFTIRQ },
	};

	for (size_t i = 0; i < array_size(all); i++)
		if (!CHECK(flags_of(all[i].columns) == all[i].flags))
			fprintf(stderr, "flags '%s'\n", all[i].columns);
}

TEST(import_takes_no_line_for_an_event_that_is_none)
{
	static const char *const lines[] = {
		"",
		"-",
		"- [",
		"sh-62",
		"sh-62 [001]",
		"sh-62 [001] d.... 2.9",
		"sh-62 [001] d.... 2.92101: x",
		"sh-62 [4096] d.... 2.921018: x",
		"sh-99999999999 [001] d.... 2.921018: x",
		"sh-62 [001] d.... 18446744073709551615.921018: x",
		"sh-62 (x) [001] d.... 2.921018: x",
		"# TASK-PID [001] d.... x",
		"[ 1.5",
		"<4",
		"kernel: [",
	};
	struct head head;

	for (size_t i = 0; i < array_size(lines); i++)
		CHECK(!parse(lines[i], &head));
}

static void check_pairs(const char *text, const char *fields, const char *print)
{
	struct buf got = BUF_INIT, fmt = BUF_INIT;

	CHECK(pairs_are(text, strlen(text)));
	if (CHECK(pairs_shape(text, strlen(text), &got, &fmt))) {
		CHECK_STR(buf_str(&got), fields);
		CHECK_STR(buf_str(&fmt), print);
	}
	buf_release(&got);
	buf_release(&fmt);
}

TEST(import_makes_fields_of_pairs)
{
	struct buf fields = BUF_INIT, print = BUF_INIT;

	check_pairs("comm=a b pid=62 runtime=400 [ns]", "__data_loc char[] comm;s64 pid;s64 runtime",
		    "\"comm=%s pid=%lld runtime=%lld [ns]\", __get_str(comm), REC->pid, REC->runtime");
	check_pairs("50% at=0x1f left=-3 odd=007", "u64 at;s64 left;__data_loc char[] odd",
		    "\"50%% at=0x%llx left=%lld odd=%s\", REC->at, REC->left, __get_str(odd)");
	CHECK(!pairs_are("8,0 W 4096 () 123 + 8 [sh]", 26));
	CHECK(!pairs_shape("a=1 a=2", 7, &fields, &print));
	buf_clear(&print);
	CHECK(!pairs_shape("\"a=1", 4, &fields, &print));
	buf_release(&fields);
	buf_release(&print);
}
