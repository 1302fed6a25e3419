// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"

enum option_key {
	KEY_NO_FILTER = 0x100,
	KEY_DURATION,
	KEY_FAIL_ON_LOST,
	KEY_RECORDER_CPU,
	KEY_SYNC,
};

enum { SYNC_MIN_NS = 10000000, SYNC_MAX_S = 86400 };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Recording:", SETUP_OWN_GROUP },
	{ "all-formats", 'a', NULL, 0, "Save the formats of all events, not only of those recorded", SETUP_OWN_GROUP },
	{ "no-filter", KEY_NO_FILTER, NULL, 0, "No effect: weft's own threads are recorded in any case",
	  SETUP_OWN_GROUP },
	{ "max-size", 'm', "SIZE", 0,
	  "Keep at most SIZE of each CPU's recorded data: the oldest is dropped, and counted", SETUP_OWN_GROUP },
	{ "duration", KEY_DURATION, "TIME", 0, "Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds",
	  SETUP_OWN_GROUP },
	{ "sync", KEY_SYNC, "TIME", 0, "Sync to the disk all data that is older than TIME, in case the machine crashes",
	  SETUP_OWN_GROUP },
	{ "recorder-cpu", KEY_RECORDER_CPU, "CPULIST", 0, "Let the recorders run only on these CPUs", SETUP_OWN_GROUP },
	{ "priority", 'r', "PRIO", 0, "Run the recorders with the real-time priority PRIO, 1 to 99", SETUP_OWN_GROUP },
	{ "fail-on-lost", KEY_FAIL_ON_LOST, NULL, 0, "Exit with status 123 when events were lost, or may have been",
	  SETUP_OWN_GROUP },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static bool parse_recording(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct record_options *options = &arguments->options;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case KEY_RECORDER_CPU:
		if (cpus_parse(arg, &options->recorder_cpus, &fail))
			setup_usage(state, "--recorder-cpu: %s", fail.text);
		options->has_recorder_cpus = true;
		return true;
	case 'r':
		options->priority = (int)setup_number("-r", arg, 1, 99, state);
		return true;
	case 'a':
		options->all_formats = true;
		return true;
	case KEY_NO_FILTER:
		return true;
	case 'm':
		options->max_size = setup_size("-m", arg, state);
		return true;
	case KEY_DURATION:
		options->duration_ns = option_time("duration", arg, state);
		return true;
	case KEY_SYNC:
		options->sync_ns = option_time("sync", arg, state);
		if (options->sync_ns < SYNC_MIN_NS || options->sync_ns > SYNC_MAX_S * UINT64_C(1000000000))
			setup_usage(state, "--sync takes at least 10ms and at most a day");
		return true;
	case KEY_FAIL_ON_LOST:
		arguments->fail_on_lost = true;
		return true;
	}
	return false;
}

static void check(struct record_arguments *arguments, struct argp_state *state)
{
	struct record_options *options = &arguments->options;

	options->user = arguments->setup.user;
	if (options->setup.only_command && !options->argv)
		setup_usage(state, "-F needs a COMMAND");
	if (options->user && !options->argv)
		setup_usage(state, "--user needs a COMMAND");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->options.setup.cmdlines = SETUP_CMDLINES;
		arguments->setup.setup = &arguments->options.setup;
		state->child_inputs[0] = state->child_inputs[1] = &arguments->setup;
		state->child_inputs[2] = &arguments->output;
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. */
		arguments->options.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return parse_recording(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ &setup_command_argp, 0, NULL, SETUP_COMMAND_GROUP },
	{ &output_argp, 0, "Output:", SETUP_OWN_GROUP + 1 },
	{ NULL, 0, NULL, 0 },
};

const struct argp record_argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Record what the kernel does while COMMAND runs, or until Ctrl-C.\v"
	       "The exit status is that of COMMAND; 126 or 127 when it cannot be run, 125 when the recording failed, "
	       "123 with --fail-on-lost when events were lost, or somebody cleared the buffer. "
	       "Tracing starts just before COMMAND does and stops when it exits. "
	       "With -o - the standard output of COMMAND goes to standard error.",
};

void record_arguments_finish(struct record_arguments *arguments)
{
	const struct output_arguments *output = &arguments->output;
	struct record_options *options = &arguments->options;

	options->output = output->output;
	options->temp_dir = output->temp_dir;
	options->mode = output->mode;
	options->version = output->version;
	options->compress = output->compress;
	options->level = output->level;
	options->texts = output->texts;
	options->all_symbols = output->all_symbols;
}
