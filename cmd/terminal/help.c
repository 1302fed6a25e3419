// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *group; /* of struct command */
	const char *title;
} groups[] = {
	{ "record", "Record" },
	{ "read", "Read a recording, and ask it" },
	{ "trace", "Trace into the kernel's own buffers, and measure there" },
	{ "kernel", "Ask the kernel" },
};

/* The overview fits a screen of 80 columns and 24 lines: each line has up to three commands, with their brief words. */
enum { COLUMNS = 3, COLUMN = 26, NAME = 9 };

/* Prints a command and its brief words, filled up to the width of a column if another one follows on the line. */
static void print_brief(const struct command *command, bool last)
{
	int name = (int)strlen(command->name) < NAME ? NAME : (int)strlen(command->name) + 1;

	printf("  %-*s%-*s", name, command->name, last ? 0 : COLUMN - name - 2, command->brief);
}

static const struct command *next_of(const char *group, size_t *at)
{
	const struct command *command;

	while ((command = command_at((*at)++)))
		if (command->group && !strcmp(command->group, group))
			return command;
	return NULL;
}

static void print_group(const char *group)
{
	size_t at = 0;
	const struct command *next = next_of(group, &at);

	for (unsigned nr = 1; next; nr++) {
		const struct command *command = next;
		bool last;

		next = next_of(group, &at);
		last = !next || !(nr % COLUMNS);
		print_brief(command, last);
		if (last)
			putchar('\n');
	}
}

static void print_overview(void)
{
	puts("Usage: weft COMMAND [OPTION...] [ARGUMENT...]");
	for (size_t g = 0; g < array_size(groups); g++) {
		puts(groups[g].title);
		print_group(groups[g].group);
	}
	puts("'weft help COMMAND' explains one. To begin: man weft-tutorial");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const char **name = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	option_once("command", name, arg, state);
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
	/* The user may give the name of the manual page. */
	if (!strncmp(name, "weft-", 5))
		name += 5;
	command = command_find(name);
	if (!command || !command->group)
		return command_unknown(name);
	snprintf(title, sizeof(title), "weft %s", command->name);
	return command->run(2, arguments);
}

const struct command help_command = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.brief = "explain one",
	.examples = "  weft help record\n"
		    "  weft help weft-report",
	.group = "kernel",
	.argp = &argp,
	.run = help_run,
};
