// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp_child children[] = { { &analyse_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.parser = parse,
	.children = children,
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
