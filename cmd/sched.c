// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/terminal/terminal.h"
#include "lib/analysis/sched.h"

enum { OPT_TIMEHIST = 512, OPT_CHAIN, OPT_MAP, OPT_RT, OPT_IDLE };

enum { MAP_COLUMNS = 72, MAP_HEAD = 8 };

static const struct argp_option options[] = {
	{ "timehist", OPT_TIMEHIST, NULL, 0,
	  "Also print a line for each run of a task: the time off the CPU before, the wakeup delay, "
	  "the time on the CPU",
	  1 },
	{ "chain", OPT_CHAIN, "TASK", 0,
	  "Also show which task woke TASK (a PID or a glob for names), which task had woken that one, "
	  "and so on back to an interrupt",
	  1 },
	{ "idle-while-waiting", OPT_IDLE, NULL, 0,
	  "Also show which CPUs were idle while tasks waited for others, and whether the task may run there", 1 },
	{ "map", OPT_MAP, NULL, 0, "Also draw a lane for each CPU: which task ran there when", 1 },
	{ "rt", OPT_RT, NULL, 0, "Show only real-time tasks and their wakeups", 1 },
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
	case OPT_CHAIN:
		arguments->sched.chain = arg;
		return 0;
	case OPT_MAP:
		arguments->sched.map = MAP_COLUMNS;
		arguments->analyse.lines = true;
		return 0;
	case OPT_IDLE:
		arguments->sched.idle = true;
		return 0;
	case OPT_RT:
		arguments->sched.rt = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->analyse.lines && arguments->analyse.findings.format != TABLE_AS_TEXT)
			argp_error(state, "%s prints text only: leave out --format",
				   arguments->sched.timehist ? "--timehist" : "--map");
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
	.doc = "Shows from a recording how long each task ran, waited for a CPU and slept, how long it took from a "
	       "wakeup until the task ran, and what each CPU did.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	command_parse(&sched_command, argc, argv, 0, &arguments);
	if (arguments.sched.map && terminal_width() > MAP_HEAD)
		arguments.sched.map = (size_t)terminal_width() - MAP_HEAD;
	return analyse_run(&arguments.analyse, &sched_analysis, &arguments.sched);
}

const struct command sched_command = {
	.name = "sched",
	.summary = "show which tasks ran, waited and slept, and how late wakeups were",
	.brief = "who ran, waited",
	.examples = "  weft record -e sched -e irq -- make\n  weft sched\n"
		    "  weft sched --sort max --top 5 trace.dat\n"
		    "  weft sched --map --chain make\n"
		    "  weft sched --timehist --comm make | less",
	.group = "read",
	.argp = &argp,
	.run = run,
};
