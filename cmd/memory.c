// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"

static const struct option_row options[] = {
	{ "by", OPT_ANALYSE_BY, "caller|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: caller, the function that asked; waits and page faults then by task)", 1,
	  OPTION_BY_KEY },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = analyse_by_parse,
	.children = OPTIONS_OF(analyse_options, struct analyse_by, analyse),
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording what the kernel allocated and has not freed, by the function that asked, "
	       "and which tasks had to wait for memory.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&memory_command, &memory_analysis, argc, argv);
}

const struct command memory_command = {
	.name = "memory",
	.summary = "show what memory the kernel allocated and did not free, and which tasks waited for it",
	.brief = "allocations",
	.examples = "  weft record -e kmem -e vmscan -e compaction -e exceptions -- make\n"
		    "  weft memory --sort alive_bytes --top 10\n"
		    "  weft memory --by unit",
	.group = "read",
	.options = &command_options,
	.run = run,
};
