// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"

static const struct option_row options[] = {
	{ "by", OPT_ANALYSE_BY, "lock|caller|task|waker|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: lock); a waker ended the waits of others", 1, OPTION_BY_KEY },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = analyse_by_parse,
	.children = analyse_by_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how long tasks waited for kernel locks and for futexes, spinning or asleep, "
	       "and which task ended the wait.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&locks_command, &locks_analysis, argc, argv);
}

const struct command locks_command = {
	.name = "locks",
	.summary = "show how long tasks waited for locks and futexes",
	.brief = "lock waits",
	.examples = "  weft record -e lock -e sched -T -- make -j\n"
		    "  weft locks\n"
		    "  weft locks --by waker\n"
		    "  weft locks --slowest 10",
	.group = "read",
	.options = &command_options,
	.run = run,
};
