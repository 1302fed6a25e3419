/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_OPTIONS_H
#define WEFT_CMD_RECORD_OPTIONS_H

#include "cmd/options/output_options.h"
#include "cmd/options/setup_options.h"
#include "lib/record/options.h"

#include <argp.h>
#include <stdbool.h>

/* The command line of `weft record`: what the session should do, and what only the command needs. */
struct record_arguments {
	struct record_options options;
	bool fail_on_lost;
	struct output_arguments output;
	struct setup_arguments setup;
};

extern const struct argp record_argp;

/* Call it after parsing: moves what the children of record_argp found into the options. */
void record_arguments_finish(struct record_arguments *arguments);

#endif
