// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>

#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/graph/graph.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

enum { OPT_TREE = 512, OPT_SLOWEST, OPT_BY };

enum { CALLS_SHOWN = 5, LEAST_PER_MILLE = 10 };

struct arguments {
	struct analyse analyse;
	struct row_options graph;
	struct graph_tree_options tree;
	struct graph_longer_options longer;
	bool slowest, by_given;
};

static const struct option_row options[] = {
	{ "by", OPT_BY, "function|errno|module|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each function (default), for each error number that functions returned, for each module, or for "
	  "those whose tasks called functions",
	  1, OPTION_BY_KEY },
	{ "tree", OPT_TREE, "FUNC", 0,
	  "Show only this function: what it called, and what called it, as trees of all its calls", 1, OPTION_BY_KEY },
	{ "slowest", OPT_SLOWEST, "N|FUNC", 0,
	  "Show only the N longest calls, below their callers; or the longest calls of one function (5, or as many as "
	  "--top says), and what each spent its time on",
	  1, OPTION_BY_KEY },
	{ "longer", 0, "TIME", 0,
	  "Show only the calls longer than TIME, below their callers (the 1000 longest, or as many as --slowest or "
	  "--top says): 500us, 10ms",
	  1, OPTION_TIME(struct arguments, longer.longer) },
	{ 0 },
};

static void take_function(struct arguments *arguments, const char *name, bool slowest, struct argp_state *state)
{
	if (arguments->tree.function)
		argp_error(state, "only one --tree or --slowest is allowed: '%s' and '%s'", arguments->tree.function,
			   name);
	arguments->tree.function = name;
	arguments->slowest = slowest;
}

/* No name of a function begins with a digit. */
static void take_slowest(struct arguments *arguments, char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t most;

	if (!isdigit((unsigned char)*text)) {
		take_function(arguments, text, true, state);
		return;
	}
	option_taken("--slowest", text_parse_range(text, 1, GRAPH_SLOWEST_MAX, &most, &fail), &fail, state);
	arguments->longer.most = (size_t)most;
}

static void check(const struct arguments *arguments, struct argp_state *state)
{
	const char *option = arguments->slowest ? "--slowest" : "--tree";
	const char *of_calls = arguments->longer.longer ? "--longer" : arguments->longer.most ? "--slowest" : NULL;

	if (arguments->tree.function && arguments->analyse.findings.sort)
		argp_error(state, "%s cannot be combined with --sort: its order is fixed", option);
	if (arguments->tree.function && arguments->by_given)
		argp_error(state, "%s cannot be combined with --by: its rows are fixed", option);
	if (of_calls && (arguments->tree.function || arguments->by_given))
		argp_error(state, "%s cannot be combined with --tree, --slowest FUNC and --by: its rows are fixed",
			   of_calls);
	if (arguments->analyse.every_ns && (arguments->tree.function || of_calls))
		argp_error(state, "--every shows the table of functions, not %s", of_calls ? of_calls : option);
	if (of_calls && arguments->analyse.findings.sort)
		argp_error(state, "%s cannot be combined with --sort: its order is fixed", of_calls);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_BY:
		arguments->graph.by = analyse_by(graph_analysis.by, arg, state);
		arguments->by_given = true;
		return 0;
	case OPT_TREE:
		take_function(arguments, arg, false, state);
		return 0;
	case OPT_SLOWEST:
		take_slowest(arguments, arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = OPTIONS_OF(analyse_options, struct arguments, analyse),
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how often kernel functions were called, how long each took with and without the "
	       "functions that it called, and which errors they returned.",
};

static int run_tree(struct arguments *arguments)
{
	struct analyse *analyse = &arguments->analyse;
	uint64_t top = analyse->findings.top;

	arguments->tree.ascii = !terminal_utf8();
	analyse->top_as_text = UINT64_MAX;
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

	if (!arguments->longer.most)
		arguments->longer.most = arguments->analyse.top_given && top && top < GRAPH_SLOWEST_MAX ?
						 (size_t)top :
						 GRAPH_SLOWEST_MAX;
	return analyse_run(&arguments->analyse, &graph_longer_analysis, &arguments->longer);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.only_command = true;
	command_parse(&graph_command, argc, argv, 0, &arguments);
	if (arguments.tree.function)
		return run_tree(&arguments);
	if (arguments.longer.longer || arguments.longer.most)
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
		    "  weft graph --slowest 10\n"
		    "  weft graph --slowest vfs_read --top 1\n"
		    "  weft graph --longer 500us",
	.group = "read",
	.options = &command_options,
	.run = run,
};
