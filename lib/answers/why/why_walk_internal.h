/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_WHY_WHY_WALK_INTERNAL_H
#define WEFT_ANSWERS_WHY_WHY_WALK_INTERNAL_H

#include "lib/answers/why/why_log_internal.h"

/*
 * The walk back from the end of an interval. While the task was blocked, what counts is what the one that woke it did,
 * from the beginning of the sleep until it woke it; and so on. So all links lie in the interval, do not overlap, and
 * their times add up to it.
 */
enum why_state {
	WHY_UNKNOWN,
	WHY_RAN,
	WHY_EARLIER,     /* ran, before it received anything since the one that waits for it sent something */
	WHY_WAITED,      /* for a CPU, behind `cause` */
	WHY_INTERRUPTED, /* by `cause` */
	WHY_SLEPT,       /* on its own timer */
	WHY_TIMER,       /* waited for a timer that another one set */
	WHY_LATE,        /* its timer was due */
	WHY_DISK,        /* the device worked on a request */
	WHY_DONE,        /* the device was done, and its interrupt or softirq was not */
	WHY_NETWORK,     /* a packet was under way */
	WHY_SOFTIRQ,     /* a softirq was raised, and had not yet acted */
	WHY_IPI,         /* an interrupt was sent to another CPU, and had not yet acted */
	WHY_INTERRUPT,   /* waited for an interrupt of which only the name is known */
	WHY_STATES
};

struct why_link {
	uint64_t from, to;
	int32_t pid;    /* whose time it is; 0: of no task */
	uint32_t name;  /* of the task then: why_log_text() */
	uint32_t cause; /* whom or what it waited for: why_log_text(); 0: none */
	uint16_t depth; /* number of wakers from the task of the interval on */
	uint16_t cpu;   /* RAN, EARLIER, WAITED, INTERRUPTED: where */
	uint8_t state;  /* enum why_state */
	uint8_t reason; /* UNKNOWN: enum why_reason */
};

struct why_path {
	struct why_link *links; /* in the order of time */
	size_t nr;
	bool failed;
};

/* What `pid` did from `from` to `to`, and those that it waited for. False: no memory. */
bool why_walk(struct why_log *log, int32_t pid, uint64_t from, uint64_t to, struct why_path *ret);
/* The same of a request that was completed at `to`, from when it was queued on. */
bool why_walk_request(struct why_log *log, const struct cause *request, uint64_t to, struct why_path *ret);
/* Whether the links follow one another from `from` to `to`. */
bool why_path_adds_up(const struct why_path *path, uint64_t from, uint64_t to);

#endif
