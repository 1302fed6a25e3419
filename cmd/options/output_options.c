// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/output_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/options/setup_values.h"
#include "lib/kernel/tracefs/texts.h"

enum option_key { KEY_COMPRESSION = 0x400, KEY_SAVE };

enum { LEVEL_DEFAULT = 1, LEVEL_MAX = 19 };

static const struct option_row options[] = {
	{ "output", 'o', "FILE", 0, "Write FILE (default trace.dat); - is standard output", 0,
	  OPTION_TEXT(struct output_arguments, output) },
	{ "compression", KEY_COMPRESSION, "zstd[:LEVEL]|none", 0, "Compression of the file (default zstd:1)", 0,
	  OPTION_BY_KEY },
	{ "file-version", 0, "6|7", 0, "Write version 7 (default), or 6, which is not compressed", 0,
	  OPTION_RANGE(struct output_arguments, version, 6, 7) },
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, 0, OPTION_CALL(struct output_arguments, mode, output_take_mode) },
	{ "temp-dir", 0, "DIR", 0, "Keep the data in DIR until the file is finished (default: beside the output)", 0,
	  OPTION_TEXT(struct output_arguments, temp_dir) },
	{ "save", KEY_SAVE, "hist|stack|stat", 0,
	  "Also save statistics that the kernel keeps: every histogram, the deepest stack, or trace_stat; repeatable",
	  0, OPTION_BY_KEY },
	{ "all-symbols", 0, NULL, 0,
	  "Save all kernel symbols even in a small file, not only those near addresses in its pages", 0,
	  OPTION_FLAG(struct output_arguments, all_symbols) },
	{ "quiet", 'q', NULL, 0, "Print no summary", 0, OPTION_FLAG(struct output_arguments, quiet) },
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

const char *output_told(const char *output)
{
	return strcmp(output, "-") ? output : "standard output";
}

void output_take_mode(const struct option_row *row, void *mode, char *text, struct argp_state *state)
{
	size_t len = strspn(text, "01234567");

	(void)row;
	if (!len || text[len] || strtoul(text, NULL, 8) > 0777)
		setup_usage(state, "--mode: '%s' is not a mode; use three octal digits such as 640", text);
	*(mode_t *)mode = (mode_t)strtoul(text, NULL, 8);
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
	case KEY_COMPRESSION:
		set_compression(arguments, arg, state);
		return 0;
	case KEY_SAVE:
		arguments->texts |= texts_named(arg, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct options output_options = {
	.rows = options,
	.parser = parse,
};
