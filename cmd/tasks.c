// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "lib/answers/tasks/tasks.h"

enum { OPT_BY = 512 };

struct arguments {
	struct analyse analyse;
	struct tasks_options tasks;
};

static const struct option_row options[] = {
	{ "by", OPT_BY, "task|program|parent|process|unit|container|pod|cgroup|user", 0,
	  "A row for each of these (default: task); a parent is a task that started others; the further ones are "
	  "whom tasks belonged to when they ended",
	  1, OPTION_BY_KEY },
	{ "tree", 0, NULL, 0, "Show each task below the one that started it; all rows, unless --top is given", 1,
	  OPTION_FLAG(struct arguments, tasks.tree) },
	{ 0 },
};

static void check(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->tasks.tree && arguments->analyse.findings.sort)
		argp_error(state, "--tree cannot be combined with --sort: its order is fixed");
	if (arguments->tasks.tree && arguments->tasks.rows.by != TASKS_BY_TASK)
		argp_error(state, "--tree cannot be combined with --by %s: its rows are tasks",
			   tasks_analysis.by[arguments->tasks.rows.by]);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_BY:
		arguments->tasks.rows.by = analyse_by(tasks_analysis.by, arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		check(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &analyse_options, offsetof(struct arguments, analyse), 0, NULL },
	{ &analyse_slowest_options, offsetof(struct arguments, tasks.rows), 1, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
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
		    "  weft tasks --slowest 5\n"
		    "  weft tasks --by program --sort p99",
	.group = "read",
	.options = &command_options,
	.run = run,
};
