// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/terminal.h"
#include "lib/analysis/graph.h"

enum { OPT_TREE = 512, OPT_SLOWEST, OPT_BY, OPT_LONGER };

enum { CALLS_SHOWN = 5, LEAST_PER_MILLE = 10 };

static const char *const names[] = { [GRAPH_BY_FUNCTION] = "function", [GRAPH_BY_ERRNO] = "errno" };
static const struct row_choices rows = { names, array_size(names) };

static const struct argp_option options[] = {
	{ "by", OPT_BY, "function|errno", 0,
	  "A row for each function (default), or for each error number that functions returned", 1 },
	{ "tree", OPT_TREE, "FUNC", 0,
	  "Show only this function: what it called, and what called it, as trees of all its calls", 1 },
	{ "slowest", OPT_SLOWEST, "FUNC", 0,
	  "Show only this function: its longest calls (5, or as many as --top says), and what each spent its time on",
	  1 },
	{ "longer", OPT_LONGER, "TIME", 0,
	  "Show only the calls longer than TIME, below their callers (the 1000 longest, or as many as --top says): "
	  "500us, 10ms",
	  1 },
	{ 0 },
};

struct arguments {
	struct analyse analyse;
	struct graph_options graph;
	struct graph_tree_options tree;
	struct graph_longer_options longer;
	bool slowest, by_given;
};

static void take_function(struct arguments *arguments, const char *name, bool slowest, struct argp_state *state)
{
	if (arguments->tree.function)
		argp_error(state, "only one --tree or --slowest is allowed: '%s' and '%s'", arguments->tree.function,
			   name);
	arguments->tree.function = name;
	arguments->slowest = slowest;
}

static void check(const struct arguments *arguments, struct argp_state *state)
{
	const char *option = arguments->slowest ? "--slowest" : "--tree";

	if (arguments->tree.function && arguments->analyse.findings.sort)
		argp_error(state, "%s cannot be combined with --sort: its order is fixed", option);
	if (arguments->tree.function && arguments->by_given)
		argp_error(state, "%s cannot be combined with --by: its rows are fixed", option);
	if (arguments->longer.longer && (arguments->tree.function || arguments->by_given))
		argp_error(state, "--longer cannot be combined with --tree, --slowest and --by: its rows are fixed");
	if (arguments->analyse.every_ns && (arguments->tree.function || arguments->longer.longer))
		argp_error(state, "--every shows the table of functions, not %s",
			   arguments->longer.longer ? "--longer" : option);
	if (arguments->longer.longer && arguments->analyse.findings.sort)
		argp_error(state, "--longer cannot be combined with --sort: its order is fixed");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->analyse;
		return 0;
	case OPT_BY:
		arguments->graph.by = (enum graph_by)analyse_by(&rows, arg, state);
		arguments->by_given = true;
		return 0;
	case OPT_TREE:
	case OPT_SLOWEST:
		take_function(arguments, arg, key == OPT_SLOWEST, state);
		return 0;
	case OPT_LONGER:
		arguments->longer.longer = option_time("longer", arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how often kernel functions were called, how long each took with and without the "
	       "functions that it called, and which errors they returned.",
};

static int run_tree(struct arguments *arguments)
{
	struct analyse *analyse = &arguments->analyse;
	uint64_t top = analyse->findings.top;

	arguments->tree.ascii = !terminal_utf8();
	if (analyse->findings.format == TABLE_AS_TEXT && (arguments->slowest || !analyse->top_given || top))
		arguments->tree.least = LEAST_PER_MILLE;
	if (arguments->slowest && !analyse->top_given)
		arguments->tree.slowest = CALLS_SHOWN;
	else if (arguments->slowest)
		arguments->tree.slowest = top && top < GRAPH_SLOWEST_MAX ? (size_t)top : GRAPH_SLOWEST_MAX;
	return analyse_run(analyse, &graph_tree_analysis, &arguments->tree);
}

static int run_longer(struct arguments *arguments)
{
	uint64_t top = arguments->analyse.findings.top;

	arguments->longer.most =
		arguments->analyse.top_given && top && top < GRAPH_SLOWEST_MAX ? (size_t)top : GRAPH_SLOWEST_MAX;
	return analyse_run(&arguments->analyse, &graph_longer_analysis, &arguments->longer);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.only_command = true;
	command_parse(&graph_command, argc, argv, 0, &arguments);
	if (arguments.tree.function)
		return run_tree(&arguments);
	if (arguments.longer.longer)
		return run_longer(&arguments);
	return analyse_run(&arguments.analyse, &graph_analysis, &arguments.graph);
}

const struct command graph_command = {
	.name = "graph",
	.summary = "show how long functions took and what they returned",
	.brief = "functions",
	.examples = "  weft record -p function_graph -- make\n"
		    "  weft graph --sort max --top 5 trace.dat\n"
		    "  weft graph --tree vfs_read\n"
		    "  weft graph --slowest vfs_read --top 1\n"
		    "  weft graph --longer 500us",
	.group = "read",
	.argp = &argp,
	.run = run,
};
