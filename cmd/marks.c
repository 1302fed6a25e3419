// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"

static const struct option_row options[] = {
	{ "by", OPT_ANALYSE_BY, "name|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: name): the spans of its tasks", 1, OPTION_BY_KEY },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = analyse_by_parse,
	.children = analyse_by_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording the spans that programs marked in trace_marker: how often, how long, and what "
	       "their time was spent on.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&marks_command, &marks_analysis, argc, argv);
}

const struct command marks_command = {
	.name = "marks",
	.summary = "show how long the spans took that programs mark, and where their time went",
	.brief = "marked spans",
	.examples = "  weft record --for marks -- ./server\n"
		    "  weft marks\n"
		    "  weft marks --slowest 10\n"
		    "  weft marks --longer 20ms --comm worker",
	.group = "read",
	.options = &command_options,
	.run = run,
};
