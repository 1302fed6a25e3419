// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/command.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/boot_line.h"
#include "lib/kernel/tracefs/tracing.h"

enum { LINE_SIZE = 2048 };

struct arguments {
	struct setup_arguments setup_arguments;
	struct setup setup;
	char **argv;
	bool boot, frees;
	const char *stack_tracer; /* NULL, or the functions at which it looks; "" all */
};

static void take_stack(const struct option_row *row, void *input, char *word, struct argp_state *state)
{
	struct arguments *arguments = input;
	bool on = !word || !strcmp(word, "on");

	(void)row;
	if (!on && strcmp(word, "off") != 0)
		setup_usage(state,
			    "--stack-tracer: '%s' is neither on nor off; functions are named with --stack-function",
			    word);
	if (!on)
		arguments->stack_tracer = NULL;
	else if (!arguments->stack_tracer)
		arguments->stack_tracer = "";
}

static const struct option_row options[] = {
	{ "boot", 0, NULL, 0,
	  "Change nothing: print the kernel command line parameters that trace the same from boot on", 0,
	  OPTION_FLAG(struct arguments, boot) },
	{ "stack-tracer", 0, "on|off", OPTION_ARG_OPTIONAL,
	  "With --boot: look for the deepest kernel stack from boot on, or not ('weft deepest-stack show' prints it)",
	  0, OPTION_TAKE(take_stack), OPTION_GIVEN(struct arguments, setup_arguments.changes) },
	{ "stack-function", 0, "FUNCTION,...", 0, "With --boot: look for it only in calls of these functions", 0,
	  OPTION_TEXT(struct arguments, stack_tracer), OPTION_GIVEN(struct arguments, setup_arguments.changes) },
	{ "free-on-exit", 0, NULL, 0,
	  "Free the buffers when COMMAND, and what it has started, have ended, however they end (free_buffer)", 0,
	  OPTION_FLAG(struct arguments, frees) },
	{ 0 },
};

static void check_free(const struct arguments *arguments, struct argp_state *state)
{
	if (!arguments->argv)
		setup_usage(state, "--free-on-exit needs a COMMAND; 'tail --pid=PID -f /dev/null' waits for another "
				   "task");
	if (arguments->setup_arguments.dry_run)
		setup_usage(state, "--free-on-exit and --dry-run cannot be combined");
}

static void check_boot(const struct arguments *arguments, struct argp_state *state)
{
	if (arguments->argv)
		setup_usage(state, "--boot traces from boot on: it cannot be combined with a COMMAND");
	if (arguments->setup_arguments.dry_run)
		setup_usage(state, "--boot and --dry-run cannot be combined");
	if (arguments->setup.waits)
		setup_usage(state, "--boot changes nothing: there is nothing to --wait for");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup_arguments.setup = &arguments->setup;
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. */
		arguments->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (arguments->boot)
			check_boot(arguments, state);
		else if (arguments->stack_tracer)
			setup_usage(state, "--stack-tracer and --stack-function are options of --boot; "
					   "'weft deepest-stack start' starts it now");
		if (arguments->frees)
			check_free(arguments, state);
		setup_check_command(&arguments->setup_arguments, arguments->argv, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &setup_options, offsetof(struct arguments, setup_arguments), SETUP_GROUP, NULL },
	{ &setup_command_options, offsetof(struct arguments, setup_arguments), SETUP_COMMAND_GROUP, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Trace into the kernel's buffers, without a file: of the top instance, or of those that -B names.\v"
	       "Tracing goes on after weft, and COMMAND, have ended. 'weft show' prints what the buffers hold, "
	       "'weft extract' makes a file of it, 'weft stop' ends tracing, and 'weft reset' puts back all that start "
	       "and set have changed.",
};

static void warn_of_hang(const struct setup *setup)
{
	struct utsname name;

	if (!uname(&name) && boot_line_hangs(setup, name.release, name.version))
		command_warn("warning: this kernel (%s, PREEMPT_RT) waits forever at boot with trace_event=; "
			     "events of an instance, -B NAME before -e, do not have this fault",
			     name.release);
}

static int print_boot(const struct setup *setup, const char *stack_tracer, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	cleanup_buf struct buf line = BUF_INIT;
	bool probes = false;
	int err = 0;

	for (size_t i = 0; i < setup->nr_instances; i++)
		for (size_t j = 0; j < setup->instances[i].nr_events; j++)
			probes |= setup->instances[i].events[j].probe != NULL;
	if (probes)
		err = tracing_find(&tracing, fail);
	if (!err)
		err = setup_check_boot(setup, fail);
	if (!err)
		err = boot_line(setup, probes ? &tracing : NULL, &line, fail);
	if (!err && stack_tracer)
		err = boot_line_stack_tracer(stack_tracer, &line, fail);
	tracing_release(&tracing);
	if (err)
		return err;
	puts(buf_str(&line));
	if (line.len >= LINE_SIZE)
		command_warn("warning: %zu characters; on most machines the kernel reads no more "
			     "than %d of its command line",
			     line.len, LINE_SIZE - 1);
	warn_of_hang(setup);
	return 0;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .argv = NULL };
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK, err;

	command_parse(&start_command, argc, argv, ARGP_IN_ORDER, &arguments);
	arguments.setup.step = progress_step;
	if (arguments.boot)
		err = print_boot(&arguments.setup, arguments.stack_tracer, &fail);
	else
		err = setup_run(
			&(struct setup_run){
				.setup = &arguments.setup,
				.manner = SETUP_TOP,
				.turn_on = true,
				.frees = arguments.frees,
				.argv = arguments.argv,
				.user = arguments.setup_arguments.user,
				.dry_run = arguments.setup_arguments.dry_run,
			},
			&status, &fail);
	setup_release(&arguments.setup);
	if (err)
		command_failed(&fail);
	return err && !status ? EXIT_FAILED : status;
}

const struct command start_command = {
	.name = "start",
	.summary = "trace into the kernel's buffers, without a file",
	.brief = "trace, no file",
	.examples = "  weft start -e sched -b 4M\n"
		    "  weft start -B io -e block -e ext4 -- sync",
	.group = "trace",
	.options = &command_options,
	.run = run,
};
