// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_rows.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/cleanup.h"

static const struct options command_options = {
	.args_doc = "COMMAND [OPTION...]",
	.doc = "Takes the command line of trace-cmd: its commands, options, their order, its exit statuses. "
	       "A link named trace-cmd to weft does the same: 'make install TRACE_CMD=1' makes it."
	       "\vreport prints trace-cmd's text. weft-trace-cmd(7) says how each command and option behaves.",
};

int trace_cmd_failed(int err, const struct fail *fail)
{
	command_failed(fail);
	return err < 0 && err >= -TRACE_CMD_USAGE ? -err : EXIT_FAILED;
}

static int trace_cmd_run(int argc, char **argv)
{
	static char help[] = "--help";
	/* Commands that do not become one of weft's. */
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} own[] = {
		{ "report", trace_cmd_report }, { "sqlhist", trace_cmd_sqlhist }, { "dump", trace_cmd_dump },
		{ "list", trace_cmd_list },     { "options", trace_cmd_options }, { "reset", trace_cmd_reset },
		{ "stat", trace_cmd_stat },
	};
	char name[64];

	if (argc > 1 && !strcmp(argv[1], "-h"))
		argv[1] = help;
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "--usage") || !strcmp(argv[1], "-?") ||
	    !strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		if (argc < 2)
			command_warn("'trace-cmd' needs a command; weft-trace-cmd(7) lists them");
		else
			command_parse(&trace_cmd_command, argc, argv, 0, NULL);
		return TRACE_CMD_USAGE;
	}
	snprintf(name, sizeof(name), "trace-cmd %s", argv[1]);
	for (size_t i = 0; i < array_size(own); i++)
		if (!strcmp(argv[1], own[i].name)) {
			argv[1] = name;
			return own[i].run(argc - 1, argv + 1);
		}
	return trace_cmd_translate(argv[1], argc - 1, argv + 1);
}

const struct command trace_cmd_command = {
	.name = "trace-cmd",
	.summary = "take trace-cmd's command line",
	.brief = "in its place",
	.examples = "  weft trace-cmd record -e sched_switch -- ls\n"
		    "  weft trace-cmd report -t | awk '/sched_switch/'",
	.group = "read",
	.options = &command_options,
	.run = trace_cmd_run,
};
