/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_OPTIONS_H
#define WEFT_CMD_RECORD_OPTIONS_H

#include "cmd/setup_options.h"
#include "lib/record/options.h"

#include <argp.h>
#include <stdbool.h>

/* The command line of `weft record`: what the session is asked to do, and what only the command cares for. */
struct record_arguments {
	struct record_options options;
	bool quiet, fail_on_lost;
	bool compression_given;
	struct setup_arguments setup;
};

extern const struct argp record_argp;

#endif
