/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SYSCALLS_TRACE_H
#define WEFT_ANALYSIS_SYSCALLS_TRACE_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct format;
struct out;
struct schema_abi;

/*
 * Calls as lines, as strace prints those of several tasks: entry and exit are one line, unless another task's call
 * began or ended in between: then the first line ends in "<unfinished ...>", and the second begins with "<... NAME
 * resumed>". Lines stand in order of their times.
 */
struct syscalls_trace {
	struct buf line; /* of the last entry; without its end */
	uint32_t task;   /* the task of the line; SYSCALLS_NOBODY: the line is empty */
};

enum { SYSCALLS_NOBODY = UINT32_MAX };

/* Of the task that a line is of. */
struct syscalls_who {
	uint32_t task, cpu;
	int32_t pid;
	const char *comm;
	uint64_t at;
};

/* The result of a call, and the parts of its time. */
struct syscalls_end {
	const char *error; /* its name; NULL: it is none */
	int64_t returned;
	bool restarts; /* the program does not see it */
	bool known;    /* the entry was seen: */
	bool split;    /* blocked and waiting are known */
	uint64_t lasted, blocked, waiting;
};

void syscalls_trace_release(struct syscalls_trace *trace);

/* False without memory. `raw`: six numbers are all that the event tells. */
bool syscalls_trace_enter(struct syscalls_trace *trace, struct out *out, const struct syscalls_who *who,
			  const char *name, const struct event *event, const struct schema_abi *abi, bool raw);
void syscalls_trace_exit(struct syscalls_trace *trace, struct out *out, const struct syscalls_who *who,
			 const char *name, const struct syscalls_end *end);
/* Something else is printed, or nothing follows: an open line is ended. */
void syscalls_trace_break(struct syscalls_trace *trace, struct out *out);

#endif
