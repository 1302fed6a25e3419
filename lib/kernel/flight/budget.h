/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_BUDGET_H
#define WEFT_KERNEL_FLIGHT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/ground/base/cleanup.h"

struct budget_files;
struct fail;
struct json;

/* What the files of a flight may take of a disk. */
struct budget {
	unsigned max_files;    /* 0: no limit */
	uint64_t max_bytes;    /* of the disk; 0: no limit */
	unsigned max_per_hour; /* of conditions; 0: no limit */
};

/*
 * Whether a file of about this many bytes can be written: then a twentieth of the filesystem, but no more than a GiB,
 * stays free. -ENOSPC: it cannot.
 */
int must_check budget_check(const char *dir, uint64_t bytes, struct fail *fail);

/*
 * Begins the object of the line beside a file, with its version. By the first two keys a later flight of this name
 * knows that the file is its own.
 */
void budget_begin(struct json *json, const char *file, const char *flight);

/*
 * The files that a flight has written into a directory, where others may write, too: nothing else is counted or
 * removed. At first those that it has left there before: their names begin with this host's,
 * "HOST-2026-11-25T08-12-03.456-NAME.dat", this user owns them, and so does the user own the signed line beside each.
 * `dir` and `flight` are borrowed.
 */
int must_check budget_files_new(const char *dir, const char *flight, struct budget_files **ret, struct fail *fail);
void budget_files_free(struct budget_files *files);

/* Adds the file that was written last. `stat` is that of the descriptor that wrote it. */
int must_check budget_add(struct budget_files *files, const char *path, const struct stat *stat, struct fail *fail);

/*
 * Removes files until the limits are kept: the oldest of the trigger `name` first, then the oldest of others. The first
 * file of each trigger since the machine was booted stays, and so does the newest. *ret_removed: their number.
 */
int must_check budget_keep(const struct budget *budget, struct budget_files *files, const char *name,
			   unsigned *ret_removed, struct fail *fail);

#endif
