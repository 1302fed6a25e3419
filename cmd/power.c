// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

static const struct argp argp = {
	.parser = analyse_only,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how long and how deep CPUs idled, how often they were woken and by what, "
	       "at which frequencies they ran, and how many cycles each task ran.",
};

static int run(int argc, char **argv)
{
	return analyse_only_run(&power_command, &power_analysis, argc, argv);
}

const struct command power_command = {
	.name = "power",
	.summary = "show how deep CPUs idled, what woke them, and how fast they ran",
	.brief = "idle, frequency",
	.examples = "  weft record --for power -- sleep 10\n"
		    "  weft power",
	.group = "read",
	.argp = &argp,
	.run = run,
};
