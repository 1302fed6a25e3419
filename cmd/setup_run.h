/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SETUP_RUN_H
#define WEFT_CMD_SETUP_RUN_H

#include "lib/kernel/setup/setup.h"

struct fail;

/*
 * What start and set share: they set up the kernel and leave it so, with a held journal for `weft reset`
 * (lib/kernel/undo/undo.h). An error, or one of SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE before the end, undoes
 * everything.
 */
struct setup_run {
	const struct setup *setup;
	enum setup_manner manner;
	bool turn_on; /* turns tracing on when everything is set */
	char **argv;  /* a command to run once tracing is on; NULL: none */
	const char *user;
	bool dry_run;  /* changes nothing, and prints a script that would do the same */
	bool frees;    /* the command holds free_buffer open, so that the buffers are freed when it has ended */
	bool turn_off; /* the script turns tracing off when the command has ended */
};

/*
 * Returns 0 when the setup is done (or printed); *ret_status is then the status of the command, if there is one.
 * -EINTR: a signal came, and `fail` says so.
 */
int must_check setup_run(const struct setup_run *run, int *ret_status, struct fail *fail);

/*
 * --dry-run for commands that trace only as long as they run, record and stream: prints the script, without what the
 * readers do. Reports failures and returns an exit status.
 */
int setup_run_script(const struct setup *setup, char **argv, const char *user);

#endif
