/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RESTORING_H
#define WEFT_RECORD_RESTORING_H

#include "lib/base/fail.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct rig;

/*
 * rig_restore() on a thread of its own, beside the end of the recording: removing an instance makes the kernel wait for all CPUs, tens of
 * milliseconds in which the rest of the pages can be saved and the file be finished.
 * Invariant: when restoring_end() returns, all that can be undone is; err and fail say what could not.
 */
struct restoring {
	struct rig *rig; /* borrowed */
	bool started;
	pthread_t thread;
	sem_t drained;
	int err;
	struct fail fail;
};

/* Tracing is off and nothing is asked of the rig's targets any more, but their buffers are still read. May be left out. */
void restoring_start(struct restoring *restoring);

/* Nothing is read from the buffers any more. */
void restoring_go(struct restoring *restoring);
void restoring_end(struct restoring *restoring);

#endif
