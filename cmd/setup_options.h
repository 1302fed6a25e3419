/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SETUP_OPTIONS_H
#define WEFT_CMD_SETUP_OPTIONS_H

#include "lib/setup/setup.h"

#include <argp.h>
#include <stdbool.h>

/*
 * The options that say what tracing shall be (lib/setup/setup.h), as argp children that record, start, set and stream
 * share. The parent's parser gives them their input at ARGP_KEY_INIT, a struct setup_arguments that is zero but for
 * what the parent knows (`setup`, `changes`):
 * 	state->child_inputs[0] = state->child_inputs[1] = &arguments->setup;
 * At ARGP_KEY_END of the parent the setup is checked and complete; it warns on standard error. Its texts are those of
 * the command line.
 */
struct setup_arguments {
	struct setup *setup;
	bool changes;     /* an empty setup is allowed: tracing goes on as it is (set) */
	const char *user; /* that runs it */
	bool dry_run;
	/* While parsing: */
	struct setup_event *event; /* that -f and -R mean */
	bool off;                  /* -v was seen in this instance */
};

/* Events, tracers, tasks, buffers. */
extern const struct argp setup_argp;
/* What is about a COMMAND: -F and --user. */
extern const struct argp setup_command_argp;

/* What recordings begin with as setup.cmdlines; others leave it at 0. */
enum { SETUP_CMDLINES = 1 << 15 };

/* For argp_child.group of the two: in front of the parent's own options, whose groups begin at the last. */
enum { SETUP_GROUP = 1, SETUP_COMMAND_GROUP = 2, SETUP_OWN_GROUP = 3 };

#endif
