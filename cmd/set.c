// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/setup_options.h"
#include "cmd/setup_run.h"

struct arguments {
	struct setup_arguments setup_arguments;
	struct setup setup;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup_arguments = (struct setup_arguments){ .setup = &arguments->setup, .changes = true };
		state->child_inputs[0] = &arguments->setup_arguments;
		return 0;
	case ARGP_KEY_ARG:
		setup_usage(state, "'%s': set takes options only", arg);
		return 0;
	case ARGP_KEY_END:
		if (state->argc < 2)
			setup_usage(state, "nothing to change");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ NULL, 0, NULL, 0 },
};

static const struct argp argp = {
	.parser = parse,
	.children = children,
	.doc = "Change how the kernel traces right now, in the top instance or in those that -B names.\v"
	       "Nothing else changes, and tracing goes on. Lists of functions and tasks are replaced by those given; -e adds events, "
	       "-v -e takes them away. 'weft reset' puts back what was changed.",
};

static void warn(const char *text, void *data)
{
	(void)data;
	command_warn("warning: %s", text);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .setup.nr_instances = 0 };
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK, err;

	command_parse(&set_command, argc, argv, ARGP_IN_ORDER, &arguments);
	arguments.setup.warn = warn;
	err = setup_run(&(struct setup_run){ .setup = &arguments.setup, .manner = SETUP_CHANGE,
					      .dry_run = arguments.setup_arguments.dry_run }, &status, &fail);
	setup_release(&arguments.setup);
	return err ? command_failed(&fail) : status;
}

const struct command set_command = {
	.name = "set",
	.summary = "change how the kernel traces right now",
	.group = "trace",
	.argp = &argp,
	.run = run,
};
