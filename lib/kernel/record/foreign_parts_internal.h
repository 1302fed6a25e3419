/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_FOREIGN_PARTS_INTERNAL_H
#define WEFT_KERNEL_RECORD_FOREIGN_PARTS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"

struct fail;
struct parts;

/*
 * Parts whose content came from another machine (arrival.h), and so may be hostile: their pages, formats and symbols
 * are read by a process of its own in the sandbox of readers (lib/ground/base/sandbox.h), which has the files open that
 * it needs. No instance of this machine belongs to such parts.
 */
bool foreign_parts_are(const struct parts *parts);

/* What was written, as in struct recovery (recovery.h). */
struct foreign_parts_written {
	uint64_t file_size, raw, torn;
	unsigned cpus;
	struct cpus lost;
};

/* Makes the file `output`. The parts stay. */
int must_check foreign_parts_write(struct parts *parts, const char *output, mode_t mode, bool keep,
				   struct foreign_parts_written *ret, struct fail *fail);

#endif
