// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cmd/command.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/options_check.h"
#include "cmd/terminal/config.h"

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
	const char *hint = NULL, *at = text;

	/* The last one: a name in the message may look like it. */
	while ((at = memmem(at, (size_t)(text + len - at), argps, sizeof(argps) - 1)))
		hint = at++;
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

static error_t refuse_rest(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_ARGS)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "takes no word '%s'", state->argv[state->next]);
	return 0;
}

/* argp_parse() of a command, whose usage errors end with weft's own words instead of argp's: where the options are. */
static error_t usage_parse(const struct command *command, const struct argp *argp, int argc, char **argv,
			   unsigned flags, void *input)
{
	/* What argp leaves in the stream when it ends the process is written at exit. */
	static struct usage usage;
	/* It gets the words that the command has left. */
	static const struct argp rest = { .parser = refuse_rest };
	const struct argp_child children[] = { { argp, 0, NULL, 0 }, { &rest, 0, NULL, 0 }, { 0 } };
	const struct argp root = { .parser = parse, .children = children };
	error_t err;

	usage = (struct usage){ .command = command,
				.input = options_input(argp, input),
				.errors = fopencookie(&usage, "w", (cookie_io_functions_t){ .write = put_error }) };
	/* The whole message arrives at once: only its end is a newline of weft's, others are those of a name in it. */
	if (usage.errors)
		setvbuf(usage.errors, NULL, _IOFBF, 1 << 16);
	err = argp_parse(&root, argc, argv, flags, NULL, &usage);
	if (usage.errors)
		fclose(usage.errors);
	return err;
}

static int usage_status = EXIT_USAGE;

void command_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input)
{
	const struct argp *argp = options_argp(command->options);
	error_t err;

	argp_err_exit_status = usage_status;
	defaults_expand(command, argp, &argc, &argv);
	config_expand(argp, &argc, &argv);
	options_check(command, argp, argc, argv, flags);
	/* Words before "--" do not belong to the COMMAND. */
	if (argp->args_doc && strstr(argp->args_doc, "| -- COMMAND"))
		flags |= ARGP_IN_ORDER;
	err = usage_parse(command, argp, argc, argv, flags, input);
	if (err) {
		fprintf(stderr, "weft: %s\n", strerror(err));
		exit(EXIT_FAILED);
	}
}

void command_usage_status(int status)
{
	usage_status = status;
}
