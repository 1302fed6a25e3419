/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_CALL_TEXT_H
#define WEFT_MEANING_EVENT_CALL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/place.h"

struct event;
struct format;
struct out;
struct schema_abi;

/*
 * Writes a system call as a C program would call it: openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3. The
 * source is the events of system syscalls or raw_syscalls; each type of event is bound once. Nothing is invented: a
 * string that the kernel did not record is printed as its address.
 * Borrows the format and the machine.
 */
enum call_side { CALL_NEITHER, CALL_ENTER, CALL_EXIT };

enum { CALL_ARGUMENTS_MAX = 6 };

struct call_text {
	enum call_side side;
	const char *name;    /* "openat"; NULL for raw_syscalls, whose events have the number of the call */
	const char *machine; /* the traced machine as uname -m names it */
	bool wide;           /* whose registers have 64 bits */
	unsigned nr_arguments;
	struct place arguments[CALL_ARGUMENTS_MAX];
	struct place values[CALL_ARGUMENTS_MAX]; /* for a pointer, the data that it pointed to; kernel 6.19 and later */
	struct place number, raw, result;
};

/* Sets CALL_NEITHER for other events, and when a field is missing. */
void call_text_bind(struct call_text *call, const struct format *format, const struct schema_abi *abi,
		    const char *machine);

/* "openat" */
void call_text_name(const struct call_text *call, const struct event *event, struct out *out);

/*
 * For an enter event: prints `AT_FDCWD, "/etc/passwd", O_RDONLY`. `text` is the event as the kernel prints it, or NULL:
 * names of flags that weft does not know are taken from it.
 */
void call_text_arguments(const struct call_text *call, const struct event *event, const char *text, size_t len,
			 struct out *out);

/* For an exit event: *ret is the value that the call returned; true when it is an error. */
bool call_text_result(const struct call_text *call, const struct event *event, int64_t *ret);

/* Prints "3", "-1 ENOENT", or an address. `call` may be bound to the enter or to the exit event. */
void call_text_put_result(const struct call_text *call, int64_t result, struct out *out);

#endif
