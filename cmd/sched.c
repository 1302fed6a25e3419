// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"
#include "lib/analysis/sched.h"

enum { OPT_TIMEHIST = 512 };

static const struct argp_option options[] = {
	{ "timehist", OPT_TIMEHIST, NULL, 0,
	  "Print a line for each run of a task, too: how long it was off the CPU before, how late, how long it ran",
	  1 },
	{ 0 },
};

struct arguments {
	struct analyse analyse;
	struct sched_options sched;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->analyse;
		return 0;
	case OPT_TIMEHIST:
		arguments->sched.timehist = true;
		arguments->analyse.lines = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->sched.timehist && arguments->analyse.findings.format != TABLE_AS_TEXT)
			argp_error(state, "--timehist prints lines for people: no --format goes with it");
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
	.doc = "Tells from a recording how long each task ran, waited for a CPU and slept, how long it took from a wakeup until the task ran, and what "
	       "each CPU did.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	command_parse(&sched_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, &sched_analysis, &arguments.sched);
}

const struct command sched_command = {
	.name = "sched",
	.summary = "tell who ran, waited and slept, and how late wakeups were",
	.examples = "  weft record -e sched -e irq -- make\n  weft sched\n"
		    "  weft sched --sort max --top 5 trace.dat\n"
		    "  weft sched --timehist --comm make | less",
	.group = "read",
	.argp = &argp,
	.run = run,
};
