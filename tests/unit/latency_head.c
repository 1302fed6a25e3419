// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/latency_head.h"

#include <string.h>

#include "tests/unit/test.h"

static void take(struct latency_head *head, const char *line)
{
	latency_head_take(head, line, strlen(line));
}

TEST(latency_head_takes_the_lines_that_name_the_longest_section)
{
	struct latency_head head = { .latency = "" };

	take(&head, "# irqsoff latency trace v1.1.5 on 6.12.0");
	take(&head, "# latency: 259 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)");
	take(&head, "#    | task: odd # name-1234 (uid:0 nice:-5 policy:1 rt_prio:50)");
	take(&head, "#  => started at: vprintk_emit");
	take(&head, "#  => ended at:   vprintk_emit+0x1/0x2");
	take(&head, "#");
	take(&head, "");
	CHECK_STR(head.latency, "259");
	CHECK_STR(head.preempt_model, "preempt");
	CHECK(head.cpu_known && head.cpu == 1);
	CHECK_STR(head.task, "odd # name-1234 (uid:0 nice:-5 policy:1 rt_prio:50)");
	CHECK_STR(head.started, "vprintk_emit");
	CHECK_STR(head.ended, "vprintk_emit+0x1/0x2");
	CHECK(!head.started_at && !head.ended_at);
	/* With the option sym-addr. */
	take(&head, "#  => started at: vprintk_emit <ffffffff81000010>");
	take(&head, "#  => ended at:   vprintk_emit+0x1/0x2 <ffffffff81000020>");
	CHECK(head.started_at == 0xffffffff81000010 && head.ended_at == 0xffffffff81000020);
}

TEST(latency_head_leaves_away_what_does_not_fit_or_has_no_end)
{
	struct latency_head head = { .latency = "" };
	char line[2 * LATENCY_SYMBOL_MAX];

	memset(line, 'x', sizeof(line));
	memcpy(line, "#  => started at: ", 18);
	latency_head_take(&head, line, sizeof(line));
	CHECK_STR(head.started, "");
	latency_head_take(&head, line, 18 + LATENCY_SYMBOL_MAX);
	CHECK_STR(head.started, "");
	latency_head_take(&head, line, 18 + LATENCY_SYMBOL_MAX - 1);
	CHECK(strlen(head.started) == LATENCY_SYMBOL_MAX - 1);
	take(&head, "# latency: 12");
	CHECK_STR(head.latency, "");
	take(&head, "# latency: 1234567890123456789012345 us, ");
	CHECK_STR(head.latency, "");
}
