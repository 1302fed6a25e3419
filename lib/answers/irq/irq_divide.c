// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Runs that the end of an interval cuts: each counts where it ends, and its time in each interval in which it lasts,
 * for its source, its CPU and the task that it hit.
 */
#include "lib/answers/irq/irq_internal.h"

#include <string.h>

/* So many timers and work items that wait are known in the next interval; the events do not tell of all that ended. */
enum { CARRIED_MAX = 1 << 16 };

uint64_t irq_off_cpu(const struct irq_analysis *irq, uint32_t id)
{
	static const uint8_t modes[] = { TASK_PREEMPTED, TASK_WAKING,  TASK_QUEUED,
					 TASK_SLEEPING,  TASK_BLOCKED, TASK_STOPPED };
	const struct state *state = &irq->pass->state;
	uint64_t sum = 0;

	for (size_t i = 0; id < state->nr_tasks && !state->tasks[id].idle && i < array_size(modes); i++)
		sum += state->tasks[id].spent[modes[i]];
	return sum;
}

static void hold(struct irq_analysis *irq, uint32_t task)
{
	if (task < irq->pass->state.nr_tasks && !irq->pass->state.tasks[task].died)
		state_hold(&irq->pass->state, task);
}

/* Returns what the last frame of the task above `at` has nested in this one so far. */
static uint64_t inside(const struct irq_analysis *irq, const struct irq_cpu *cpu, size_t at)
{
	const struct irq_frame *frame = &cpu->frames[at];

	while (++at < cpu->depth) {
		const struct irq_frame *above = &cpu->frames[at];

		if (above->task == frame->task)
			return irq->pass->state.now - above->start - (irq_off_cpu(irq, above->task) - above->off);
	}
	return 0;
}

static void divide_cpu(struct irq_analysis *irq, uint32_t number)
{
	const struct state *state = &irq->pass->state;
	struct irq_cpu *cpu = &irq->cpus[number];

	for (size_t i = 0; i < cpu->depth; i++) {
		struct irq_frame *frame = &cpu->frames[i];
		uint64_t lasted = state->now - frame->start, off = irq_off_cpu(irq, frame->task) - frame->off;
		uint64_t inner = frame->nested + off + inside(irq, cpu, i), self = lasted > inner ? lasted - inner : 0;

		hold(irq, frame->task);
		if (!pass_wants_cpu(irq->pass, number))
			continue;
		irq_pay(irq, frame, lasted, self, number);
		frame->paid = lasted;
		frame->paid_self = self;
	}
	/* What tasks and CPUs have done counts from 0 in the next interval, so that these may be below 0. */
	for (size_t i = 0; i < cpu->depth; i++)
		cpu->frames[i].off -= irq_off_cpu(irq, cpu->frames[i].task);
	for (size_t i = 0; number < state->nr_cpus && i < SOFTIRQS; i++)
		cpu->switches[i] -= state->cpus[number].switches;
}

void irq_divide(void *arg)
{
	struct irq_analysis *irq = arg;
	struct irq_work *work;
	uint64_t key;

	for (uint32_t i = 0; i < irq->nr_cpus; i++)
		divide_cpu(irq, i);
	/* The CPU where a work item ends is not known before. */
	for (size_t at = 0; !irq->pass->filter.cpus && (work = u64_map_next(&irq->works, &at, &key));) {
		uint64_t lasted = irq->pass->state.now - work->frame.start;

		if (!work->frame.start || work->frame.source >= irq->nr_sources)
			continue;
		irq_pay(irq, &work->frame, lasted, 0, 0);
		work->frame.paid = lasted;
	}
}

/* The sources are found again by their names. */
static uint32_t carry_source(struct irq_analysis *irq, const struct irq_analysis *before, uint32_t id)
{
	const struct irq_source *source = id < before->nr_sources ? &before->sources[id] : NULL;

	return source ? irq_source_of(irq, source->kind, source->name, strlen(source->name)) : UINT32_MAX;
}

/* False: without memory. */
static bool carry_frame(struct irq_analysis *irq, const struct irq_analysis *before, struct irq_frame *frame)
{
	bool by_source = frame->kind == IRQ_VECTOR;

	frame->source = carry_source(irq, before, frame->source);
	if (frame->source == UINT32_MAX)
		return false;
	if (by_source)
		frame->id = frame->source;
	if (frame->inner)
		frame->inner_source = carry_source(irq, before, frame->inner_source);
	frame->task = frame->kind == IRQ_WORK ? frame->task : state_moved(&irq->pass->state, frame->task);
	irq->under_way = true;
	return frame->inner_source != UINT32_MAX;
}

static bool carry_cpu(struct irq_analysis *irq, const struct irq_analysis *before, uint32_t number)
{
	const struct irq_cpu *from = &before->cpus[number];
	struct irq_cpu *to = irq_cpu_of(irq, number);
	bool ok = to;

	if (!ok)
		return false;
	memcpy(to->frames, from->frames, sizeof(to->frames));
	memcpy(to->raised, from->raised, sizeof(to->raised));
	memcpy(to->switches, from->switches, sizeof(to->switches));
	to->lost = from->lost;
	for (size_t i = 0; ok && i < from->depth; i++) {
		ok = carry_frame(irq, before, &to->frames[i]);
		to->depth += ok;
	}
	return ok;
}

static bool carry_waiting(struct irq_analysis *irq, const struct irq_analysis *before)
{
	struct irq_work *work, *new_work;
	uint64_t *expires, *new_expires, key;

	for (size_t at = 0; irq->works.len < CARRIED_MAX && (work = u64_map_next(&before->works, &at, &key));) {
		if (!work->queued && !work->frame.start)
			continue;
		new_work = u64_map_add(&irq->works, key);
		if (!new_work)
			return false;
		*new_work = *work;
		if (work->frame.start && !carry_frame(irq, before, &new_work->frame))
			return false;
	}
	for (size_t at = 0; irq->expires.len < CARRIED_MAX && (expires = u64_map_next(&before->expires, &at, &key));) {
		new_expires = *expires ? u64_map_add(&irq->expires, key) : NULL;
		if (*expires && !new_expires)
			return false;
		if (new_expires)
			*new_expires = *expires;
	}
	return true;
}

void irq_carry(void *arg, void *earlier)
{
	struct irq_analysis *irq = arg, *before = earlier;
	bool ok = true;

	for (uint32_t i = 0; ok && i < before->nr_cpus; i++)
		ok = carry_cpu(irq, before, i);
	if (!ok || !carry_waiting(irq, before))
		irq->pass->failed = true;
}
