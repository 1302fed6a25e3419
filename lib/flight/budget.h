/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_BUDGET_H
#define WEFT_FLIGHT_BUDGET_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;

/*
 * What the files of flights may take of a disk. Only files are counted and removed whose name a flight gives,
 * "HOST-2026-11-25T08-12-03.456-NAME.dat", together with the JSON beside them.
 */
struct budget {
	unsigned max_files;    /* 0: no limit */
	uint64_t max_bytes;    /* 0: no limit */
	unsigned max_per_hour; /* of conditions; 0: no limit */
};

/*
 * Whether a file of about this many bytes can be written: then a twentieth of the filesystem, but no more than a GiB,
 * stays free. -ENOSPC: it cannot.
 */
int must_check budget_check(const char *dir, uint64_t bytes, struct fail *fail);

/*
 * Removes files until the limits are kept: the oldest of the trigger `name` first, then the oldest of others. The first
 * file of each trigger since the machine was booted stays. *ret_removed: their number.
 */
int must_check budget_keep(const struct budget *budget, const char *dir, const char *name, unsigned *ret_removed,
			   struct fail *fail);

#endif
