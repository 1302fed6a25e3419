/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_WHY_WHY_H
#define WEFT_ANSWERS_WHY_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

/* Which intervals the analysis explains. */
enum why_of {
	WHY_LONGEST, /* the longest call that does not wait for work; without calls the longest wakeup */
	WHY_CALL,    /* calls of a name */
	WHY_WAKEUP,  /* from a wakeup until the task ran */
	WHY_RUN,     /* lives of tasks of a name */
	WHY_MARK,    /* spans that programs mark with a name */
	WHY_TASK,    /* what one task did between two times */
	WHY_REQUEST, /* from when a disk's request was queued until it was completed */
};

/* What is written. */
enum why_form {
	WHY_TABLES,
	WHY_FOLDED,     /* stacks of who waited for whom, added up, as lines of the pass */
	WHY_SPEEDSCOPE, /* the same in the order of time, as the JSON of speedscope */
};

struct why_options {
	uint8_t of; /* enum why_of */
	/*
	 * CALL: the call. RUN, MARK: a glob for the name of the task or span. TASK: a PID, or a glob for its name.
	 * NULL: all of that kind, but no calls that wait for work.
	 */
	const char *name;
	uint64_t slowest;  /* how many of the longest; 0: 1 */
	uint64_t from, to; /* TASK; 0: from the first event, to the last one */
	bool tree;         /* shows the path in the order of time */
	uint8_t form;      /* enum why_form */
	uint8_t by;        /* 0: tasks are named; else enum who_part, + 1: whom they belonged to then */
	bool all;          /* adds up all of them */
	uint32_t slow;     /* what so many per million, the slowest of all, do that the others do not; 0: not */
};

/* Whether all intervals count, and not only the longest. */
static inline bool why_adds(const struct why_options *options)
{
	return options->all || options->slow;
}

/*
 * The longest call, or the longest wakeup, and where its time went in one sentence: why_tell(). For answers that have
 * the analysis `why` beside others, as a brief or a summary.
 */
struct why_told {
	const char *what, *comm; /* "openat", "wakeup"; of the task. The analysis owns them */
	int32_t pid;
	uint32_t cpu;
	uint64_t from, to;
	uint64_t unknown;   /* ns of it that no event explains */
	char sentence[384]; /* "90 % of the 334.9 ms: sleep-117 slept on its own timer" */
};

/*
 * `analysis` is of why_analysis, without options or for WHY_LONGEST, and its finish() was called; `of` is WHY_CALL or
 * WHY_WAKEUP. 1: *ret tells. 0: the events have no such interval. -ENOMEM.
 */
int must_check why_tell(const void *analysis, enum why_of of, struct why_told *ret);
/* Whether a call of this name waits until there is work, so that a long one tells of nothing. */
bool why_waits_for_work(const char *name);
/* The same, also of one that may wait for what another task sends, as read does. */
bool why_may_wait(const char *name);

struct path;

/*
 * The paths of all calls and wakeups that it kept, by when they began: why_options::slowest of each. -ENOMEM. Their
 * texts are the analysis's; why_paths_free() frees the rest.
 */
int must_check why_paths(const void *analysis, struct path **ret, size_t *ret_nr);
void why_paths_free(struct path *paths, size_t nr);

/* How much before and after an interval is read: who set a timer or queued a request may have done so before. */
static const uint64_t WHY_LOOKBACK = UINT64_C(1000000000);

#endif
