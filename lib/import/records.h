/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_RECORDS_H
#define WEFT_IMPORT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct graph_call;
struct head;
struct import_kinds;
struct import_names;

/*
 * Makes the records of entries that the kernel prints in C. What a line's head tells is left to the caller, but for the
 * type. All is borrowed. They are false without memory.
 */
struct records {
	struct import_kinds *kinds;
	struct import_names *names;
	struct buf *record;
};

/* "vfs_statx <-vfs_fstatat"; false, too: the line is none. */
bool records_function(const struct records *make, const struct head *head);

/* "tracing_mark_write: TEXT" */
bool records_mark(const struct records *make, const struct buf *mark);

/* "<stack trace>" and lines " => vfs_read"; addresses are little-endian. */
bool records_stack(const struct records *make, const struct buf *addresses);

/* "<user stack trace>" and lines " =>  <0000000000473bf3>" */
bool records_user_stack(const struct records *make, int32_t process, const struct buf *addresses);

/* Adds the address of such a line; false, too: the line is none. */
bool records_caller(const struct records *make, const char *line, size_t len, struct buf *addresses);
bool records_user_caller(const char *line, size_t len, struct buf *addresses);

/* funcgraph_entry or funcgraph_exit */
bool records_call(const struct records *make, const struct graph_call *call, bool retval);

/* Sets the overruns of the funcgraph_exit that was made last. */
void records_overrun(const struct records *make, uint32_t count);

#endif
