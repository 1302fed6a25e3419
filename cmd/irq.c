// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/analyse_by.h"

static const struct option_row options[] = {
	{ "by", OPT_ANALYSE_BY, "task|process|program|unit|container|pod|cgroup|user", 0,
	  "A row of what interrupts hit for each of these (default: task)", 1, OPTION_BY_KEY },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = analyse_by_parse,
	.children = analyse_by_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how often interrupts, softirqs, timers and work items ran, how long each took "
	       "with and without what nested inside, how long they waited before, and from which tasks they took the "
	       "time.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&irq_command, &irq_analysis, argc, argv);
}

const struct command irq_command = {
	.name = "irq",
	.summary = "show how long interrupts took, and how late softirqs were",
	.brief = "interrupts",
	.examples = "  weft record -e irq -e irq_vectors -e timer -- make\n"
		    "  weft irq --sort d-max --top 5 trace.dat\n"
		    "  weft irq --longer 1ms",
	.group = "read",
	.options = &command_options,
	.run = run,
};
