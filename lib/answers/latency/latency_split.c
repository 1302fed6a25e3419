// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency_split_internal.h"

static int32_t prio_of(const struct state *state, uint32_t task)
{
	return task < state->nr_tasks && !state->tasks[task].idle ? state->tasks[task].prio : -1;
}

bool lates_keep(struct lates *lates, const struct state *state, const struct late *late)
{
	bool failed = false;
	struct late *item = slowest_room(&lates->slowest, late->lasted) ?
				    slowest_add(&lates->slowest, late->lasted, &failed) :
				    NULL;

	if (item) {
		*item = *late;
		item->before_prio = prio_of(state, late->before);
		item->other_prio = prio_of(state, late->other);
	}
	return !failed;
}

enum part latency_most(const struct late *late)
{
	enum part most = 0;

	for (enum part i = 0; i < PARTS; i++)
		if (late->parts[i] > late->parts[most])
			most = i;
	return most;
}

uint32_t latency_culprit(const struct late *late)
{
	switch (latency_most(late)) {
	case PART_BEFORE:
	case PART_AFTER:
		return late->before;
	case PART_OTHERS:
		return late->other;
	default:
		return STATE_NO_TASK;
	}
}

int32_t latency_culprit_prio(const struct late *late)
{
	return latency_most(late) == PART_OTHERS ? late->other_prio : late->before_prio;
}

/* Sets the time of other tasks, and the one that ran longest in all; of several the one that was seen first. */
static void split_others(const struct history_sum *sum, struct late *late)
{
	const uint64_t *spent;
	uint64_t key, longest = 0;

	for (size_t at = 0; (spent = u64_map_next(&sum->tasks, &at, &key));) {
		if (late->kind && key == late->task) {
			late->parts[PART_OWN] += *spent;
			continue;
		}
		late->parts[PART_OTHERS] += *spent;
		if (*spent > longest || (*spent == longest && key < late->other)) {
			longest = *spent;
			late->other = (uint32_t)key;
		}
	}
}

/* Who took the CPU from a task is one of those that ran instead of it. */
static void join_before(const struct history_wait *wait, struct history_sum *sum)
{
	uint64_t *spent = wait->before == STATE_NO_TASK ? NULL : u64_map_add(&sum->tasks, wait->before);

	if (!spent)
		return;
	*spent += sum->before + sum->after;
	sum->before = 0;
	sum->after = 0;
}

void latency_split(struct history *history, const struct history_wait *wait, struct late *late)
{
	uint64_t known, lasted = late->at - wait->began;
	struct history_sum sum;

	history_sum_init(&sum);
	history_wait_sum(history, wait, late->at, &sum);
	if (late->preempted)
		join_before(wait, &sum);
	late->before = wait->before;
	late->parts[PART_IDLE] += sum.modes[CPU_IDLE];
	late->parts[PART_HARD] += sum.modes[CPU_HARDIRQ];
	late->parts[PART_SOFT] += sum.modes[CPU_SOFTIRQ];
	late->parts[PART_BEFORE] += sum.before;
	late->parts[PART_AFTER] += sum.after;
	split_others(&sum, late);
	known = sum.modes[CPU_IDLE] + sum.modes[CPU_HARDIRQ] + sum.modes[CPU_SOFTIRQ] + sum.before + sum.after +
		late->parts[PART_OTHERS] + late->parts[PART_OWN];
	late->parts[PART_UNKNOWN] += known < lasted ? lasted - known : 0;
	history_sum_release(&sum);
}
