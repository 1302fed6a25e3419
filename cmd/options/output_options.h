/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_OUTPUT_OPTIONS_H
#define WEFT_CMD_OPTIONS_OUTPUT_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/options/option_rows.h"

/*
 * The options for the output file of record and extract, as a child table. Its input is a struct output_arguments,
 * which it fills with defaults first.
 */
struct output_arguments {
	const char *output;   /* "-": standard output */
	const char *temp_dir; /* NULL: the directory of the output */
	mode_t mode;          /* of the file */
	unsigned version;     /* 6 or 7 */
	bool compress;
	int level;
	unsigned texts; /* enum texts of lib/kernel/tracefs/texts.h */
	bool all_symbols;
	bool quiet;
	/* Used while parsing: */
	bool compression_given;
};

extern const struct options output_options;

/* Reads the octal digits of --mode, here and elsewhere. Anything else is a usage error. */
#define OUTPUT_MODE 0600
#define OUTPUT_MODE_HELP \
	"Give the file the mode MODE, octal (default 600: it tells addresses, command lines and what tasks do)"
/* What the file of -o is called in a message. */
const char *output_told(const char *output);
void output_take_mode(const struct option_row *row, void *mode, char *text, struct argp_state *state);

#endif
