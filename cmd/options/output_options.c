// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/output_options.h"

#include "cmd/options/setup_values.h"
#include "lib/tracefs/texts.h"

#include <stdlib.h>
#include <string.h>

enum option_key { KEY_COMPRESSION = 0x400, KEY_FILE_VERSION, KEY_TEMP_DIR, KEY_SAVE, KEY_MODE, KEY_ALL_SYMBOLS };

enum { LEVEL_DEFAULT = 1, LEVEL_MAX = 19 };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write FILE (default trace.dat); - is standard output", 0 },
	{ "compression", KEY_COMPRESSION, "zstd[:LEVEL]|none", 0, "Compression of the file (default zstd:1)", 0 },
	{ "file-version", KEY_FILE_VERSION, "6|7", 0, "Write version 7 (default), or 6, which is not compressed", 0 },
	{ "mode", KEY_MODE, "MODE", 0, OUTPUT_MODE_HELP, 0 },
	{ "temp-dir", KEY_TEMP_DIR, "DIR", 0,
	  "Keep the data in DIR until the file is finished (default: beside the output)", 0 },
	{ "save", KEY_SAVE, "hist|stack|stat", 0,
	  "Also save statistics that the kernel keeps: every histogram, the deepest stack, or trace_stat; repeatable",
	  0 },
	{ "all-symbols", KEY_ALL_SYMBOLS, NULL, 0,
	  "Save all kernel symbols even in a small file, not only those near addresses in its pages", 0 },
	{ "quiet", 'q', NULL, 0, "Print no summary", 0 },
	{ 0 },
};

static void set_compression(struct output_arguments *arguments, const char *text, struct argp_state *state)
{
	arguments->compression_given = true;
	arguments->compress = strcmp(text, "none");
	arguments->level = LEVEL_DEFAULT;
	if (!arguments->compress)
		return;
	if (strncmp(text, "zstd", 4) || (text[4] && text[4] != ':'))
		setup_usage(state, "unknown compression '%s'; use zstd, zstd:LEVEL or none", text);
	if (text[4])
		arguments->level = (int)setup_number("--compression", text + 5, 1, LEVEL_MAX, state);
}

mode_t output_mode(const char *text, struct argp_state *state)
{
	size_t len = strspn(text, "01234567");

	if (!len || text[len] || strtoul(text, NULL, 8) > 0777)
		setup_usage(state, "--mode: '%s' is not a mode; use three octal digits such as 640", text);
	return (mode_t)strtoul(text, NULL, 8);
}

static unsigned texts_named(const char *name, struct argp_state *state)
{
	if (!strcmp(name, "hist"))
		return TEXTS_HIST;
	if (!strcmp(name, "stack"))
		return TEXTS_STACK;
	if (strcmp(name, "stat"))
		setup_usage(state, "--save: unknown statistics '%s'; use hist, stack or stat", name);
	return TEXTS_STAT;
}

static void check(struct output_arguments *arguments, struct argp_state *state)
{
	if (arguments->version == 6 && arguments->compression_given && arguments->compress)
		setup_usage(state, "a file of version 6 cannot be compressed");
	if (arguments->version == 6)
		arguments->compress = false;
	if (!*arguments->output)
		setup_usage(state, "-o: the name is empty");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct output_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*arguments = (struct output_arguments){ .output = "trace.dat",
							.version = 7,
							.compress = true,
							.level = LEVEL_DEFAULT,
							.mode = OUTPUT_MODE };
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_COMPRESSION:
		set_compression(arguments, arg, state);
		return 0;
	case KEY_FILE_VERSION:
		arguments->version = (unsigned)setup_number("--file-version", arg, 6, 7, state);
		return 0;
	case KEY_TEMP_DIR:
		arguments->temp_dir = arg;
		return 0;
	case KEY_MODE:
		arguments->mode = output_mode(arg, state);
		return 0;
	case KEY_SAVE:
		arguments->texts |= texts_named(arg, state);
		return 0;
	case KEY_ALL_SYMBOLS:
		arguments->all_symbols = true;
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp output_argp = {
	.options = options,
	.parser = parse,
};
