/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FOLLOW_CALLS_INTERNAL_H
#define WEFT_FOLLOW_CALLS_INTERNAL_H

#include "lib/base/u64_map.h"
#include "lib/event/event.h"
#include "lib/follow/call_frames_internal.h"
#include "lib/follow/cpu_gaps.h"
#include "lib/follow/graph_records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A task is looked up once for many of its events. A power of two; a CPU runs one task at a time. */
enum { CALLS_SEATS = 64 };

struct calls_seat {
	uint64_t key; /* of struct calls::tasks; 0: nobody's */
	struct frames *frames;
};

struct calls {
	struct u64_map tasks; /* by a key of the task: struct frames * */
	struct cpu_gaps gaps;
	uint64_t mark, lost, dropped;
	bool starved;
	bool in_slice;                        /* what the tasks did before is unknown: lib/follow/calls_slice.h */
	struct calls_seat seats[CALLS_SEATS]; /* by CPU */
	struct graph_records records;
};

/* A task: by its PID, an idle task by its CPU. */
static inline uint64_t calls_key(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu;
}

/* The frames of a task, new if there are none; NULL without memory. */
struct frames *calls_frames_new(struct calls *calls, uint64_t key);
struct frames *calls_frames_of(struct calls *calls, const struct event *event);

#endif
