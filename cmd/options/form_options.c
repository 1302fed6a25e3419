// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/form_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options/output_options.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

enum { KEY_FILE_VERSION = 0x600 };

enum { LEVEL_DEFAULT = 3, LEVEL_MAX = 19 };

static const struct option_row options[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE; - is standard output", 0, OPTION_TEXT(struct form, output) },
	{ "file-version", KEY_FILE_VERSION, "6|7", 0,
	  "Version 7 of trace.dat (the default), or 6, which is never compressed", 0, OPTION_BY_KEY },
	{ "compression", 0, "zstd[:LEVEL]|none", 0, "Compression of the file (default zstd:3, of import zstd:1)", 0,
	  OPTION_TEXT(struct form, compression) },
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, 0, OPTION_CALL(struct form, mode, output_take_mode) },
	{ "quiet", 'q', NULL, 0, "No summary", 0, OPTION_FLAG(struct form, quiet) },
	{ 0 },
};

static void parse_compression(struct form *form, struct argp_state *state)
{
	const char *text = form->compression, *level = strchr(text, ':');
	struct fail fail = FAIL_INIT;
	uint64_t number = LEVEL_DEFAULT;

	form->as.compress = strcmp(text, "none");
	if (!form->as.compress)
		return;
	if (strncmp(text, "zstd", 4) || (text[4] && level != text + 4))
		argp_error(state, "unknown codec '%s'; use zstd[:LEVEL] or none", text);
	if (level && text_parse_range(level + 1, 1, LEVEL_MAX, &number, &fail))
		argp_error(state, "--compression: %s", fail.text);
	form->as.level = (int)number;
}

static void finish(struct form *form, struct argp_state *state)
{
	if (!form->output || !*form->output)
		argp_error(state, "no output file given; use -o FILE");
	if (form->compression)
		parse_compression(form, state);
	if (form->as.version == 6 && form->compression && form->as.compress)
		argp_error(state, "version 6 of trace.dat cannot be compressed");
	if (form->as.version == 6)
		form->as.compress = false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct form *form = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*form = (struct form){ .as = { .version = 7, .compress = true, .level = LEVEL_DEFAULT },
				       .mode = OUTPUT_MODE };
		return 0;
	case KEY_FILE_VERSION:
		if (strcmp(arg, "6") && strcmp(arg, "7"))
			argp_error(state, "unknown version '%s' of trace.dat; use 6 or 7", arg);
		form->as.version = (unsigned)(*arg - '0');
		return 0;
	case ARGP_KEY_END:
		finish(form, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &reading_options, offsetof(struct form, reading), 0, NULL },
	{ 0 },
};

const struct options form_options = {
	.rows = options,
	.parser = parse,
	.children = children,
};

char *form_path(const struct form *form, const char *word)
{
	size_t len = strlen(form->output);
	bool dat = len > 4 && !strcmp(form->output + len - 4, ".dat");
	char *path;

	if (!*word)
		return strdup(form->output);
	return asprintf(&path, "%.*s.%s%s", (int)(len - (dat ? 4 : 0)), form->output, word, dat ? ".dat" : "") < 0 ?
		       NULL :
		       path;
}
