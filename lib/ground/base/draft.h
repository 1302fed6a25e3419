/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_DRAFT_H
#define WEFT_GROUND_BASE_DRAFT_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

enum { DRAFT_NAME = 64 };

/*
 * A file that is written before it gets its final name. Where the filesystem can, it has no name until then, so nobody
 * can exchange it, and nothing of it is left however weft ends. Otherwise it has a random name in `dir`. Invariant: the
 * file that gets the final name is the one that `fd` wrote.
 */
struct draft {
	int dir;               /* borrowed: the directory that it lies in */
	int fd;                /* for reading and writing */
	char name[DRAFT_NAME]; /* "": it has none */
};

/* Makes an empty file of mode 0600 in the directory. */
int must_check draft_new(int dir, struct draft *ret);

/*
 * Gives the draft its final name; with `keep` only if that is free (-EEXIST). -ESTALE: another user has exchanged the
 * file, and the name is not, or not for certain, that of the draft. -EXDEV: `dir` is on another filesystem.
 */
int must_check draft_name(struct draft *draft, int dir, const char *leaf, bool keep);

/* Closes the file, and removes it if it has not got its final name. */
void draft_discard(struct draft *draft);

/* Closes the file, which keeps the name that it has. */
void draft_close(struct draft *draft);

/* Opens a file without a name in the directory of this path; it is gone with its last descriptor. */
int must_check draft_nameless(const char *path, int *ret_fd);

#endif
