/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_OPTIONS_H
#define WEFT_CMD_RECORD_OPTIONS_H

#include "lib/record/options.h"

#include <argp.h>
#include <stdbool.h>

/* The command line of `weft record`: what the session is asked to do, and what only the command cares for. */
struct record_arguments {
	struct record_options options;
	bool quiet, fail_on_lost;
	/* While parsing: */
	struct record_event *event;     /* that -f and -R mean */
	bool off;                       /* -v was seen in this buffer */
	bool compression_given;
};

extern const struct argp record_argp;

#endif
