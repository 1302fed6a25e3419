/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_SPLIT_H
#define WEFT_ANALYSIS_LATENCY_SPLIT_H

#include "lib/analysis/timeline.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of a wakeup, or of a sample of timerlat, which add up to it. */
enum part {
	PART_ENQUEUE, /* from sched_waking to sched_wakeup */
	PART_IDLE,    /* the CPU was idle and had to leave its idle state */
	PART_HARD,
	PART_SOFT,
	PART_BEFORE, /* the current task ran on; none of its events had need-resched set yet */
	PART_AFTER,  /* it ran on although one had: preemption or interrupts were off */
	PART_OTHERS, /* tasks that came first */
	PART_OWN,    /* of a sample: the measuring thread itself, until it has read the clock */
	PART_UNKNOWN,
	PART_NMI, /* of a sample: told by events of osnoise only */
	PARTS,
};

struct late {
	uint64_t lasted, at;
	uint64_t parts[PARTS];
	uint32_t task, cpu;
	uint32_t before; /* the task that had the CPU; STATE_NO_TASK: unknown */
	uint32_t other;  /* of those that ran first, the one that ran longest */
	int32_t waker, prio;
	const char *kind; /* of a sample: "irq", "thread"; NULL: a wakeup */
};

/* The longest ones, the longest first. */
struct lates {
	struct late *items;
	size_t nr;
};

/* Whether one that lasted so long is among the `worst` ones. */
bool lates_want(const struct lates *lates, size_t worst, uint64_t lasted);
/* Keeps it if it is; false without memory. */
bool must_check lates_keep(struct lates *lates, size_t worst, const struct late *late);

/* The task that had the CPU when the wait began. */
uint32_t latency_task_at(const struct timeline *timeline, uint32_t cpu, uint64_t since);

/*
 * What a CPU did from `since` until `to`, into the parts of `late`; *longest: of those that ran first, the longest so
 * far.
 */
void latency_split(const struct timeline *timeline, uint32_t cpu, uint64_t since, uint64_t to, struct late *late,
		   uint64_t *longest);

#endif
