// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"

static const struct option_row options[] = {
	{ "by", OPT_ANALYSE_BY, "task|process|program|unit|container|pod|cgroup|user", 0,
	  "A row of those who ran for each of these (default: task)", 1, OPTION_BY_KEY },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = analyse_by_parse,
	.children = OPTIONS_OF(analyse_options, struct analyse_by, analyse),
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how long and how deep CPUs idled, how often they were woken and by what, "
	       "at which frequencies they ran, and how many cycles each task ran.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&power_command, &power_analysis, argc, argv);
}

const struct command power_command = {
	.name = "power",
	.summary = "show how deep CPUs idled, what woke them, and how fast they ran",
	.brief = "idle, frequency",
	.examples = "  weft record --for power -- sleep 10\n"
		    "  weft power",
	.group = "read",
	.options = &command_options,
	.run = run,
};
