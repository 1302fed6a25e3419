// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "lib/analysis/latency.h"

enum { OPT_WORST = 512, OPT_LONGER, OPT_RT };

static const struct argp_option options[] = {
	{ "worst", OPT_WORST, "N", 0, "Explain the N longest (default: 10)", 1 },
	{ "longer", OPT_LONGER, "TIME", 0, "Explain all wakeups and samples longer than TIME: 500us, 2ms", 1 },
	{ "rt", OPT_RT, NULL, 0, "Only wakeups of real-time tasks", 1 },
	{ 0 },
};

struct arguments {
	struct analyse analyse;
	struct latency_options latency;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	uint64_t worst = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->analyse;
		return 0;
	case OPT_WORST:
		option_range("worst", arg, 1, LATENCY_WORST_MAX, &worst, state);
		arguments->latency.worst = (size_t)worst;
		return 0;
	case OPT_LONGER:
		arguments->latency.longer = option_time("longer", arg, state);
		return 0;
	case OPT_RT:
		arguments->latency.rt = true;
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
	.doc = "Explains from a recording the wakeups that took longest: what the time from the waker's decision until "
	       "the task ran was spent with; and the worst that timerlat, osnoise, "
	       "irqsoff and their like have measured.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	command_parse(&latency_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, &latency_analysis, &arguments.latency);
}

const struct command latency_command = {
	.name = "latency",
	.summary = "explain the longest delays of wakeups, timerlat, osnoise and irqsoff",
	.brief = "late wakeups",
	.examples = "  weft record -e sched -e irq -- make\n  weft latency\n"
		    "  weft latency --rt --worst 3\n"
		    "  weft latency --longer 2ms\n"
		    "  weft record -p osnoise -e osnoise -- sleep 10",
	.group = "read",
	.argp = &argp,
	.run = run,
};
