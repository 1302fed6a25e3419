// SPDX-License-Identifier: LGPL-2.1-or-later
/* How long a task was a real-time or deadline task: only that time is in its row with --rt. */
#include "lib/answers/sched/sched_internal.h"

#include <stdlib.h>

static uint64_t spent_so_far(const struct sched_analysis *sched, uint32_t id, enum task_mode mode)
{
	const struct state *state = &sched->pass->state;

	return state_spent(state, id, mode) - pass_elsewhere(sched->pass, &state->tasks[id], mode);
}

/* Adds the time since a task became a real-time task to its earlier time as one. */
static void add_real_time(const struct sched_analysis *sched, uint32_t id, struct sched_real_time *times)
{
	const struct state_task *task = &sched->pass->state.tasks[id];

	for (enum task_mode i = 0; i < TASK_MODES; i++)
		times->spent[i] += spent_so_far(sched, id, i) - times->spent_before[i];
	times->beside_idle += task->beside_idle - times->beside_idle_before;
}

/* `ran`: how long it has run without an event that says when its priority changed: as a real-time task, then. */
static void begin_real_time(const struct sched_analysis *sched, uint32_t id, struct sched_real_time *times,
			    uint64_t ran)
{
	for (enum task_mode i = 0; i < TASK_MODES; i++)
		times->spent_before[i] = spent_so_far(sched, id, i);
	times->spent_before[TASK_RUNNING] -=
		ran < times->spent_before[TASK_RUNNING] ? ran : times->spent_before[TASK_RUNNING];
	times->beside_idle_before = sched->pass->state.tasks[id].beside_idle;
}

struct sched_real_time *sched_see_prio(struct sched_analysis *sched, uint32_t id, struct sched_counts *counts,
				       uint64_t ran)
{
	const struct state_task *task = &sched->pass->state.tasks[id];
	struct sched_real_time *times;
	bool now = state_is_real_time(task->prio);

	if (counts && !counts->real_time)
		counts->real_time = calloc(1, sizeof(*counts->real_time));
	if (!counts || !counts->real_time) {
		sched->pass->failed = true;
		return NULL;
	}
	times = counts->real_time;
	if (task->prio < 0)
		return times;
	/* The first known priority was also the priority before. */
	if (times->known && now && !times->now)
		begin_real_time(sched, id, times, ran);
	if (times->now && !now)
		add_real_time(sched, id, times);
	times->known = true;
	times->now = now;
	times->ever |= now;
	times->prio = now ? task->prio : times->prio;
	return times;
}

struct sched_real_time *sched_end_real_time(struct sched_analysis *sched, uint32_t id, struct sched_counts *counts)
{
	struct sched_real_time *times = sched_see_prio(sched, id, counts, 0);

	if (times && times->now)
		add_real_time(sched, id, times);
	return times;
}
