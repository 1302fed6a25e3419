// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/host_options.h"
#include "cmd/options/option_value.h"
#include "lib/answers/frame/slowest.h"
#include "lib/answers/latency/latency.h"
#include "lib/meaning/guest/host.h"

struct arguments {
	struct analyse analyse;
	struct guest_host host;
	struct latency_options latency;
};

enum { OPT_BY = 512 };

static const struct option_row options[] = {
	{ "by", OPT_BY, "wakeup|process|program|unit|container|pod|cgroup|user", 0,
	  "Show each of the longest wakeups (wakeup, the default); else also for each of these how long its tasks "
	  "waited for a CPU, and what that did meanwhile",
	  1, OPTION_BY_KEY },
	/* Its former name. */
	{ "worst", 0, "N", OPTION_HIDDEN, NULL, 1,
	  OPTION_RANGE(struct arguments, latency.rows.slowest, 1, SLOWEST_MAX) },
	{ "preempted", 0, NULL, 0, "Explain the waits of tasks that lost their CPU and could go on, too", 1,
	  OPTION_FLAG(struct arguments, latency.preempted) },
	{ "rt", 0, NULL, 0, "Only waits of real-time tasks", 1, OPTION_FLAG(struct arguments, latency.rt) },
	{ 0 },
};

static const struct options_child children[] = {
	{ &analyse_options, offsetof(struct arguments, analyse), 0, NULL },
	{ &host_options, offsetof(struct arguments, host), 1, NULL },
	{ &analyse_slowest_options, offsetof(struct arguments, latency.rows), 1, NULL },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_BY:
		arguments->latency.rows.by = analyse_by(latency_analysis.by, arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		if (arguments->latency.rows.by && arguments->analyse.query.comms.nr)
			argp_error(state,
				   "--by is for all of a task's time: instead of --comm, name a program by --process");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Explains from a recording the wakeups that took longest: what the time from the waker's decision until "
	       "the task ran was spent with; and the worst that timerlat, osnoise, "
	       "irqsoff and their like have measured.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .analyse = ANALYSE_INIT };

	arguments.analyse.host = &arguments.host;
	command_parse(&latency_command, argc, argv, 0, &arguments);
	return analyse_run(&arguments.analyse, &latency_analysis, &arguments.latency);
}

const struct command latency_command = {
	.name = "latency",
	.summary = "explain the longest delays of wakeups, timerlat, osnoise and irqsoff",
	.brief = "late wakeups",
	.examples = "  weft record -e sched -e irq -- make\n  weft latency\n  weft latency --by unit\n"
		    "  weft latency --rt --slowest 3\n"
		    "  weft latency --longer 2ms --preempted\n"
		    "  weft record -p osnoise -e osnoise -- sleep 10",
	.group = "read",
	.options = &command_options,
	.run = run,
};
