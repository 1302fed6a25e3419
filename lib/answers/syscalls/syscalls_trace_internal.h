/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SYSCALLS_SYSCALLS_TRACE_INTERNAL_H
#define WEFT_ANSWERS_SYSCALLS_SYSCALLS_TRACE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"

struct event;
struct format;

/*
 * Prints calls as strace does for several tasks: entry and exit are one line, unless a call of another task began or
 * ended between them. Then the first line ends in "<unfinished ...>", and the second begins with "<... NAME resumed>".
 * Lines are ordered by time.
 */
struct syscalls_trace {
	struct buf line;  /* the line of the last entry, without its end */
	struct out names; /* of a value, while its line is made */
	const struct pass *pass;
	const char *machine;  /* that was traced */
	struct u64_map calls; /* struct traced_call by the name of the call */
	uint32_t task;        /* the task of the line; SYSCALLS_NOBODY: the line is empty */
	/* Only some calls are printed (syscalls_end::wanted), each on one line when it ends. */
	bool holds;
	struct u64_map held; /* then the beginnings of lines, `char *` by the task whose call is open */
};

enum { SYSCALLS_NOBODY = UINT32_MAX };

/* The task to which a line belongs. */
struct syscalls_who {
	uint32_t task, cpu;
	int32_t pid;
	const char *comm;
	uint64_t at;
};

/* The result of a call, and the parts of its time. */
struct syscalls_end {
	const char *error; /* the error's name; NULL: no error */
	int64_t returned;
	const char *file; /* what is behind the descriptor that was returned; NULL: none was, or it is not known */
	bool wanted;      /* the line is printed, if not all are */
	bool restarts;    /* the call is restarted; the program does not see it */
	bool known;       /* the entry was seen, and `lasted` is known */
	bool split;       /* `blocked` and `waiting` are known */
	uint64_t lasted, blocked, waiting;
};

/* What is behind a descriptor of the task of this event. NULL: nothing, or the recording knows of no file at all. */
const char *syscalls_file(const struct event *event, int64_t fd);

/* False without memory; it is released even then. Borrows the machine. */
bool must_check syscalls_trace_init(struct syscalls_trace *trace, const struct pass *pass, bool holds);
void syscalls_trace_release(struct syscalls_trace *trace);

/* Returns false when memory runs out. `raw`: the event has only six numbers as arguments. */
bool syscalls_trace_enter(struct syscalls_trace *trace, struct out *out, const struct syscalls_who *who,
			  const char *name, const struct event *event, bool raw);
void syscalls_trace_exit(struct syscalls_trace *trace, struct out *out, const struct syscalls_who *who,
			 const char *name, const struct syscalls_end *end);
/* Ends an open line, because something else is printed or nothing follows. */
void syscalls_trace_break(struct syscalls_trace *trace, struct out *out);

#endif
