// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *group;      /* of struct command */
	const char *title;
} groups[] = {
	{ "record", "Record" },
	{ "read", "Read a recording" },
	{ "trace", "Trace into the kernel's own buffers" },
	{ "measure", "Probe and measure" },
	{ "kernel", "Ask the kernel" },
	{ "help", "Help" },
};

static void print_overview(void)
{
	fputs("Usage: weft COMMAND [OPTION...] [ARGUMENT...]\n\n"
	      "Records what the Linux kernel does and prints it as the kernel itself would.\n", stdout);
	for (size_t g = 0; g < array_size(groups); g++) {
		bool titled = false;

		for (size_t i = 0; command_at(i); i++) {
			const struct command *command = command_at(i);

			if (!command->group || strcmp(command->group, groups[g].group))
				continue;
			if (!titled)
				printf("\n%s\n", groups[g].title);
			titled = true;
			printf("  %-17s %s\n", command->name, command->summary);
		}
	}
	fputs("\nFor example\n"
	      "  weft record -e sched -e syscalls -- ls    records the events of these systems while ls runs\n"
	      "  weft report | less                        prints what trace.dat holds\n"
	      "\n'weft help COMMAND' or 'weft COMMAND --help' lists the options of a command, 'man weft' tells more.\n", stdout);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const char **name = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*name)
		argp_error(state, "one command at a time: '%s' and '%s'", *name, arg);
	*name = arg;
	return 0;
}

static const struct argp argp = {
	.parser = parse_option,
	.args_doc = "[COMMAND]",
	.doc = "Lists the commands, or explains one.",
};

static int help_run(int argc, char **argv)
{
	char title[64], help[] = "--help";
	char *arguments[] = { title, help, NULL };
	const struct command *command;
	const char *name = NULL;

	command_parse(&help_command, argc, argv, 0, &name);
	if (!name) {
		print_overview();
		return EXIT_OK;
	}
	command = command_find(name);
	if (!command || !command->group)
		return command_unknown(name);
	snprintf(title, sizeof(title), "weft %s", command->name);
	return command->run(2, arguments);
}

const struct command help_command = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.group = "help",
	.argp = &argp,
	.run = help_run,
};
