/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_SETUP_OPTIONS_H
#define WEFT_CMD_OPTIONS_SETUP_OPTIONS_H

#include <stdbool.h>

#include "cmd/options/option_rows.h"
#include "lib/kernel/setup/setup.h"

/* What the lists of the options that follow do to the kernel's lists. */
enum setup_lists { SETUP_REPLACES, SETUP_ADDS, SETUP_REMOVES };

/*
 * The options that describe tracing (lib/kernel/setup/setup.h), as children that record, start, set and stream share.
 * Their input is a struct setup_arguments that is zero except for what the parent knows (`setup`, `changes`), and has
 * set at ARGP_KEY_INIT at the latest.
 * At the parent's ARGP_KEY_END the setup is checked and complete; warnings go to standard error. The setup borrows the
 * texts of the command line.
 */
struct setup_arguments {
	struct setup *setup;
	bool changes;     /* an empty setup is allowed: tracing continues as it is (set), or the stack tracer is on */
	const char *user; /* who runs the COMMAND */
	bool dry_run;
	const char *analysis; /* the last one of --for; NULL: none was given */
	const char *instead;  /* the analysis to trace for if nothing else is chosen; NULL: that is an error */
	bool chosen;          /* that was done */
	bool may_be_empty;    /* nothing has to be chosen: weft records something of its own */
	bool elsewhere;       /* for another machine: which tasks options name is found out there */
	bool process;         /* --process was given, which says nothing in the setup if it is for another machine */
	/* Used while parsing: */
	struct setup_event *event; /* the event to which -f and -R apply */
	bool off;                  /* -v was seen in this instance */
	enum setup_lists lists;
};

/* The options for events, tracers, tasks and buffers. */
extern const struct options setup_options;
/* The options for a COMMAND: -F and --user. */
extern const struct options setup_command_options;

/* -F and --user are about a COMMAND: without one they are a usage error. For the parent's ARGP_KEY_END. */
void setup_check_command(const struct setup_arguments *arguments, bool has_command, struct argp_state *state);

/* An option that was given for this instance and that no other takes over; NULL: none. */
const char *setup_own_option(const struct setup_instance *wanted);

/* Fails if the kernel's command line has no place for one of the options that were given. */
int must_check setup_check_boot(const struct setup *setup, struct fail *fail);

/* An option that was given and that a machine's shell cannot do (lib/kernel/remote/orders_internal.h); NULL: none. */
const char *setup_not_by_shell(const struct setup_arguments *arguments);

/* The value of setup.cmdlines with which record and stream begin; other commands leave it at 0. */
enum { SETUP_CMDLINES = 1 << 15 };

/* The argp_child.group of the two: before the parent's own options, whose groups begin at SETUP_OWN_GROUP. */
enum { SETUP_GROUP = 1, SETUP_COMMAND_GROUP = 2, SETUP_OWN_GROUP = 3 };

#endif
