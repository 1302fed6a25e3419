/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_WORKLOAD_H
#define WEFT_RECORD_WORKLOAD_H

#include "lib/base/cleanup.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct fail;
struct switches;

/*
 * The command that is recorded: a child that waits for our word, turns tracing on once we sleep, and execs: the last thing it
 * does before, so that next to nothing is recorded that is not the command's. Where it is found was looked for before.
 * It is forked before anything else is set up so that it inherits no thread of ours.
 * Invariant: a child whose parent dies before workload_go() ends without having run anything.
 * Signal mask and dispositions of the child are those that the caller had: `mask` is restored before tracing is turned on.
 */
struct workload {
	pid_t pid;    /* 0: none */
	int pid_fd;   /* readable once the child is gone */
	int go_fd;    /* a socket, for the switches go with the word */
	int errno_fd; /* tells why it was not executed; end of file: it was */
	bool running;
	int status; /* of waitpid(), once ended */
};

struct workload_options {
	char *const *argv;
	const char *user; /* run as; NULL: as the caller */
	sigset_t mask;
	bool stdout_to_stderr;
};

int must_check workload_fork(const struct workload_options *options, struct workload *ret, struct fail *fail);

/*
 * Lets it turn tracing on (`switches`, NULL: nothing) and exec, and does not wait for that: to be told of it would be our event
 * in what is traced.
 */
int must_check workload_go(struct workload *workload, const struct switches *switches, struct fail *fail);

/*
 * Whether it was executed, after workload_go(): waits until that is decided; from then on it does not turn tracing on any more.
 * -errno: why not; *ret_status then is 126 or 127 as a shell has it.
 */
int must_check workload_executed(struct workload *workload, const char *name, int *ret_status, struct fail *fail);

/* Reaps it if it has ended: true, and the exit status as a shell gives it (128 + signal). */
bool workload_ended(struct workload *workload, int *ret_status);
/* The same of one that workload_release() left running: waits for it. 0: there is none. */
bool workload_wait(pid_t command, int *ret_status);
void workload_signal(const struct workload *workload, int sig);

/* Ends a child that was never let go, reaps one that ended; a running one is left running. */
void workload_release(struct workload *workload);

#endif
