/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OUTPUT_OPTIONS_H
#define WEFT_CMD_OUTPUT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The options that say which file is written and how, as an argp child that record and extract share; its input is a
 * struct output_arguments, which it fills with defaults first.
 */
struct output_arguments {
	const char *output;   /* "-": standard output */
	const char *temp_dir; /* NULL: beside the output */
	mode_t mode;          /* of the file */
	unsigned version;     /* 6 or 7 */
	bool compress;
	int level;
	unsigned texts; /* enum texts of lib/tracefs/texts.h */
	bool all_symbols;
	bool quiet;
	/* While parsing: */
	bool compression_given;
};

extern const struct argp output_argp;

/* Of --mode, here and elsewhere: octal digits. Ends with a usage message where they are none. */
#define OUTPUT_MODE 0600
#define OUTPUT_MODE_HELP \
	"Give the file the mode MODE, octal (default 600: it tells addresses, command lines and what tasks do)"
mode_t output_mode(const char *text, struct argp_state *state);

#endif
