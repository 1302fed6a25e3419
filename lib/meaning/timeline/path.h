/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_PATH_H
#define WEFT_MEANING_TIMELINE_PATH_H

#include <stddef.h>
#include <stdint.h>

/*
 * What an interval of a task waited for, as slices that lie one inside the other. An answer makes it
 * (lib/answers/why/why.h: why_paths()), and files and pictures show it. Who makes it owns all texts.
 */
struct path_task {
	int32_t pid;
	const char *comm; /* that it had then; "": not known */
};

/* The links of a path follow one another, and their times add up to it. */
struct path_link {
	uint64_t from, to;
	struct path_task task; /* whose time it is; PID 0: of no task, as of a disk */
	const char *state;     /* "ran", "waited", "disk" */
	const char *cause;     /* "behind node"; "": none */
	unsigned depth;        /* how many tasks are waited for one after the other */
	/* From the task of the interval to the one whose time it is: each waits for the next. At most `depth` + 1. */
	struct path_task *chain;
	unsigned nr_chain;
};

struct path {
	const char *kind; /* "call", "wakeup" */
	const char *name; /* "openat", "wakeup" */
	struct path_task task;
	uint64_t from, to;
	uint64_t unknown; /* ns of it that no event explains */
	const struct path_link *links;
	size_t nr_links;
};

#endif
