// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/near.h"

#include <errno.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

static const char *said(const char *word, const char *const *names, struct fail *fail)
{
	struct near near = near_to(word);

	for (; *names; names++)
		near_offer(&near, *names);
	CHECK(near_fail(&near, fail, -ENOENT, "no event '%s'", word) == -ENOENT);
	return fail->text;
}

TEST(near_names_come_nearest_first)
{
	static const char *const names[] = { "sched_stick", "sched_wakeup", "sched_switch", "irq_exit", NULL };
	struct fail fail;

	CHECK_STR(said("sched_swich", names, &fail),
		  "no event 'sched_swich'; did you mean 'sched_switch' or 'sched_stick'?");
}

TEST(near_says_nothing_when_nothing_is_near)
{
	static const char *const names[] = { "local", "global", "x86-tsc", NULL };
	struct fail fail;

	CHECK_STR(said("qqqqqq", names, &fail), "no event 'qqqqqq'");
	CHECK_STR(said("", names, &fail), "no event ''");
}

TEST(near_counts_swapped_letters_once_and_names_each_name_once)
{
	static const char *const names[] = { "mono", "mono", "nope", NULL };
	struct fail fail;

	CHECK_STR(said("moon", names, &fail), "no event 'moon'; did you mean 'mono'?");
}
