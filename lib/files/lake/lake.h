/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_LAKE_LAKE_H
#define WEFT_FILES_LAKE_LAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * A directory in which the tables of many recordings grow. It has a folder for each of its states, named by a number,
 * and the link "current" to the last one. A state is a folder for each table, with files that never change, and the
 * file "loads" with a line for each buffer that was loaded. A new state has the files of the one before as hard links,
 * or others instead; it is complete and on the disk before the link is moved to it, by a rename. So whoever reads
 * through the link sees a state or the next one, and a kill or a full disk leaves the last one. The state before the
 * last stays for those who still read it. No file's name is used twice.
 * Invariant: the directory is its owner's alone (lib/ground/base/trust.h), and one weft at a time changes it; a name
 * that is not of a lake is an error, no link is followed, and nothing is removed that has such a name.
 */
struct lake_load {
	int64_t recording;
	uint64_t instance, first, last, events, gaps;
};

struct lake {
	char *path;
	int dir;          /* locked, unless it is read_only */
	int current;      /* the last state; -1: there is none */
	uint64_t number;  /* of the last state; 0: there is none */
	struct buf loads; /* the text of its file */
	struct buf files; /* the same: for each file its table, name and number of rows */
	struct lake_load *loaded;
	size_t nr_loaded;
	bool read_only; /* for messages: nothing would be changed */
};

#define LAKE_INIT                        \
	{                                \
		.dir = -1, .current = -1 \
	}

enum { LAKE_LOADS_MAX = 1 << 28, LAKE_LINE = 200, LAKE_NAME = 32 };
#define LAKE_LOADS "loads"
#define LAKE_FILES "files"
#define LAKE_METADATA "metadata" /* a folder in that of each table: what others keep there of the table's files */

/*
 * Opens and locks the directory, which with `make` is made if it does not exist, and removes what a killed weft has
 * left. `tables` are the names of all tables and end with NULL.
 */
int must_check lake_open(const char *path, bool make, const char *const *tables, struct lake *ret, struct fail *fail);
void lake_release(struct lake *lake);

/* Whether a buffer was loaded before, as it is or in part: then its events would be counted twice. */
enum lake_known { LAKE_NEW, LAKE_SAME, LAKE_OVERLAPS };
enum lake_known lake_knows(const struct lake *lake, const struct lake_load *load);

/* The line of a load, for the file of the next state. False without memory. */
bool must_check lake_load_put(const struct lake_load *load, struct buf *into);

/*
 * Opens those files of a table that are to be merged: what was added, what was merged before into files of less than
 * `small` bytes, and of those of less than `full` bytes LAKE_AGAIN or more of a day; at most `max`, the oldest first.
 * *ret_nr is 0 if there is nothing to do.
 */
struct lake_input {
	char name[2 * LAKE_NAME];
	int fd;
	uint64_t size;
};

struct lake_choice {
	uint64_t small, full;
	size_t max;
	int (*day)(int fd, const char *table, int64_t *ret, struct fail *fail); /* of the last rows of a file */
};

enum { LAKE_AGAIN = 4 };
int must_check lake_inputs(const struct lake *lake, const char *table, const struct lake_choice *choice,
			   struct lake_input **ret, size_t *ret_nr, struct fail *fail);
void lake_inputs_free(struct lake_input *inputs, size_t nr);

/*
 * Opens all files of a table as a reader sees them, which changes nothing and waits for nobody. -ENOENT: the directory
 * is no lake, or the lake has none. Who owns it does not matter: whoever reads the files does not trust them.
 */
int must_check lake_files(const char *path, const char *table, struct lake_input **ret, size_t *ret_nr,
			  struct fail *fail);

/* The name of the folder of the next state, and the path to it. */
int must_check lake_next(const struct lake *lake, char name[LAKE_NAME], char **ret_path, struct fail *fail);

/*
 * Completes the folder of the next state, which is open, before it gets its name: links the files of the current one
 * for which `kept` returns true, adds its loads and files to those that are there, lets `describe` write into the
 * folder LAKE_METADATA of each table what is to be said of all its files, and writes all to the disk.
 */
struct lake_file {
	char leaf[2 * LAKE_NAME];
	uint64_t rows, size;
};

struct lake_completion {
	bool (*kept)(void *arg, const char *table, const char *leaf);
	int (*describe)(void *arg, const char *table, const struct lake_file *files, size_t nr, int metadata,
			struct fail *fail);
	void *arg;
};

int must_check lake_complete(const struct lake *lake, int folder, const char *const *tables,
			     const struct lake_completion *completion, struct fail *fail);

/* Moves the link to the next state, whose folder has its name, and removes the states before the last. */
int must_check lake_switch(struct lake *lake, struct fail *fail);

#endif
