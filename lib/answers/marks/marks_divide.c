// SPDX-License-Identifier: LGPL-2.1-or-later
/* Spans that the end of an interval cuts: each counts, with all its time, where it ends. */
#include "lib/answers/marks/marks_internal.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

/* What the task has spent counts from 0 in the next interval, so that these may be below 0. */
void marks_divide(void *arg)
{
	struct marks_analysis *marks = arg;
	struct state *state = &marks->pass->state;

	for (uint32_t i = 0; i < marks->nr_tasks; i++) {
		struct marks_task *task = &marks->tasks[i];
		const struct marks_time now = marks_time_of(marks, i);

		if (task->top && !state->tasks[i].died)
			state_hold(state, i);
		for (struct marks_note *note = task->top; note; note = note->outer) {
			note->then.running -= now.running;
			note->then.waiting -= now.waiting;
			note->then.blocked -= now.blocked;
			note->then.irq -= now.irq;
		}
		task->left_blocked -= now.blocked;
		task->left_waited -= now.waiting;
		task->irq = task->irq_base = 0;
	}
}

void marks_carry(void *arg, void *earlier)
{
	struct marks_analysis *marks = arg, *before = earlier;
	struct marks_calls calls = marks->marks.calls;

#define SWAP(member)                                               \
	do {                                                       \
		__typeof__(marks->member) swapped = marks->member; \
		marks->member = before->member;                    \
		before->member = swapped;                          \
	} while (0)
	SWAP(marks);
	SWAP(names);
	SWAP(texts);
	SWAP(pool);
	SWAP(nr_pool);
	SWAP(free_pool);
#undef SWAP
	marks->marks.calls = calls;
	marks->generation = before->generation + 1;
	for (uint32_t i = 0; i < before->nr_tasks; i++) {
		uint32_t to = state_moved(&marks->pass->state, i);
		struct marks_task *task = to == STATE_NO_TASK ? NULL : marks_task(marks, to);

		for (struct marks_note *note = before->tasks[i].top; note; note = note->outer)
			note->task = task ? to : (uint32_t)STATE_NO_TASK;
		if (!task)
			continue;
		*task = before->tasks[i];
		task->wait = NULL;
	}
}
