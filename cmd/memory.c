// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

static const struct argp argp = {
	.parser = analyse_only,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording what the kernel allocated and has not freed, by the function that asked, "
	       "and which tasks had to wait for memory.",
};

static int run(int argc, char **argv)
{
	return analyse_only_run(&memory_command, &memory_analysis, argc, argv);
}

const struct command memory_command = {
	.name = "memory",
	.summary = "show what memory the kernel allocated and did not free, and which tasks waited for it",
	.brief = "allocations",
	.examples = "  weft record -e kmem -e vmscan -e compaction -e exceptions -- make\n"
		    "  weft memory --sort alive_bytes --top 10",
	.group = "read",
	.argp = &argp,
	.run = run,
};
