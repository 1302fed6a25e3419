/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_DECODE_H
#define WEFT_CMD_OPTIONS_DECODE_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"
#include "cmd/options/option_value.h"
#include "lib/ground/base/cleanup.h"

struct context;
struct fail;
struct foreign;
struct reader;
struct trace;

/* The options of commands that use plugins, --decode, --no-plugins and --plugin-dir: a child table. */
struct decode {
	bool wanted;
	const char *dir; /* NULL: weft's own */
};

extern const struct options decode_options;

/*
 * If they are wanted, loads the plugins for the machine that was traced, before the right to open files is given up.
 * The caller closes them before it frees the context.
 */
int must_check decode_open(const struct decode *decode, struct context *context, struct fail *fail);
/* The same as query_manner::prepare, with a struct decode. */
int must_check decode_prepare(const void *decode, struct context *context, struct fail *fail);

/* After decode_open() for all buffers: gives up the rights to open files, unless they are to be kept. */
int must_check decode_seal(const struct decode *decode, struct trace *trace, bool keeps_rights, struct fail *fail);

/* At the end of the events: an error if a plugin that they needed could not be used. */
int must_check decode_check(const struct context *context, struct fail *fail);
int must_check decode_check_all(const struct reader *reader, struct fail *fail);

/*
 * Frees the plugins. Prints notes to standard error about those that could not be used, also if no event needed them,
 * once for each run of the program: each buffer of a file loads the same ones.
 */
void decode_close(struct context *context);
void decode_end(struct reader *reader);

/* The user's own plugins of libtraceevent: lib/meaning/plugin/foreign.h. */
struct user_plugins {
	bool wanted;
	/*
	 * NULL: $TRACEEVENT_PLUGIN_DIR and ~/.local/lib/traceevent/plugins, where libtraceevent looks after its own
	 * directory
	 */
	const char *dir;
	struct option_words values; /* options of plugins */
	struct foreign *foreign;    /* once started; NULL: there are none */
};

/* Starts them before the right to open files is given up. `must`: it is an error if there are none. */
int must_check user_plugins_start(struct user_plugins *plugins, bool must, struct fail *fail);

/* Ends them. A note on standard error tells what users must know. */
void user_plugins_end(struct user_plugins *plugins);

#endif
