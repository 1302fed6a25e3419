/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FORMATS_H
#define WEFT_CMD_OPTIONS_FORMATS_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"

struct events;
struct reader;
struct sink_ops;
struct sink_options;

/* What the commands that print events share: --format. */

/*
 * Returns the format of this name. "schema" prints what the lines of json look like, and ends the program. An unknown
 * name is a usage error with similar names.
 */
void format_take(const struct option_row *row, void *format, char *name, struct argp_state *state);

/* Prints what the JSON of a command looks like, and ends the program. */
_Noreturn void format_print_schema(const char *schema);

/*
 * Returns whether the output of the format must be escaped: standard output is a terminal, and the format does not
 * escape by itself.
 */
bool format_is_escaped(const struct sink_ops *format, const struct sink_options *options);

/*
 * Returns whether newlines in names and strings must be escaped: the reader is a terminal, or a pager that gets
 * colours.
 */
bool format_is_one_line(const struct sink_options *options);

/*
 * Makes for each buffer of the reader the text in front of its lines that names its instance, "  NAME: ", all of the
 * same width. NULL when memory runs out. format_prefixes_free() takes NULL too.
 */
char **format_prefixes(const struct reader *reader, const struct sink_options *options);
void format_prefixes_free(char **prefixes);

/*
 * The types whose events are printed as name=value, because their print fmt is not understood. Several readers may have
 * read parts of a buffer: each is noted, and format_tell_fields() prints a note to standard error if there are such
 * types.
 */
struct fields_told {
	struct told_type *types;
	size_t nr;
};

void format_note_fields(struct fields_told *told, size_t buffer, const struct events *events);
void format_tell_fields(const struct fields_told *told, size_t buffer);
void fields_told_release(struct fields_told *told);

#endif
