/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_RESTORING_INTERNAL_H
#define WEFT_RECORD_RESTORING_INTERNAL_H

#include "lib/base/fail.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct rig;

/*
 * Runs rig_restore() on a thread while the recording ends. When an instance is removed, the kernel waits for all CPUs,
 * for tens of milliseconds; in this time the remaining pages can be saved and the file finished. Invariant: after
 * restoring_end() everything that can be undone is undone; `err` and `fail` have the first failure.
 */
struct restoring {
	struct rig *rig; /* borrowed */
	bool started;
	pthread_t thread;
	sem_t drained;
	int err;
	struct fail fail;
};

/*
 * Starts the thread. Call it after tracing was turned off; from then on the targets of the rig are used only to read
 * their buffers. This call may be left out.
 */
void restoring_start(struct restoring *restoring);

/* Call it after the buffers were read. */
void restoring_go(struct restoring *restoring);
void restoring_end(struct restoring *restoring);

#endif
