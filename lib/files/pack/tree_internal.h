/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_PACK_TREE_INTERNAL_H
#define WEFT_FILES_PACK_TREE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct folder;

/*
 * The texts of a directory with copies of tracefs files, read into memory, in the order of their names.
 * Invariants: a file is read once, whole, and bounded (whole_file.h); no link is followed, and nothing is read below
 * TREE_DEPTH_MAX (folder_internal.h). It owns its texts.
 */
enum { TREE_DEPTH_MAX = 8 };

struct tree_file {
	char *name; /* relative: "per_cpu/cpu0/stats" */
	char *text; /* followed by a NUL that len does not count */
	size_t len;
	bool setting; /* a text, and small enough to become a setting */
};

struct tree {
	struct tree_file *files;
	size_t count;
};

/* Reads what is below `root` of the folder. A directory that does not exist gives an empty tree. */
int must_check tree_read(struct folder *folder, const char *root, struct tree *ret, struct fail *fail);
void tree_release(struct tree *tree);

const struct tree_file *tree_find(const struct tree *tree, const char *name);

#endif
