/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RECOVERY_H
#define WEFT_RECORD_RECOVERY_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;

/*
 * Makes a file of what a killed recording left. Its instance, if it is still there, is stopped and read to the end first,
 * so that usually nothing is missing. Everything is verified: each frame is decompressed, and what is torn is left out and
 * counted. The parts go when the file is whole and on the disk; before that nothing is given up that they do not hold. An
 * instance is believed to be that of the parts when the journal of its recording, root's own, says so.
 * The instance and the settings are put back by others (lib/undo/undo).
 */
struct recovery {
	char *output;            /* written */
	uint64_t file_size, raw; /* bytes of the file, and of pages in it */
	uint64_t drained;        /* of those pages, what came from the kernel just now */
	uint64_t torn;           /* bytes that were dropped */
	unsigned cpus;           /* with pages */
};

/* `output` NULL: as the parts are named, -EEXIST if there is such a file. `mode` is that of the file. `ret` is filled on success. */
int must_check recovery_run(const char *parts, const char *output, mode_t mode, struct recovery *ret,
			    struct fail *fail);
void recovery_release(struct recovery *recovery);

/*
 * Puts back what killed recordings left changed in tracefs. *ret: how many of them. `waits` is called with the parts of each
 * recording that waits for its own recovery: with its settings its instance would go, and what is in it.
 */
int must_check recovery_undo(void (*waits)(const char *parts), unsigned *ret, struct fail *fail);

#endif
