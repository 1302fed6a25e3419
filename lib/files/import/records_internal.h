/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_RECORDS_INTERNAL_H
#define WEFT_FILES_IMPORT_RECORDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct graph_call;
struct head;
struct import_kinds;
struct import_names;
struct column_layout;

/* The arguments of a call, and the comment behind it, have at most this many bytes. */
enum { RECORDS_TEXT_MAX = 4000 };

/* The kernel records at most so many callers of a program: FTRACE_STACK_ENTRIES. */
enum { RECORDS_USER_CALLERS = 8 };

/*
 * Makes the records of entries that the kernel prints by code of its own, without a print fmt. Of the common fields
 * only the type is set; the caller sets the others. All members are borrowed. The functions return false when memory
 * runs out.
 */
struct records {
	struct import_kinds *kinds;
	struct import_names *names;
	struct column_layout *shape;
	struct buf *record;
};

/*
 * Returns the address of a place in a function: "vfs_read", "vfs_read+0x10/0x80 [mod] <ffffffff81234567>", also without
 * some of these; 0 for any other text, or when memory runs out.
 */
uint64_t records_address(const struct records *make, const char *at, size_t len);

/*
 * Makes a record of numbers, one for each of the fields, which are given as in kinds.c. Numbers are cut to the size of
 * their field.
 */
bool records_numbers(const struct records *make, const char *system, const char *name, const char *fields,
		     const uint64_t *values);

/*
 * Reads "vfs_statx <-vfs_fstatat", also without the caller, with offsets and addresses (sym-offset, sym-addr), and with
 * arguments (func-args). Also returns false for any other text.
 */
bool records_function(const struct records *make, const struct head *head);

/*
 * Makes a record of a text that no other record can have: its line is printed again as it is. Also returns false for a
 * text that is too long.
 */
bool records_line(const struct records *make, const char *text, size_t len);

/*
 * Returns the length of "tracing_mark_write: ", where sym-offset and sym-addr may have put more behind the name, and
 * the address of that place. 0: the text begins with anything else.
 */
size_t records_marker(const struct records *make, const char *text, size_t len, uint64_t *ret_ip);

/* Makes the record of "FUNCTION: TEXT", which has no newline of its own: trace_printk(). */
bool records_printk(const struct records *make, uint64_t ip, const char *text, size_t len);

/* Makes the record of "tracing_mark_write: TEXT". */
bool records_mark(const struct records *make, uint64_t ip, const struct buf *mark);

/* Makes the record of "<stack trace>" and its lines " => vfs_read"; addresses are little-endian. */
bool records_stack(const struct records *make, const struct buf *addresses);

/* Makes the record of "<user stack trace>" and its lines " =>  <0000000000473bf3>". */
bool records_user_stack(const struct records *make, int32_t process, const struct buf *addresses);

/* Adds the address of such a line. Also returns false for any other line. */
bool records_caller(const struct records *make, const char *line, size_t len, struct buf *addresses);
bool records_user_caller(const char *line, size_t len, struct buf *addresses);

/* Whether it is such a line with the name of a file: " => /usr/lib/libc.so.6[+0x9e3ba]", an address may follow. */
bool records_is_object(const char *line, size_t len);

/* Makes a record of funcgraph_entry or funcgraph_exit. It has only the fields that the line had. */
bool records_call(const struct records *make, const struct graph_call *call);

/* Sets the overruns of the funcgraph_exit that was made last. */
void records_overrun(const struct records *make, uint32_t count);

#endif
