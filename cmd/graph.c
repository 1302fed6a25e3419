// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

static const struct argp argp = {
	.parser = analyse_only,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Tells from a recording which kernel functions were called how often, how long each took with and without those that it called, and "
	       "which errors they returned.",
};

static int run(int argc, char **argv)
{
	struct analyse analyse = ANALYSE_INIT;

	command_parse(&graph_command, argc, argv, 0, &analyse);
	return analyse_run(&analyse, &graph_analysis, NULL);
}

const struct command graph_command = {
	.name = "graph",
	.summary = "tell how long functions took and what they returned",
	.examples = "  weft record -p function_graph -- make\n"
		    "  weft graph --sort max --top 5 trace.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
