/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_TIMELINE_H
#define WEFT_ANALYSIS_TIMELINE_H

#include "lib/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What each CPU did last: its modes and tasks with their times, the newest TIMELINE_STEPS of them. An analysis can look
 * back from the end of a wait to its cause. The timeline must see every event, after the state has. What happened
 * before the oldest step is unknown.
 */
enum { TIMELINE_STEPS = 1024 };

struct timeline_step {
	uint64_t from;    /* it lasts until the next step's `from` */
	uint64_t resched; /* when an event of the task first had need-resched set; 0: none did */
	uint32_t task;    /* or STATE_NO_TASK: unknown */
	uint8_t mode;     /* enum cpu_mode */
};

struct timeline {
	struct timeline_cpu {
		struct timeline_step *steps; /* a ring */
		uint64_t nr;                 /* number of steps so far */
		uint64_t last;               /* time of the CPU's last event */
	} * cpus;
	size_t nr_cpus;
	uint64_t breaks;
	bool failed;
};

void timeline_release(struct timeline *timeline);
void timeline_see(struct timeline *timeline, const struct state *state, const struct event *event);

/* Gets a step of a CPU: `index` 0 is the present one, 1 the one before. Returns false after the oldest that is kept. */
bool timeline_back(const struct timeline *timeline, uint32_t cpu, size_t index, struct timeline_step *ret);

#endif
