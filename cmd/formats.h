/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_FORMATS_H
#define WEFT_CMD_FORMATS_H

#include "lib/base/cleanup.h"

#include <argp.h>
#include <stdbool.h>

struct context;
struct events;
struct fail;
struct plugins;
struct sink_ops;
struct sink_options;

/* What the commands that print events share: --format, and the plugins of --decode. */

/* An unknown one is an error of usage, with near names. */
const struct sink_ops *format_named(const char *name, struct argp_state *state);

/* Of `dir`, or where weft's own are (NULL), for the machine that was traced. */
int must_check format_plugins(struct context *context, const char *dir, struct plugins **ret, struct fail *fail);

/* Notes on standard error about plugins that could not be used, though no event asked for them; once in a process. */
void format_tell_plugins(const struct plugins *plugins);

/*
 * Whether what the format writes to standard output has to be escaped: a terminal reads it, and the format does not do
 * it itself.
 */
bool format_is_escaped(const struct sink_ops *format, const struct sink_options *options);

/* Whether no newline of a name or a string may reach the reader: a terminal, or a pager that gets colours. */
bool format_is_one_line(const struct sink_options *options);

/*
 * An instance's name as it stands in front of lines: where these have colours nothing else escapes it. A copy, the
 * caller's; NULL without memory.
 */
char *format_instance_name(const char *name, const struct sink_options *options);

/*
 * A note on standard error when events of some types were printed as name=value, because their print fmt is not
 * understood.
 */
void format_tell_fields(const struct events *events);

#endif
