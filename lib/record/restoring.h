/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RESTORING_H
#define WEFT_RECORD_RESTORING_H

#include "lib/base/fail.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

struct shared;
struct switches;
struct target;
struct undo;

/*
 * Puts everything back as it was before a recording, beside the end of the recording itself: removing an instance makes the
 * kernel wait for all CPUs, tens of milliseconds in which the rest of the pages can be saved and the file be finished.
 * Invariant: when restoring_end() returns all that can be undone is; err and fail say what could not.
 * Borrows targets and undo; closes the targets' instances and leaves `cmdlines`.
 */
struct restoring {
	struct target *targets;
	size_t nr_targets;
	struct undo *undo;
	struct shared *cmdlines;
	struct switches *switches;      /* of the targets: closed before an instance is removed */
	bool started;
	pthread_t thread;
	sem_t drained;
	int err;
	struct fail fail;
};

/* Tracing is off and nothing is asked of the targets any more, but their buffers are still read. May be left out. */
void restoring_start(struct restoring *restoring);

/* Nothing is read from the buffers any more. */
void restoring_go(struct restoring *restoring);
void restoring_end(struct restoring *restoring);

#endif
