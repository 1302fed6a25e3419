// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "lib/base/text.h"
#include "lib/kernel/texts.h"

enum option_key {
	KEY_NO_FILTER = 0x100,
	KEY_COMPRESSION,
	KEY_FILE_VERSION,
	KEY_TEMP_DIR,
	KEY_DURATION,
	KEY_FAIL_ON_LOST,
	KEY_SAVE,
};

enum {
	LEVEL_DEFAULT = 1,
	LEVEL_MAX = 19,
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Recording:", SETUP_OWN_GROUP },
	{ "all-formats", 'a', NULL, 0, "Save the formats of all events, not only of those recorded", SETUP_OWN_GROUP },
	{ "no-filter", KEY_NO_FILTER, NULL, 0, "Record weft's own threads, too", SETUP_OWN_GROUP },
	{ "max-size", 'm', "SIZE", 0, "Keep at most SIZE of each CPU's recorded data: the oldest is dropped, and counted", SETUP_OWN_GROUP },
	{ "output", 'o', "FILE", 0, "Write FILE (default trace.dat); - is standard output", SETUP_OWN_GROUP },
	{ "compression", KEY_COMPRESSION, "zstd[:LEVEL]|none", 0, "How to pack the file (default zstd:1)", SETUP_OWN_GROUP },
	{ "file-version", KEY_FILE_VERSION, "6|7", 0, "Write version 7 (default), or 6, which is not compressed", SETUP_OWN_GROUP },
	{ "temp-dir", KEY_TEMP_DIR, "DIR", 0, "Keep the data in DIR while recording (default: beside the output)", SETUP_OWN_GROUP },
	{ "duration", KEY_DURATION, "TIME", 0, "Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds", SETUP_OWN_GROUP },
	{ "save", KEY_SAVE, "hist|stack|stat", 0,
	  "Save what the kernel counted as well: every histogram, the deepest stack, or trace_stat; repeatable", SETUP_OWN_GROUP },
	{ "fail-on-lost", KEY_FAIL_ON_LOST, NULL, 0, "Exit with status 123 when events were lost", SETUP_OWN_GROUP },
	{ "quiet", 'q', NULL, 0, "Print no summary", SETUP_OWN_GROUP },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static void set_compression(struct record_options *options, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t level = LEVEL_DEFAULT;

	options->compress = strcmp(text, "none");
	if (!options->compress)
		return;
	if (strncmp(text, "zstd", 4) || (text[4] && text[4] != ':'))
		setup_usage(state, "no compression '%s'; there are zstd, zstd:LEVEL and none", text);
	if (text[4] && text_parse_range(text + 5, 1, LEVEL_MAX, &level, &fail))
		setup_usage(state, "--compression: %s", fail.text);
	options->level = (int)level;
}

static unsigned texts_named(const char *name, struct argp_state *state)
{
	if (!strcmp(name, "hist"))
		return TEXTS_HIST;
	if (!strcmp(name, "stack"))
		return TEXTS_STACK;
	if (strcmp(name, "stat"))
		setup_usage(state, "--save: there is no '%s'; there are hist, stack and stat", name);
	return TEXTS_STAT;
}

static bool parse_output(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct record_options *options = &arguments->options;

	switch (key) {
	case 'a':
		options->all_formats = true;
		return true;
	case KEY_NO_FILTER:
		options->trace_self = true;
		return true;
	case 'o':
		options->output = arg;
		return true;
	case 'm':
		options->max_size = setup_size("-m", arg, state);
		return true;
	case KEY_SAVE:
		options->texts |= texts_named(arg, state);
		return true;
	case KEY_COMPRESSION:
		set_compression(options, arg, state);
		arguments->compression_given = true;
		return true;
	case KEY_FILE_VERSION:
		options->version = (unsigned)setup_number("--file-version", arg, 6, 7, state);
		return true;
	case KEY_TEMP_DIR:
		options->temp_dir = arg;
		return true;
	case KEY_DURATION:
		options->duration_ns = setup_time_ns("--duration", arg, state);
		return true;
	case KEY_FAIL_ON_LOST:
		arguments->fail_on_lost = true;
		return true;
	case 'q':
		arguments->quiet = true;
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
	if (options->version == 6 && arguments->compression_given && options->compress)
		setup_usage(state, "a file of version 6 cannot be compressed");
	if (options->version == 6)
		options->compress = false;
	if (!*options->output)
		setup_usage(state, "-o: an empty name");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->options.output = "trace.dat";
		arguments->options.version = 7;
		arguments->options.compress = true;
		arguments->options.level = LEVEL_DEFAULT;
		arguments->options.setup.cmdlines = SETUP_CMDLINES;
		arguments->setup.setup = &arguments->options.setup;
		state->child_inputs[0] = state->child_inputs[1] = &arguments->setup;
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
	return parse_output(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ &setup_command_argp, 0, NULL, SETUP_COMMAND_GROUP },
	{ NULL, 0, NULL, 0 },
};

const struct argp record_argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Record what the kernel does while COMMAND runs, or until Ctrl-C.\v"
	       "The exit status is that of COMMAND; 126 or 127 when it cannot be run, 125 when the recording failed, "
	       "123 with --fail-on-lost when events were lost. "
	       "Tracing starts just before COMMAND does and stops when it exits. "
	       "With -o - the standard output of COMMAND goes to standard error.",
};
