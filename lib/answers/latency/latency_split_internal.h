/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_SPLIT_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_SPLIT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/history.h"
#include "lib/answers/frame/slowest.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/state/state.h"

/* The parts of a wakeup, or of a sample of timerlat. They add up to its time. */
enum part {
	PART_ENQUEUE, /* from sched_waking to sched_wakeup */
	PART_IDLE,    /* the CPU was idle and had to leave its idle state */
	PART_HARD,
	PART_SOFT,
	PART_BEFORE, /* the current task ran on; no event had need-resched set yet */
	PART_AFTER,  /* the current task ran on although one had: preemption or interrupts were off */
	PART_OTHERS, /* other tasks ran first */
	PART_OWN,    /* of a sample: the measuring thread itself ran, until it read the clock */
	PART_UNKNOWN,
	PART_NMI, /* of a sample: only events of osnoise report it */
	PARTS,
};

struct late {
	uint64_t lasted, at;
	uint64_t parts[PARTS];
	uint32_t task, cpu;
	uint32_t before; /* the task that had the CPU; STATE_NO_TASK: unknown */
	uint32_t other;  /* the task with the largest sum in PART_OTHERS */
	struct waker waker;
	int32_t prio, before_prio, other_prio; /* when the wait ended; -1: not known */
	/* What the culprit called before the longest gap without a call, which lasted this long; 0: not known. */
	uint64_t function, caller, gap;
	uint32_t stack; /* where latency_culprit() left the CPU, in struct late_stacks; 0: not known */
	bool preempted; /* the wait began when the task lost its CPU: there is no task before it but those that ran */
	char comm[TASK_COMM_LEN]; /* of the waiting task when it ran; "": not known */
	bool fresh;               /* the task is new, and runs for the first time */
	const char *kind;         /* of a sample: "irq" or "thread"; NULL: it is a wakeup */
};

/* The longest cases, the longest first. */
struct lates {
	struct slowest slowest;
};

static inline void lates_init(struct lates *lates, size_t worst, uint64_t longer)
{
	slowest_init(&lates->slowest, sizeof(struct late), worst, longer);
}

static inline struct late *lates_at(const struct lates *lates, size_t index)
{
	return (struct late *)lates->slowest.items + index;
}

/*
 * Keeps the case if it is among the longest, with the priorities that its other tasks have now. Returns false when
 * memory runs out.
 */
bool must_check lates_keep(struct lates *lates, const struct state *state, const struct late *late);

/* Returns the largest part, and the task that it is due to; STATE_NO_TASK: to none. Its priority: -1 unknown. */
enum part latency_most(const struct late *late);
uint32_t latency_culprit(const struct late *late);
int32_t latency_culprit_prio(const struct late *late);

/* Splits the time from `since` until late->at, in which the wait went on, into the parts of `late`. */
void latency_split(struct history *history, const struct history_wait *wait, struct late *late);

#endif
