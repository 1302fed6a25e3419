/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_FORMATS_H
#define WEFT_CMD_OPTIONS_FORMATS_H

#include "lib/base/cleanup.h"

#include <argp.h>
#include <stdbool.h>

struct events;
struct fail;
struct sink_ops;
struct sink_options;

/* What the commands that print events share: --format. */

/* Returns the format of this name. An unknown one is a usage error with similar names. */
const struct sink_ops *format_named(const char *name, struct argp_state *state);

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
 * Returns an instance's name as it stands in front of lines. If the lines have colours, nothing else escapes the name.
 * The caller frees the copy; NULL when memory runs out.
 */
char *format_instance_name(const char *name, const struct sink_options *options);

/*
 * Prints a note to standard error if events of some types were printed as name=value, because their print fmt is not
 * understood.
 */
void format_tell_fields(const struct events *events);

#endif
