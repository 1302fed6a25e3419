/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_WAKE_H
#define WEFT_KERNEL_RECORD_WAKE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/clock_sampler.h"

struct fail;
struct switches;
struct workload;

/*
 * Waits for the end of a recording: its command ends, a signal arrives, its time is over, or a recorder fails. It
 * sleeps in poll() and wakes up periodically only if asked to. From wake_init() to wake_release() the signals that mean
 * "stop" are blocked in the calling thread and in the threads that it creates.
 */
struct wake {
	int signal_fd, timer_fd, failed_fd;
	int sync_fd;              /* the timer of wake_every() */
	struct clock_timer clock; /* of wake_for_clocks() */
	int ping_fd; /* of the caller, borrowed: WAKE_PING while it is readable, which ends nothing; -1: none */
	int *tasks;  /* pidfds of wake_tasks(); -1: the task has ended */
	size_t nr_tasks, nr_running;
	int tasks_fd;      /* an epoll descriptor for `tasks` */
	sigset_t old_mask; /* the signal mask for the command */
	/*
	 * A SIGINT or SIGQUIT of the terminal was left to the command; or, known after wake_release(), a signal came
	 * when the recording had ended. Who makes another one has to stop.
	 */
	bool interrupted;
	struct switches *switches; /* turned off at once when the recording must end; NULL: none */
};

/* The state before wake_init(), which needs no wake_release(). */
#define WAKE_NONE                                                                                              \
	{                                                                                                      \
		.signal_fd = -1, .timer_fd = -1, .failed_fd = -1, .sync_fd = -1, .clock.fd = -1, .ping_fd = -1 \
	}

enum wake_reason { WAKE_COMMAND, WAKE_SIGNAL, WAKE_TIME, WAKE_FAILED, WAKE_SYNC, WAKE_CLOCK, WAKE_PING, WAKE_BUDGET };

int must_check wake_init(struct wake *wake, struct fail *fail);
void wake_release(struct wake *wake);

/* Leaves a signal to the caller: it is no reason to end any more, and stays blocked. */
int must_check wake_leave(struct wake *wake, int sig, struct fail *fail);

/* Starts the timer of a limited recording. It may be started again after it has run out. */
int must_check wake_after(struct wake *wake, uint64_t ns, struct fail *fail);

/*
 * Makes wake_wait() and wake_poll() return WAKE_SYNC periodically. That does not end the recording, and tracing stays
 * on.
 */
int must_check wake_every(struct wake *wake, uint64_t ns, struct fail *fail);

/*
 * Makes them return WAKE_CLOCK every minute, and when the time of day was set: clock_timer_taken(&wake->clock) must
 * follow (clock_sampler.h). That does not end the recording either.
 */
void wake_for_clocks(struct wake *wake);

/*
 * Makes the end of the last of the tasks of setup_last_tasks() a reason to stop (WAKE_TIME); also if none of them runs
 * now. A task that cannot be waited for, such as a thread that is not the leader of its process, is ignored.
 */
struct setup;
int must_check wake_tasks(struct wake *wake, const struct setup *setup, struct fail *fail);

/*
 * Waits for a reason to end and for descriptors of the caller. wake_poll() fills the first WAKE_FDS places of `fds`;
 * `nr` is the number of all places. 1: *ret is the reason; 0: a descriptor of the caller is ready, or timeout_ms (-1:
 * no limit) have passed; -errno.
 */
struct pollfd;
enum { WAKE_FDS = 8 };
int must_check wake_poll(struct wake *wake, struct workload *workload, struct pollfd *fds, size_t nr, int timeout_ms,
			 enum wake_reason *ret, int *ret_status, struct fail *fail);

/* Waits for a reason to end. Signals for the command are sent on to it. `workload` may have no process. */
int must_check wake_wait(struct wake *wake, struct workload *workload, enum wake_reason *ret, int *ret_status,
			 struct fail *fail);

#endif
