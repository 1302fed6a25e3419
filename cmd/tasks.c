// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "lib/analysis/tasks.h"

enum { OPT_TREE = 512, OPT_BY };

static const char *const names[] = {
	[TASKS_BY_TASK] = "task", [TASKS_BY_PROGRAM] = "program", [TASKS_BY_PARENT] = "parent"
};
static const struct row_choices rows = { names, array_size(names) };

static const struct argp_option options[] = {
	{ "by", OPT_BY, "task|program|parent", 0,
	  "A row for each of these (default: task); a parent is a task that started others", 1 },
	{ "tree", OPT_TREE, NULL, 0, "Show each task below the one that started it; all rows, unless --top is given",
	  1 },
	{ 0 },
};

struct arguments {
	struct analyse analyse;
	struct tasks_options tasks;
};

static void check(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->tasks.tree && arguments->analyse.findings.sort)
		argp_error(state, "--tree cannot be combined with --sort: its order is fixed");
	if (arguments->tasks.tree && arguments->tasks.by != TASKS_BY_TASK)
		argp_error(state, "--tree cannot be combined with --by %s: its rows are tasks",
			   names[arguments->tasks.by]);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->analyse;
		return 0;
	case OPT_BY:
		arguments->tasks.by = (enum tasks_by)analyse_by(&rows, arg, state);
		return 0;
	case OPT_TREE:
		arguments->tasks.tree = true;
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
	.doc = "Shows from a recording which tasks were started, by whom and when, which programs they executed, "
	       "how long they lived, and how they ended.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.only_command = true;
	command_parse(&tasks_command, argc, argv, 0, &arguments);
	/* The rest of a tree is of no use without its end. */
	if (arguments.tasks.tree)
		arguments.analyse.top_as_text = UINT64_MAX;
	return analyse_run(&arguments.analyse, &tasks_analysis, &arguments.tasks);
}

const struct command tasks_command = {
	.name = "tasks",
	.summary = "show which tasks were started, by whom, and for how long",
	.brief = "who started it",
	.examples = "  weft record --for tasks -- make\n"
		    "  weft tasks\n"
		    "  weft tasks --tree\n"
		    "  weft tasks --by program --sort p99",
	.group = "read",
	.argp = &argp,
	.run = run,
};
