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
	.doc = "Tells from a recording how long each task ran, waited for a CPU and slept, how long it took from a wakeup until the task ran, and what "
	       "each CPU did.",
};

static int run(int argc, char **argv)
{
	struct analyse analyse = ANALYSE_INIT;

	command_parse(&sched_command, argc, argv, 0, &analyse);
	return analyse_run(&analyse, &sched_analysis, NULL);
}

const struct command sched_command = {
	.name = "sched",
	.summary = "tell who ran, waited and slept, and how late wakeups were",
	.examples = "  weft record -e sched -e irq -- make && weft sched\n"
		    "  weft sched --sort max --top 5 trace.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
