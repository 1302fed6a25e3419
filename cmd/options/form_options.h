/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FORM_OPTIONS_H
#define WEFT_CMD_OPTIONS_FORM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/options/option_rows.h"
#include "cmd/options/reading.h"
#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct form_door;

/*
 * The options of commands that make files from files: the output and its form. A child table; its input is a struct
 * form, which it fills with defaults first.
 */
struct form {
	struct recast_options as;
	const char *output; /* NULL: not given */
	mode_t mode;
	bool quiet;
	struct reading reading;
	bool divides;            /* set by a command that makes several files, with a word for each */
	const char *compression; /* used while parsing */
	struct form_door *door;  /* opens files; NULL: this process does (cmd/sandboxed_rewrite.h) */
};

extern const struct options form_options;

/* The characters of which a word for form_path() may consist. */
#define FORM_WORD_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/*
 * Returns the name of the output; of several outputs, the one for `word`: "part.dat" becomes "part.WORD.dat". NULL when
 * memory runs out.
 */
char *form_path(const struct form *form, const char *word);

#endif
