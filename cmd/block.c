// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse_by.h"
#include "cmd/command.h"

static const struct argp_option options[] = {
	{ "by", OPT_ANALYSE_BY, "device|operation|task", 0,
	  "A row for each of these (default: device, with its operations)", 1 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = analyse_by_parse,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how long block requests waited, how long the devices took, how deep the queues "
	       "were, and which tasks wanted the requests.",
};

static int run(int argc, char **argv)
{
	return analyse_by_run(&block_command, &block_analysis, &rows_of_block, argc, argv);
}

const struct command block_command = {
	.name = "block",
	.summary = "show how long block requests waited and took",
	.brief = "disk requests",
	.examples = "  weft record -e block -- dd if=/dev/sda of=/dev/null count=1000\n"
		    "  weft block\n"
		    "  weft block --by task --sort q2c_max_ns",
	.group = "read",
	.argp = &argp,
	.run = run,
};
