/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OUTPUT_OPTIONS_H
#define WEFT_CMD_OUTPUT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

/*
 * The options that say which file is written and how, as an argp child that record and extract share; its input is a
 * struct output_arguments, which it fills with defaults first.
 */
struct output_arguments {
	const char *output;             /* "-": standard output */
	const char *temp_dir;           /* NULL: beside the output */
	unsigned version;               /* 6 or 7 */
	bool compress;
	int level;
	unsigned texts;                 /* enum texts of lib/kernel/texts.h */
	bool quiet;
	/* While parsing: */
	bool compression_given;
};

extern const struct argp output_argp;

#endif
