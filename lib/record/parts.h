/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_PARTS_H
#define WEFT_RECORD_PARTS_H

#include "lib/base/cleanup.h"
#include "lib/trace/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fail;
struct ledger;

/*
 * The directory (parts_name.h) that holds a recording until its file is finished: the metadata, a spool for each CPU of each
 * buffer, and the file itself while it is made. It is what `weft recover` works from.
 * Invariants: it is removed only when the file is finished, or by recover when it holds nothing. It is believed only if it
 * and all that is in it belong to this user or to root and nobody else may write; everything in it is opened below `dir`,
 * by names without a slash, and no link is followed.
 */
struct parts {
	char *path;
	int dir;
	char secret[17]; /* random: nobody else can tell that parts are those of an instance; "" in memory */
	struct ledger *ledger;
	struct parts_file { /* what the file will be: known before the first page */
		struct writer_options options;
		bool swap; /* the file's byte order is not this machine's */
		uint32_t cpu_count;
		uint64_t trace_id;
	} file;
};

/* Named by parts_name_new(). Says no at once to an output that could not be written at the end. */
int must_check parts_new(const char *output, const char *temp_dir, struct parts **ret, struct fail *fail);

/* Without a directory and without spools: for a description of what is traced that has no pages. */
int must_check parts_new_in_memory(struct parts **ret, struct fail *fail);

/* A file of this machine's byte order, with an identity of its own. */
struct parts_file parts_file_here(unsigned version, bool compress, int level, uint32_t page_size, uint32_t cpu_count);

/* Says what the file will be; before this there is nothing to recover. */
int must_check parts_describe(struct parts *parts, const struct parts_file *file, struct fail *fail);

/* -EBUSY while the recording runs; -ENODATA when it died before it had begun: nothing to recover; -EPERM: not believed. */
int must_check parts_open(const char *path, struct parts **ret, struct fail *fail);
void parts_free(struct parts *parts);

/* Says what can be done about -EPERM; returns `err`. */
int parts_disbelieved(int err, struct fail *fail);

/* Removes the directory and what weft put into it. */
int must_check parts_remove(struct parts *parts, struct fail *fail);
int must_check parts_remove_part(struct parts *parts, uint32_t buffer, uint32_t cpu, struct fail *fail);

/* The same for parts that cannot be opened because nothing was recorded (-ENODATA of parts_open). */
int must_check parts_discard(const char *path, struct fail *fail);

/* The file under the name that it has while it is made; and one of an earlier try, by its name. */
enum { PARTS_NAME = 32 };
int must_check parts_unfinished_new(const struct parts *parts, char ret_name[PARTS_NAME], int *ret_fd,
				    struct fail *fail);
int must_check parts_unfinished_open(const struct parts *parts, const char *name, int *ret_fd, struct fail *fail);

/* Whether parts of a recording to `output` lie beside it that no living process records to; *ret: their path, to be freed. */
bool parts_left_behind(const char *output, char **ret);

#endif
