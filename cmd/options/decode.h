/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_DECODE_H
#define WEFT_CMD_OPTIONS_DECODE_H

#include "lib/base/cleanup.h"

#include <argp.h>
#include <stdbool.h>

struct context;
struct fail;
struct reader;
struct trace;

/* The options of commands that use plugins, --decode, --no-plugins and --plugin-dir: an argp child. */
struct decode {
	bool wanted;
	const char *dir; /* NULL: weft's own */
};

extern const struct argp decode_argp;

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

#endif
