/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_GRAPH_FACTS_H
#define WEFT_ANSWERS_GRAPH_GRAPH_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/pass.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/uapi/names.h"

struct table;

/* Helpers that the analyses of the function graph share. */

extern const struct analysis_want graph_wants[];

enum { GRAPH_NAME = 160 };

/* Writes a function's name: "vfs_read", "ext4_sync [ext4]", or the address. */
void graph_name(const struct context *context, uint64_t address, char *name, size_t size);
void graph_put_name(struct table *table, const struct context *context, uint64_t address);

/* Returns the first address of the function that the address lies in; the address itself where no symbol covers it. */
uint64_t graph_function(const struct context *context, uint64_t address);

/* Returns the task that has the event's CPU; NULL: unknown. */
static inline const struct state_task *graph_task(const struct pass *pass, const struct event *event)
{
	uint32_t task = state_acting(&pass->state, event);

	return task < pass->state.nr_tasks ? &pass->state.tasks[task] : NULL;
}

/* Returns how long a running task has been off the CPU in its life. */
uint64_t graph_off_cpu(const struct state_task *task);
static inline uint64_t graph_off_now(const struct pass *pass, const struct state_task *task)
{
	const uint64_t *events = pass->state.events;

	/* Without any of these events, no task is known to have left its CPU. */
	if (!(events[STATE_SWITCH] | events[STATE_WAKING] | events[STATE_WAKEUP] | events[STATE_WAKEUP_NEW]))
		return 0;
	return graph_off_cpu(task);
}
/*
 * And how long of it in a call. call::mark is what it was when the call was entered. 0 of another task, which lost
 * events let seem the same, and if it was before the tracer took the time of the entry.
 */
static inline uint64_t graph_off_in(const struct pass *pass, const struct state_task *task, const struct call *call)
{
	/* What a task has spent counts from 0 in each interval, so that the mark may be below 0. */
	uint64_t off = graph_off_now(pass, task) - call->mark;

	return off <= call->lasted ? off : 0;
}

/* Returns ERRNO if the register holds -ERRNO, as an int (upper half 0) or as a long; otherwise 0. */
static inline uint32_t graph_error(uint64_t retval)
{
	uint64_t number = retval > UINT32_MAX ? -retval : (uint32_t) - (uint32_t)retval;

	return number && number <= ERRNO_MAX ? (uint32_t)number : 0;
}

#endif
