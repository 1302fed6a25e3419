// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/latency_split.h"

#include "lib/base/vec.h"

bool lates_want(const struct lates *lates, size_t worst, uint64_t lasted)
{
	return lates->nr < worst || lates->items[lates->nr - 1].lasted < lasted;
}

bool lates_keep(struct lates *lates, size_t worst, const struct late *late)
{
	size_t index;

	if (!lates_want(lates, worst, late->lasted))
		return true;
	if (lates->nr < worst && !vec_push(lates->items, lates->nr))
		return false;
	for (index = lates->nr - 1; index && lates->items[index - 1].lasted < late->lasted; index--)
		lates->items[index] = lates->items[index - 1];
	lates->items[index] = *late;
	return true;
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

/* Splits a span of a task's time on the CPU at step->resched, the time at which an event first had need-resched set. */
static void split_task(struct late *late, const struct timeline_step *step, uint64_t from, uint64_t to,
		       uint64_t *longest)
{
	uint64_t resched = step->resched > from && step->resched < to ? step->resched :
			   step->resched && step->resched <= from     ? from :
									to;

	if (step->task == late->before) {
		late->parts[PART_BEFORE] += resched - from;
		late->parts[PART_AFTER] += to - resched;
		return;
	}
	if (late->kind && step->task == late->task) {
		late->parts[PART_OWN] += to - from;
		return;
	}
	late->parts[PART_OTHERS] += to - from;
	if (to - from > *longest) {
		*longest = to - from;
		late->other = step->task;
	}
}

uint32_t latency_task_at(const struct timeline *timeline, uint32_t cpu, uint64_t since)
{
	struct timeline_step step;

	for (size_t i = 0; timeline_back(timeline, cpu, i, &step); i++)
		if (step.from <= since)
			return step.task;
	return STATE_NO_TASK;
}

/* Goes through the CPU's steps backwards from the end of the span. */
void latency_split(const struct timeline *timeline, uint32_t cpu, uint64_t since, uint64_t to, struct late *late,
		   uint64_t *longest)
{
	struct timeline_step step;

	for (size_t i = 0; to > since && timeline_back(timeline, cpu, i, &step); i++) {
		uint64_t from = step.from > since ? step.from : since;

		if (from >= to)
			continue;
		switch ((enum cpu_mode)step.mode) {
		case CPU_TASK:
			split_task(late, &step, from, to, longest);
			break;
		case CPU_IDLE:
			late->parts[PART_IDLE] += to - from;
			break;
		case CPU_SOFTIRQ:
			late->parts[PART_SOFT] += to - from;
			break;
		case CPU_HARDIRQ:
			late->parts[PART_HARD] += to - from;
			break;
		case CPU_UNKNOWN:
		case CPU_MODES:
			late->parts[PART_UNKNOWN] += to - from;
			break;
		}
		to = from;
	}
	late->parts[PART_UNKNOWN] += to > since ? to - since : 0;
}
