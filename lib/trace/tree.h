/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACE_TREE_H
#define WEFT_TRACE_TREE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * The texts of a directory that holds copies of tracefs files, read into memory, in the order of their names.
 * Invariants: a file is read once, whole, and bounded by TREE_FILE_MAX; links are followed, but no deeper than
 * TREE_DEPTH_MAX. It owns its texts.
 */
enum { TREE_FILE_MAX = 64 << 20, TREE_DEPTH_MAX = 8 };

struct tree_file {
	char *name;             /* relative: "per_cpu/cpu0/stats" */
	char *text;             /* with a NUL behind len */
	size_t len;
	bool setting;           /* small enough and text: goes into the settings */
};

struct tree {
	struct tree_file *files;
	size_t count, size;
};

/* A directory that does not exist is an empty tree. */
int must_check tree_read(const char *path, struct tree *ret, struct fail *fail);
void tree_release(struct tree *tree);

const struct tree_file *tree_find(const struct tree *tree, const char *name);
const struct tree_file *tree_find_either(const struct tree *tree, const char *name, const char *other);

/* One file; -ENOENT and no words where there is none. */
int must_check tree_read_file(const char *path, char **ret, size_t *ret_len, struct fail *fail);

/* The names in a directory, sorted; none where there is no such directory. The caller frees each and the list. */
int must_check tree_list(const char *path, char ***ret, size_t *ret_count, struct fail *fail);
void tree_list_free(char **names, size_t count);

#endif
