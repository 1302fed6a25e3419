/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_SETUP_OPTIONS_H
#define WEFT_CMD_OPTIONS_SETUP_OPTIONS_H

#include "lib/setup/setup.h"

#include <argp.h>
#include <stdbool.h>

/* What the lists of the options that follow do to the kernel's lists. */
enum setup_lists { SETUP_REPLACES, SETUP_ADDS, SETUP_REMOVES };

/*
 * The options that describe tracing (lib/setup/setup.h), as argp children that record, start, set and stream share. At
 * ARGP_KEY_INIT the parent's parser gives them their input, a struct setup_arguments that is zero except for what the
 * parent knows (`setup`, `changes`):
 *	state->child_inputs[0] = state->child_inputs[1] = &arguments->setup;
 * At the parent's ARGP_KEY_END the setup is checked and complete; warnings go to standard error. The setup borrows the
 * texts of the command line.
 */
struct setup_arguments {
	struct setup *setup;
	bool changes;     /* an empty setup is allowed: tracing continues as it is (set), or the stack tracer is on */
	const char *user; /* who runs the COMMAND */
	bool dry_run;
	const char *analysis; /* the last one of --for; NULL: none was given */
	/* Used while parsing: */
	struct setup_event *event; /* the event to which -f and -R apply */
	bool off;                  /* -v was seen in this instance */
	enum setup_lists lists;
};

/* The options for events, tracers, tasks and buffers. */
extern const struct argp setup_argp;
/* The options for a COMMAND: -F and --user. */
extern const struct argp setup_command_argp;

/* -F and --user are about a COMMAND: without one they are a usage error. For the parent's ARGP_KEY_END. */
void setup_check_command(const struct setup_arguments *arguments, bool has_command, struct argp_state *state);

/* The value of setup.cmdlines with which record and stream begin; other commands leave it at 0. */
enum { SETUP_CMDLINES = 1 << 15 };

/* The argp_child.group of the two: before the parent's own options, whose groups begin at SETUP_OWN_GROUP. */
enum { SETUP_GROUP = 1, SETUP_COMMAND_GROUP = 2, SETUP_OWN_GROUP = 3 };

#endif
