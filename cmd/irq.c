// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

static const struct argp argp = {
	.parser = analyse_only,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how often interrupts, softirqs, timers and work items ran, how long each took "
	       "with and without what nested inside, how long they waited before, and from which tasks they took the "
	       "time.",
};

static int run(int argc, char **argv)
{
	return analyse_only_run(&irq_command, &irq_analysis, argc, argv);
}

const struct command irq_command = {
	.name = "irq",
	.summary = "show how long interrupts took, and how late softirqs were",
	.brief = "interrupts",
	.examples = "  weft record -e irq -e irq_vectors -e timer -- make\n"
		    "  weft irq --sort d-max --top 5 trace.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
