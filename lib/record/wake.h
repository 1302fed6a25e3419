/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_WAKE_H
#define WEFT_RECORD_WAKE_H

#include "lib/base/cleanup.h"

#include <signal.h>
#include <stdint.h>

struct fail;
struct workload;

/*
 * What a recording waits for: its command, a signal, the end of its time, a recorder that failed. It sleeps in poll();
 * nothing ticks. From wake_init() to wake_release() the stopping signals are blocked in the calling thread, and in the
 * threads it makes.
 */
struct wake {
	int signal_fd, timer_fd, failed_fd;
	sigset_t old_mask;      /* what the command gets */
};

enum wake_reason { WAKE_COMMAND, WAKE_SIGNAL, WAKE_TIME, WAKE_FAILED };

int must_check wake_init(struct wake *wake, struct fail *fail);
void wake_release(struct wake *wake);

/* Starts the clock of a limited recording. */
int must_check wake_after(struct wake *wake, uint64_t ns, struct fail *fail);

/* Waits; signals that are meant for the command are passed on. workload may be without a process. */
int must_check wake_wait(struct wake *wake, struct workload *workload, enum wake_reason *ret, int *ret_status,
			 struct fail *fail);

#endif
