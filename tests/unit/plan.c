// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/plan.h"

#include <string.h>

#include "tests/unit/test.h"

static bool prints(struct plan *plan, const char *script)
{
	bool same = !strcmp(buf_str(&plan->script), script);

	plan_release(plan);
	return same;
}

TEST(plan_writes_lines_that_a_shell_understands)
{
	struct plan plan = PLAN_INIT;

	CHECK(plan_mkdir(&plan, "io"));
	CHECK(plan_write(&plan, "", "tracing_on", false, "0"));
	CHECK(plan_write(&plan, "io", "set_event", true, "sched:sched_switch"));
	CHECK(plan_write(&plan, "", "trace", false, ""));
	CHECK(plan_write(&plan, "", "events/sched/filter", false, "comm == \"it's\""));
	CHECK(plan_write(&plan, "", "f", false, "a\\b"));
	CHECK(plan_write(&plan, "", "f", false, "-n"));
	CHECK(plan_write(&plan, "a b", "f", false, "1\n2"));
	CHECK(prints(&plan, "mkdir instances/io\n"
			    "echo 0 > tracing_on\n"
			    "echo sched:sched_switch >> instances/io/set_event\n"
			    ": > trace\n"
			    "echo 'comm == \"it'\\''s\"' > events/sched/filter\n"
			    "printf '%s\\n' 'a\\b' > f\n"
			    "printf '%s\\n' -n > f\n"
			    "echo '1\n2' > 'instances/a b/f'\n"));
}

TEST(plan_knows_what_a_setting_was_last_set_to)
{
	struct plan plan = PLAN_INIT;

	CHECK(plan_write(&plan, "", "tracing_on", false, "0"));
	CHECK(plan_write(&plan, "", "tracing_on", false, "1"));
	CHECK(!strcmp(plan_value(&plan, "", "tracing_on"), "1"));
	CHECK(!plan_value(&plan, "io", "tracing_on"));
	CHECK(plan_write(&plan, "", "tracing_on", true, "2"));
	CHECK(!plan_value(&plan, "", "tracing_on"));
	plan_release(&plan);
}
