/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_RECOVERY_H
#define WEFT_KERNEL_RECORD_RECOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/kernel/record/parts_name.h"

struct fail;
struct tracing;

/*
 * Makes a file from the parts that a killed recording left. If its instance still exists, tracing is turned off there
 * and the buffer is read to its end first, so that usually nothing is missing. Each frame is decompressed to verify it;
 * torn data is left out and counted. The parts are removed when the file is complete and synced. Before that, a spool
 * is given up only after its pages are in the unfinished file, which is also in the parts. An instance is used only if
 * root's journal of the recording says that it belongs to these parts. lib/kernel/undo/undo restores the settings and
 * removes the instance. Parts of another machine (arrival.h) are read in a sandbox and stay until the file is complete.
 */
struct recovery {
	char *output;            /* path of the file that was written */
	uint64_t file_size, raw; /* bytes of the file, and of pages in it */
	uint64_t drained;        /* bytes of pages that were read from the kernel by this recovery */
	uint64_t torn;           /* bytes of torn data that were left out */
	unsigned cpus;           /* number of CPUs with pages */
	unsigned gaps;           /* CPUs of which a recorder was taking pages when it was killed: these are lost */
	struct cpus lost;        /* CPUs that were recorded and whose spool is not in the parts: what it had is lost */
	bool unread; /* what the kernel still held could not be read: an instance of it is gone or not its own */
	char secret[PARTS_SECRET]; /* of the parts: says to recovery_undo() which recording need not wait any more */
};

/*
 * `output` NULL: the file gets the name of the parts; -EEXIST: that file exists. `mode` is the mode of the file. `ret`
 * is filled on success.
 */
int must_check recovery_run(const char *parts, const char *output, mode_t mode, struct recovery *ret,
			    struct fail *fail);
void recovery_release(struct recovery *recovery);

/*
 * Restores the settings that killed recordings have left changed. *ret: the number of these recordings. Restoring them
 * removes the recording's instance with its events. So a recording waits whose parts still exist, or whose parts are
 * not where they were while its instance has events: `waits` is called with the path of its parts and with the number
 * of these events (0: the parts exist). The recording that was `done` (or NULL) and read whole does not wait.
 */
typedef void recovery_waits(const char *parts, uint64_t events);
int must_check recovery_undo(const struct recovery *done, recovery_waits *waits, unsigned *ret, struct fail *fail);

/*
 * What is left of the killed recording to which a journal belongs: its parts are still where they were. False: the
 * journal belongs to no recording, or its parts are gone. The caller frees `parts`.
 */
struct recovery_left {
	char *parts;
	uint64_t events;  /* that the kernel still holds in the recording's instances */
	bool of_instance; /* one of these is the instance that was asked about */
};
bool recovery_left(const char *journal, const struct tracing *tracing, const char *instance, struct recovery_left *ret);

/* Restores what the process of this PID, which was killed, has changed, whatever it was. Its events go. */
int must_check recovery_undo_of(pid_t pid, struct fail *fail);

/*
 * Does both for one recording: makes the file, and restores what the process that made the parts has changed. -ENODATA:
 * it was killed before anything was recorded; its settings are restored. After another error nothing is.
 */
int must_check recovery_take_over(const char *parts, const char *output, mode_t mode, struct recovery *ret,
				  struct fail *fail);

#endif
