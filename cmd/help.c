// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
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

/* The overview is to be one screen of 80 columns and 24 lines: two commands stand in a line, and these words are theirs. */
static const struct {
	const char *name, *brief;
} briefs[] = {
	{ "record", "while a command runs" },
	{ "stream", "print it as it happens" },
	{ "recover", "a recording that was killed" },
	{ "pack", "a file from tracefs copies" },
	{ "report", "as the kernel prints it" },
	{ "export", "for other programs" },
	{ "info", "what is in a recording" },
	{ "check", "whether it is whole" },
	{ "summary", "what stands out, one page" },
	{ "sched", "who ran, waited, slept" },
	{ "latency", "why wakeups were late" },
	{ "syscalls", "how long, which failed" },
	{ "graph", "how long functions took" },
	{ "irq", "what interrupts took" },
	{ "start", "tracing, without a file" },
	{ "stop", "tracing, keep the buffers" },
	{ "restart", "tracing after a stop" },
	{ "clear", "the buffers" },
	{ "set", "change a running session" },
	{ "reset", "undo what weft changed" },
	{ "show", "the buffer, or a setting" },
	{ "extract", "a file of the buffers" },
	{ "snapshot", "a frozen copy of the buffer" },
	{ "mark", "write into the trace" },
	{ "hist", "count and time events" },
	{ "profile-functions", "calls and times" },
	{ "stack", "the deepest kernel stack" },
	{ "list", "events, tracers, clocks..." },
	{ "probe", "events of your own" },
	{ "stat", "what is not as at boot" },
	{ "doctor", "what can be traced here" },
	{ "instance", "ring buffers of their own" },
	{ "help", "explain a command" },
};

enum { COLUMN = 40, NAME = 9 };

/* A command's name and its words, in a column; a command without words of its own has the start of its summary. */
static void print_brief(const struct command *command, int width)
{
	const char *brief = command->summary;
	int name = (int)strlen(command->name) < NAME ? NAME : (int)strlen(command->name) + 1;

	for (size_t i = 0; i < array_size(briefs); i++)
		if (!strcmp(briefs[i].name, command->name))
			brief = briefs[i].brief;
	printf("  %-*s%-*.*s", name, command->name, width ? width - name - 2 : 0, COLUMN - name - 2, brief);
}

static void print_group(const char *group)
{
	const struct command *last = NULL;
	unsigned nr = 0;

	for (size_t i = 0; command_at(i); i++) {
		const struct command *command = command_at(i);

		if (!command->group || strcmp(command->group, group))
			continue;
		/* The left one is padded once there is one to its right. */
		if (last && nr % 2)
			print_brief(last, COLUMN);
		if (nr++ % 2) {
			print_brief(command, 0);
			putchar('\n');
		}
		last = command;
	}
	if (nr % 2) {
		print_brief(last, 0);
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
	puts("'weft help COMMAND' explains one. To begin: weft record -e sched -- ls");
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
	/* As its manual page is called. */
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
	.examples = "  weft help record\n"
		    "  weft help weft-report",
	.group = "kernel",
	.argp = &argp,
	.run = help_run,
};
