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
 * The directory "OUTPUT.weft-PID.parts" that holds a recording until its file is finished: the metadata and a spool for
 * each CPU of each buffer. The process id in the name keeps two recordings apart. It is what `weft recover` works from.
 * Invariant: it is removed only when the file is finished, or by recover when it holds nothing.
 */
struct parts {
	char *path;
	int dir;
	struct ledger *ledger;
	struct parts_file {     /* what the file will be: known before the first page */
		struct writer_options options;
		bool swap;      /* the file's byte order is not this machine's */
		uint32_t cpu_count;
		uint64_t trace_id;
	} file;
};

#define PARTS_SUFFIX ".parts"

/* Beside `output` unless `temp_dir` is given; output "-" is standard output, its parts are in /var/tmp by default. */
int must_check parts_new(const char *output, const char *temp_dir, struct parts **ret, struct fail *fail);

/* Without a directory and without spools: for a description of what is traced that has no pages. */
int must_check parts_new_in_memory(struct parts **ret, struct fail *fail);

/* A file of this machine's byte order, with an identity of its own. */
struct parts_file parts_file_here(unsigned version, bool compress, int level, uint32_t page_size, uint32_t cpu_count);

/* Says what the file will be; before this there is nothing to recover. */
int must_check parts_describe(struct parts *parts, const struct parts_file *file, struct fail *fail);

/* -EBUSY while the recording runs; -ENODATA when it died before it had begun: nothing to recover. */
int must_check parts_open(const char *path, struct parts **ret, struct fail *fail);
void parts_free(struct parts *parts);

/* The process that made a directory of that name, as parts_new() names them; 0 for any other name: it is nobody's parts. */
pid_t parts_owner(const char *path);

/* Removes the directory and what weft put into it. */
int must_check parts_remove(struct parts *parts, struct fail *fail);
int must_check parts_remove_part(struct parts *parts, uint32_t buffer, uint32_t cpu, struct fail *fail);

/* Whether parts of a recording to `output` lie beside it that no living process records to; *ret: their path, to be freed. */
bool parts_left_behind(const char *output, char **ret);

/* Calls `each` with the path of every such directory, oldest name first; 0 or what `each` returned. */
int must_check parts_each(const char *output, int (*each)(const char *path, void *data), void *data);

#endif
