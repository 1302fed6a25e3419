// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/irq/irq_internal.h"

#include "lib/ground/base/samples.h"
#include "lib/ground/base/vec.h"

/* Adds the time of a run to its source, its CPU, its windows and the task that it hit. */

struct irq_cpu *irq_add_cpu(struct irq_analysis *irq, uint32_t number)
{
	while (irq->nr_cpus <= number) {
		if (!vec_push(irq->cpus, irq->nr_cpus)) {
			irq->pass->failed = true;
			return NULL;
		}
	}
	return &irq->cpus[number];
}

void irq_see_longest(struct irq_longest *longest, uint64_t lasted, const struct event *event)
{
	if (!longest->at || lasted > longest->lasted)
		*longest = (struct irq_longest){ lasted, event->ts, event->cpu };
}

static struct irq_victim *victim_of(struct irq_analysis *irq, uint32_t task)
{
	if (task == STATE_NO_TASK)
		return &irq->nobody;
	while (irq->nr_victims <= task) {
		if (!vec_push(irq->victims, irq->nr_victims)) {
			irq->pass->failed = true;
			return &irq->nobody;
		}
	}
	return &irq->victims[task];
}

/* Whom the task belongs to now; NULL: no such rows, or not of this task. */
static struct irq_victim *group_of(struct irq_analysis *irq, uint32_t task)
{
	const struct state *state = &irq->pass->state;
	struct irq_group *group;

	if (irq->by != IRQ_BY_WHO || task == STATE_NO_TASK || state->tasks[task].idle ||
	    !pass_wants(irq->pass, &state->tasks[task]))
		return NULL;
	group = u64_map_add(&irq->groups, pass_group(irq->pass, irq->part, task));
	irq->pass->failed |= !group;
	return group ? &group->victim : NULL;
}

static enum irq_taker taker_of(enum irq_kind kind)
{
	switch (kind) {
	case IRQ_HARD:
		return IRQ_BY_HARD;
	case IRQ_SOFT:
		return IRQ_BY_SOFT;
	case IRQ_VECTOR:
	case IRQ_IPI:
		return IRQ_BY_VECTOR;
	default:
		return IRQ_BY_TIMER;
	}
}

/* What hit the task under another name is in no row. */
static bool is_of_other_name(const struct irq_analysis *irq, const struct irq_frame *frame)
{
	const struct state *state = &irq->pass->state;

	return frame->task != STATE_NO_TASK && state->naming.wants &&
	       !pass_wants(irq->pass, &state->tasks[frame->task]);
}

static void charge_victim(struct irq_analysis *irq, const struct irq_frame *frame, uint64_t self)
{
	bool other = is_of_other_name(irq, frame);
	struct irq_victim *group = group_of(irq, frame->task);

	if (group)
		group->hits++;
	victim_of(irq, other ? (uint32_t)STATE_NO_TASK : frame->task)->hits++;
	if (!pass_compares(irq->pass) || other)
		return;
	samples_map_add(&irq->each, frame->task, &irq->pass->budget, self);
	irq->pass->failed |= irq->each.starved;
}

/* Finds the task that waited for this CPU longest while the run had it. */
static void find_waiter(const struct irq_analysis *irq, const struct irq_frame *frame, const struct event *end,
			struct irq_slow *slow)
{
	const struct state *state = &irq->pass->state;

	slow->waiter = STATE_NO_TASK;
	for (uint32_t id = 0; id < state->nr_tasks; id++) {
		const struct state_task *task = &state->tasks[id];
		uint64_t since = task->waking ? task->waking : task->since;

		if (task->cpu != end->cpu || !state_waits(task->mode) || !task->exact || !pass_wants(irq->pass, task))
			continue;
		since = since > frame->start ? since : frame->start;
		if (end->ts <= since || end->ts - since <= slow->waited)
			continue;
		slow->waited = end->ts - since;
		slow->waiter = id;
	}
}

static void keep_slow(struct irq_analysis *irq, const struct irq_frame *frame, uint64_t lasted, uint64_t self,
		      const struct event *end)
{
	struct irq_slow *slow = slowest_add(&irq->slowest, lasted, &irq->pass->failed);

	if (!slow)
		return;
	slow->self = self;
	slow->at = end->ts;
	slow->inner = frame->inner;
	slow->source = frame->source;
	slow->inner_source = frame->inner_source;
	slow->cpu = end->cpu;
	slow->task = frame->task;
	find_waiter(irq, frame, end, slow);
	pass_note_comm(irq->pass, slow->task, slow->comm);
	pass_note_comm(irq->pass, slow->waiter, slow->waiter_comm);
}

void irq_pay(struct irq_analysis *irq, const struct irq_frame *frame, uint64_t lasted, uint64_t self, uint32_t number)
{
	struct irq_source *source = &irq->sources[frame->source];
	struct irq_victim *group;
	struct irq_cpu *cpu;

	source->total += lasted - frame->paid;
	/* The own time of work items is not known. */
	cpu = source->kind == IRQ_WORK ? NULL : irq_cpu_of(irq, number);
	if (!cpu)
		return;
	self = self > frame->paid_self ? self - frame->paid_self : 0;
	source->has_self = true;
	source->self += self;
	cpu->self[source->kind] += self;
	victim_of(irq, is_of_other_name(irq, frame) ? (uint32_t)STATE_NO_TASK : frame->task)
		->taken[taker_of(frame->kind)] += self;
	group = group_of(irq, frame->task);
	if (group)
		group->taken[taker_of(frame->kind)] += self;
}

void irq_charge(struct irq_analysis *irq, const struct irq_frame *frame, uint64_t lasted, uint64_t self,
		const struct event *end)
{
	struct irq_source *source = &irq->sources[frame->source];
	struct irq_cpu *cpu = irq_cpu_of(irq, end->cpu);
	struct irq_sums *sums;

	if (!pass_wants_cpu(irq->pass, end->cpu) || !cpu)
		return;
	samples_add(&source->lasted, &irq->pass->budget, lasted);
	irq_see_longest(&source->longest, lasted, end);
	cpu->runs[source->kind]++;
	irq_pay(irq, frame, lasted, self, end->cpu);
	if (source->kind == IRQ_WORK)
		return;
	if (slowest_wants(&irq->slowest, lasted))
		keep_slow(irq, frame, lasted, self, end);
	charge_victim(irq, frame, self);
	sums = u64_map_add(&irq->sums, (uint64_t)frame->source << 32 | end->cpu);
	irq->pass->failed |= !sums;
	if (sums)
		irq_peak_add(&source->peak, sums, &frame->taking, end->cpu);
}
