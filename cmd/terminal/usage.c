// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/usage.h"

#include "cmd/command.h"
#include "lib/base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* The root of every command line: the command's own argp is its only child. */
struct usage {
	const struct command *command;
	void *input;
	FILE *errors; /* argp's; NULL: stderr */
};

/* How argp's own hint begins: "Try `weft sched --help' or `weft sched --usage' for more information." */
static const char argps[] = "Try `";

/* argp writes a message, and its hint as a line behind it. */
static ssize_t put_error(void *cookie, const char *text, size_t len)
{
	const struct usage *usage = cookie;
	const char *hint = memmem(text, len, argps, sizeof(argps) - 1);

	if (!hint || (hint != text && hint[-1] != '\n')) {
		fwrite(text, 1, len, stderr);
		return (ssize_t)len;
	}
	fwrite(text, 1, (size_t)(hint - text), stderr);
	fprintf(stderr, "'weft help %s' lists the options.\n", usage->command->name);
	return (ssize_t)len;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	const struct usage *usage = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = usage->input;
	if (usage->errors)
		state->err_stream = usage->errors;
	return 0;
}

error_t usage_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input)
{
	/* What argp leaves in the stream when it ends the process is written at exit. */
	static struct usage usage;
	const struct argp_child children[] = { { command->argp, 0, NULL, 0 }, { 0 } };
	const struct argp root = { .parser = parse, .children = children };
	error_t err;

	usage = (struct usage){ .command = command,
				.input = input,
				.errors = fopencookie(&usage, "w", (cookie_io_functions_t){ .write = put_error }) };
	if (usage.errors)
		setvbuf(usage.errors, NULL, _IOLBF, 0);
	err = argp_parse(&root, argc, argv, flags, NULL, &usage);
	if (usage.errors)
		fclose(usage.errors);
	return err;
}
