/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_SETUP_RUN_H
#define WEFT_CMD_SETUP_RUN_H

#include "lib/setup/setup.h"

struct fail;

/*
 * What start and set have in common: the kernel is made as asked and stays so, with a held journal for `weft reset`
 * (lib/undo/undo.h). An error, or one of SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE before that, puts everything
 * back.
 */
struct setup_run {
	const struct setup *setup;
	enum setup_manner manner;
	bool turn_on; /* tracing, when everything is set */
	char **argv;  /* a command, run once tracing is on; NULL: none */
	const char *user;
	bool dry_run;  /* nothing is done: a script is printed that would do it (cmd/dry_run.h) */
	bool turn_off; /* in that script, when the command has ended */
};

/* 0: done (or printed), *ret_status is the command's if there was one. -EINTR: a signal came; the text says so. */
int must_check setup_run(const struct setup_run *run, int *ret_status, struct fail *fail);

/*
 * --dry-run of what traces only as long as it runs, record and stream: the script, in which what the readers do is left
 * out. Returns an exit status, after telling what failed.
 */
int setup_run_script(const struct setup *setup, char **argv, const char *user);

#endif
