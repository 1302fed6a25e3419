/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RECOVERY_H
#define WEFT_RECORD_RECOVERY_H

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * Makes a file of what a killed recording left. Its instance, if it is still there, is stopped and read to the end first,
 * so that usually nothing is missing. Everything is verified: each frame is decompressed, and what is torn is left out and
 * counted. The parts go when the file is whole. The instance and the settings are put back by others (lib/kernel/undo).
 */
struct recovery {
	char *output;                   /* written */
	uint64_t file_size, raw;        /* bytes of the file, and of pages in it */
	uint64_t drained;               /* of those pages, what came from the kernel just now */
	uint64_t torn;                  /* bytes that were dropped */
	unsigned cpus;                  /* with pages */
};

/* `output` NULL: as the recording was asked to, -EEXIST if there is such a file. `ret` is filled on success. */
int must_check recovery_run(const char *parts, const char *output, struct recovery *ret, struct fail *fail);
void recovery_release(struct recovery *recovery);

/* Puts back what killed recordings left changed in tracefs. *ret: how many of them. */
int must_check recovery_undo(unsigned *ret, struct fail *fail);

#endif
