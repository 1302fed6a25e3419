// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/option_value.h"
#include "cmd/progress.h"
#include "cmd/setup_options.h"
#include "cmd/setup_run.h"
#include "cmd/setup_values.h"

#include <string.h>

struct arguments {
	struct setup_arguments setup_arguments;
	struct setup setup;
};

enum { KEY_FTRACE_ENABLED = 0x1000 };

static const struct argp_option options[] = {
	{ "ftrace-enabled", KEY_FTRACE_ENABLED, "on|off", 0,
	  "Allow function tracing, in the whole kernel, or forbid it (sysctl kernel.ftrace_enabled)", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static void set_ftrace_enabled(struct arguments *arguments, const char *word, struct argp_state *state)
{
	const struct setup_file file = { .file = "/proc/sys/kernel/ftrace_enabled",
					 .value = strcmp(word, "off") ? "1" : "0" };

	if (strcmp(word, "on") && strcmp(word, "off"))
		setup_usage(state, "--ftrace-enabled: on or off, not '%s'", word);
	if (!setup_add_file(&arguments->setup.instances[0], &file))
		option_no_memory(state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_FTRACE_ENABLED:
		set_ftrace_enabled(arguments, arg, state);
		return 0;
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
	.options = options,
	.parser = parse,
	.children = children,
	.doc = "Change how the kernel traces right now, in the top instance or in those that -B names.\v"
	       "Nothing else changes, and tracing goes on. Lists of functions and tasks are replaced by those given; "
	       "-e adds events, -v -e takes them away. 'weft reset' puts back what was changed.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .setup.nr_instances = 0 };
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK, err;

	command_parse(&set_command, argc, argv, ARGP_IN_ORDER, &arguments);
	arguments.setup.step = progress_step;
	err = setup_run(&(struct setup_run){ .setup = &arguments.setup,
					     .manner = SETUP_CHANGE,
					     .dry_run = arguments.setup_arguments.dry_run },
			&status, &fail);
	setup_release(&arguments.setup);
	return err ? command_failed(&fail) : status;
}

const struct command set_command = {
	.name = "set",
	.summary = "change how the kernel traces right now",
	.brief = "change settings",
	.examples = "  weft set -e sched:sched_waking -f 'prio < 100'\n"
		    "  weft set -B io -b 10M",
	.group = "trace",
	.argp = &argp,
	.run = run,
};
