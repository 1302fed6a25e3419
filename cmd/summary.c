// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"

static const struct argp argp = {
	.parser = analyse_only,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows on one page what a recording holds and what stands out in it: the first look after weft record.",
};

static int run(int argc, char **argv)
{
	struct analyse analyse = ANALYSE_INIT;

	analyse.top_as_text = 5;
	command_parse(&summary_command, argc, argv, 0, &analyse);
	return analyse_run(&analyse, &summary_analysis, NULL);
}

const struct command summary_command = {
	.name = "summary",
	.summary = "show on one page what a recording holds and what stands out",
	.brief = "one page",
	.examples = "  weft record -e sched -e raw_syscalls -- make\n  weft summary",
	.group = "read",
	.argp = &argp,
	.run = run,
};
