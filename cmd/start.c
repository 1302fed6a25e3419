// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/setup_options.h"
#include "cmd/setup_run.h"

struct arguments {
	struct setup_arguments setup_arguments;
	struct setup setup;
	char **argv;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup_arguments.setup = &arguments->setup;
		state->child_inputs[0] = state->child_inputs[1] = &arguments->setup_arguments;
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. */
		arguments->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (arguments->setup.only_command && !arguments->argv)
			setup_usage(state, "-F needs a COMMAND");
		if (arguments->setup_arguments.user && !arguments->argv)
			setup_usage(state, "--user needs a COMMAND");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ &setup_command_argp, 0, NULL, SETUP_COMMAND_GROUP },
	{ NULL, 0, NULL, 0 },
};

static const struct argp argp = {
	.parser = parse,
	.children = children,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Trace into the kernel's buffers, without a file: of the top instance, or of those that -B names.\v"
	       "Tracing goes on after weft, and COMMAND, have ended. 'weft show' prints what the buffers hold, 'weft extract' "
	       "makes a file of it, 'weft stop' ends tracing, and 'weft reset' puts back all that start and set have changed.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .argv = NULL };
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK, err;

	command_parse(&start_command, argc, argv, ARGP_IN_ORDER, &arguments);
	err = setup_run(&(struct setup_run){
		.setup = &arguments.setup, .manner = SETUP_TOP, .turn_on = true, .argv = arguments.argv,
		.user = arguments.setup_arguments.user, .dry_run = arguments.setup_arguments.dry_run,
	}, &status, &fail);
	setup_release(&arguments.setup);
	if (err)
		command_failed(&fail);
	return err && !status ? EXIT_FAILED : status;
}

const struct command start_command = {
	.name = "start",
	.summary = "trace into the kernel's buffers, without a file",
	.examples = "  weft start -e sched -b 4M\n"
		    "  weft start -B io -e block -e ext4 -- sync",
	.group = "trace",
	.argp = &argp,
	.run = run,
};
