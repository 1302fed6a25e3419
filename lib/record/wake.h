/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_WAKE_H
#define WEFT_RECORD_WAKE_H

#include "lib/base/cleanup.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;
struct switches;
struct workload;

/*
 * What a recording waits for: its command, a signal, the end of its time, a recorder that failed. It sleeps in poll();
 * nothing ticks that was not asked for. From wake_init() to wake_release() the stopping signals are blocked in the calling thread, and in the
 * threads it makes.
 */
struct wake {
	int signal_fd, timer_fd, failed_fd;
	int sync_fd; /* the timer of wake_every() */
	int *tasks;  /* pidfds of wake_tasks(); -1: has ended */
	size_t nr_tasks, nr_running;
	int tasks_fd;              /* an epoll of them, where there are some */
	sigset_t old_mask;         /* what the command gets */
	struct switches *switches; /* turned off as the first thing once there is a reason; NULL: none */
};

/* Before wake_init(): nothing to release. */
#define WAKE_NONE                                                               \
	{                                                                       \
		.signal_fd = -1, .timer_fd = -1, .failed_fd = -1, .sync_fd = -1 \
	}

enum wake_reason { WAKE_COMMAND, WAKE_SIGNAL, WAKE_TIME, WAKE_FAILED, WAKE_SYNC };

int must_check wake_init(struct wake *wake, struct fail *fail);
void wake_release(struct wake *wake);

/* Starts the clock of a limited recording; again, once it has run out, for another time. */
int must_check wake_after(struct wake *wake, uint64_t ns, struct fail *fail);

/* Gives WAKE_SYNC again and again, which is no end: nothing is turned off. */
int must_check wake_every(struct wake *wake, uint64_t ns, struct fail *fail);

/*
 * The end of the last of these processes is a reason, WAKE_TIME; so is that none of them runs. Where that cannot be waited for, as for a
 * thread that does not lead its process, it is none.
 */
void wake_tasks(struct wake *wake, const pid_t *pids, size_t nr);

/*
 * Looks for a reason, and for what the caller waits for besides: `fds` has WAKE_FDS places in front that are filled here, nr in
 * all. 1 and the reason; 0: one of the others is ready, or timeout_ms (-1: none) are over.
 */
struct pollfd;
enum { WAKE_FDS = 6 };
int must_check wake_poll(struct wake *wake, struct workload *workload, struct pollfd *fds, size_t nr, int timeout_ms,
			 enum wake_reason *ret, int *ret_status, struct fail *fail);

/* Waits; signals that are meant for the command are passed on. workload may be without a process. */
int must_check wake_wait(struct wake *wake, struct workload *workload, enum wake_reason *ret, int *ret_status,
			 struct fail *fail);

#endif
