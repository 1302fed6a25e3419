/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_FILES_INTERNAL_H
#define WEFT_MEANING_FOLLOW_FILES_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/files.h"

enum { FILES_NO_TABLE = UINT32_MAX };

/* A table of descriptors, which the threads of a process share. What is not in it is as in `from` at its `since`. */
struct files_table {
	uint32_t from; /* a table before this one; FILES_NO_TABLE: there is none */
	uint64_t since;
	bool listed;   /* all its descriptors of the start are known */
	bool executed; /* it is the copy of an exec, which closes what has FILES_CLOSES */
};

/* From `since` on a task uses a table. */
struct files_user {
	uint64_t since;
	int32_t pid;
	uint32_t table;
};

/* From `since` on, a file is behind a descriptor. */
struct files_word {
	uint64_t since;
	uint32_t table;
	int32_t fd;
	uint32_t file;
	bool closes; /* an exec closes it */
};

/* At `since`, close_range() closed these descriptors, or marked them so that an exec closes them. */
struct files_range {
	uint64_t since;
	uint32_t table;
	uint32_t first, last;
	bool at_exec;
};

/* From `since` on, a socket has other addresses: it is told as `to`. */
struct files_rename {
	uint64_t since;
	uint32_t file, to;
};

struct files_name {
	uint64_t ts, pointer;
	int32_t pid;
	uint32_t file;
};

/* A request of io_uring. */
struct files_uring {
	uint64_t since, until, asked; /* asked: when its descriptor was looked up */
	int64_t result;
	int32_t pid, fd; /* -1: it has none */
	uint32_t file;   /* of a fixed one; FILES_UNKNOWN: it is not told, or not fixed */
	uint32_t operation;
	bool fixed, done, failed;
};

struct files {
	struct context_later later; /* first: the context frees it */
	const struct context *context;
	pthread_mutex_t lock;
	atomic_bool loaded;
	bool known;
	struct files_table *tables;
	size_t nr_tables;
	/* All in the order of their keys and, for one key, of time. */
	struct files_user *users; /* by pid */
	size_t nr_users;
	struct files_word *words; /* by table and fd */
	size_t nr_words;
	struct files_range *ranges; /* by table */
	size_t nr_ranges;
	struct files_name *names; /* by pid */
	size_t nr_names;
	struct files_rename *renames; /* by file */
	size_t nr_renames;
	struct files_uring *urings; /* in the order of time */
	size_t nr_urings;
	uint64_t *losses; /* the times at which events were missing */
	size_t nr_losses;
	uint32_t *at; /* by file: the offset of its text */
	size_t nr_at;
	struct buf texts;      /* each ends with a NUL */
	struct u64_map hashes; /* of a text: uint32_t, the file */
	struct u64_map inodes; /* by files_inode_key(): uint32_t, the file */
	bool starved;
};

uint64_t files_inode_key(uint32_t device, uint64_t inode);

/* Fills it. What cannot be read is missing. */
void files_load(struct files *files);

/* The table that the task used last; FILES_NO_TABLE: unknown. */
uint32_t files_table_at(const struct files *files, int32_t pid, uint64_t ts);

#endif
