/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_PARTS_H
#define WEFT_KERNEL_RECORD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/pages/trace/writer.h"

struct fail;
struct ledger;
struct ledger_item;
struct page_shape;

/*
 * The parts directory (parts_name.h) holds a recording until its file is finished: the metadata (ledger), a spool for
 * each CPU of each buffer, and the unfinished file. `weft recover` works from it.
 *
 * Invariants: it is removed only when the file is finished, or by recover if it holds nothing. It is trusted only if it
 * and everything in it belong to this user or to root, and no other user may write there. Everything in it is opened
 * relative to `dir`, by names without a slash, and no symbolic link is followed.
 */
struct parts {
	char *path; /* for messages: another directory may have the name now */
	int above;  /* the directory that they lie in (O_PATH) */
	int dir;
	char secret[PARTS_SECRET]; /* random digits that prove that an instance belongs to these parts; "" in memory */
	struct ledger *ledger;
	struct parts_file { /* properties of the file to make, known before the first page */
		struct writer_options options;
		bool swap; /* the file and this machine differ in their byte order */
		uint32_t cpu_count;
		uint64_t trace_id;
	} file;
};

/* Makes the directory, with a path of parts_name_new(). Fails at once if the output could not be written at the end. */
int must_check parts_new(const char *output, const char *temp_dir, struct parts **ret, struct fail *fail);

/* The same without a directory and without spools, for a file that describes the tracing and has no pages. */
int must_check parts_new_in_memory(struct parts **ret, struct fail *fail);

/* The properties of a file in this machine's byte order, with a new random identity. `shape`: of its pages. */
struct parts_file parts_file_here(unsigned version, bool compress, int level, const struct page_shape *shape,
				  uint32_t cpu_count);

/*
 * Parses a LEDGER_BUFFER item, "4096 local": the size of a sub-buffer in bytes, and the clock, which borrows from the
 * item. -EBADMSG: no kernel has sub-buffers of that size.
 */
int must_check parts_buffer(const struct ledger_item *item, uint32_t *ret_page_size, const char **ret_clock,
			    struct fail *fail);

/* Stores the properties of the file. Before this call there is nothing to recover. */
int must_check parts_describe(struct parts *parts, const struct parts_file *file, struct fail *fail);

/* Parses what it stores. -EBADMSG: the text is of another version, or damaged; nobody's fail has a text. */
int must_check parts_parse_file(const char *text, struct parts_file *ret);

/*
 * Opens existing parts. -EBUSY: the recording runs. -ENODATA: it died before it began, so there is nothing to recover.
 * -EPERM: the parts are not trusted.
 */
int must_check parts_open(const char *path, struct parts **ret, struct fail *fail);
void parts_free(struct parts *parts);

/* Adds to the text of -EPERM what the user can do. Returns `err`. */
int parts_disbelieved(int err, struct fail *fail);

/* Removes the directory and the files that weft made in it. */
int must_check parts_remove(struct parts *parts, struct fail *fail);
int must_check parts_remove_part(struct parts *parts, uint32_t buffer, uint32_t cpu, struct fail *fail);

/*
 * The same for parts in which nothing was recorded (-ENODATA of parts_open()). -EBUSY: the process that made them
 * lives, in whichever PID namespace. -EEXIST: something was recorded.
 */
int must_check parts_discard(const char *path, struct fail *fail);

/*
 * The first makes the unfinished file under a temporary name. The second opens one that was made before, by its name.
 */
enum { PARTS_NAME = 32 };
int must_check parts_unfinished_new(const struct parts *parts, char ret_name[PARTS_NAME], int *ret_fd,
				    struct fail *fail);
int must_check parts_unfinished_open(const struct parts *parts, const char *name, int *ret_fd, struct fail *fail);

/*
 * Whether there are parts of a recording to `output` beside it that no running process writes. The caller frees *ret,
 * their path.
 */
bool parts_left_behind(const char *output, char **ret);

#endif
