// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/instance.h"
#include "tests/unit/test.h"

TEST(a_boot_instance_is_named_by_the_command_line)
{
	static const char line[] =
		"quiet trace_instance=foo,sched:sched_switch trace_instance=boot_map^traceoff@trace "
		"\"trace_instance=quoted,initcall\" trace_instance=\"other\" trace_instance=saved=boot_map\n";

	CHECK(boot_instance_in(line, "foo"));
	CHECK(boot_instance_in(line, "boot_map"));
	CHECK(boot_instance_in(line, "quoted"));
	CHECK(boot_instance_in(line, "other"));
	CHECK(boot_instance_in(line, "saved"));
}

TEST(what_only_looks_like_one_is_no_boot_instance)
{
	static const char line[] =
		"xtrace_instance=a trace_instance= log=\"trace_instance=b trace_instance=c\" trace_instance -- "
		"trace_instance=d";

	for (const char *name = "abcd"; *name; name++)
		CHECK(!boot_instance_in(line, (const char[]){ *name, '\0' }));
	CHECK(!boot_instance_in("trace_instance=foobar", "foo"));
	CHECK(!boot_instance_in("trace_instance=foo", "foobar"));
	CHECK(!boot_instance_in("", "foo"));
}
