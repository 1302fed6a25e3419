/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_WORKLOAD_H
#define WEFT_KERNEL_RECORD_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct switches;

/*
 * The command that is recorded. It starts as a child that waits for a message from the parent, turns tracing on while
 * weft's threads sleep, and executes the command as its next step, so that almost nothing else is recorded. The path of
 * the command is found before. The child is forked before anything else is set up, so that no other thread exists at
 * the fork. Invariant: a child whose parent dies before workload_go() ends without having run anything. Signal mask and
 * dispositions of the child are those of the caller: `mask` is restored before tracing is turned on.
 */
struct workload {
	/* What the command took, valid after its end; CLOCK_MONOTONIC. */
	struct workload_times {
		uint64_t started_ns; /* just before it was executed: the child says so */
		uint64_t ended_ns;   /* its end was noticed */
		struct rusage usage; /* also of the children that it waited for */
		/*
		 * It had threads, or children for which it waited. What took no page fault of its own, and children for
		 * which it did not wait, are not known.
		 */
		bool made_tasks;
	} times;
	uint64_t *stamp; /* shared with the child: started_ns */
	pid_t pid;       /* 0: no process */
	int pid_fd;      /* becomes readable when the child has ended */
	int go_fd;       /* a socket, because the message to go contains the descriptors of the switches */
	int errno_fd;    /* has the reason why the command was not executed; end of file: it was executed */
	bool running;
	int status; /* of waitpid(); valid after the child has ended */
};

struct workload_options {
	char *const *argv;
	const char *user; /* the user as whom it runs; NULL: the caller */
	/* Directories in which the command is searched, as in PATH; NULL: the system's. With `user`: theirs. */
	const char *path;
	sigset_t mask;
	bool stdout_to_stderr;
	bool mute; /* standard input and output are /dev/null */
};

int must_check workload_fork(const struct workload_options *options, struct workload *ret, struct fail *fail);

/*
 * Sends the message to go: the child turns tracing on (`switches`; NULL: nothing) and executes the command. Does not
 * wait for that, because the notification would be an event of weft in the trace.
 */
int must_check workload_go(struct workload *workload, const struct switches *switches, struct fail *fail);

/*
 * Waits after workload_go() until the command was executed, or an error occurred. After that the child does not turn
 * tracing on any more. -errno: the error; *ret_status then is 126 or 127 as in a shell.
 */
int must_check workload_executed(struct workload *workload, const char *name, int *ret_status, struct fail *fail);

/*
 * Reaps the command if it has ended. True: it has; *ret_status is its exit status as a shell gives it (128 + signal).
 */
bool workload_ended(struct workload *workload, int *ret_status);
/* The descriptor says that the command has ended: stamps the time, the first time that it is called. */
void workload_stamp_end(struct workload *workload);
/* The same for a command that workload_release() left running, but waits for its end. `command` 0: there is none. */
bool workload_wait(pid_t command, int *ret_status);
void workload_signal(const struct workload *workload, int sig);

/*
 * Ends a child that did not get the message to go, and reaps a child that has ended. A running command is left running.
 */
void workload_release(struct workload *workload);

#endif
