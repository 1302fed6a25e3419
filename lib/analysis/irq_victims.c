// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/findings.h"
#include "lib/analysis/irq_internal.h"
#include "lib/base/fail.h"

#include <errno.h>

/*
 * The table of tasks that interrupts, softirqs and timers hit. One row each stands for the idle tasks of
 * all CPUs, for weft's own tasks, and for tasks that are not known, so that all rows together have the time of all
 * sources.
 */

static const struct table_column columns[] = {
	{ "TASK", TABLE_TEXT, NULL },  { "PID", TABLE_NUMBER, NULL },   { "HITS", TABLE_COUNT, NULL },
	{ "TAKEN", TABLE_TIME, NULL }, { "RUN", TABLE_TIME, NULL },     { "%", TABLE_NUMBER, "taken_percent" },
	{ "IRQ", TABLE_TIME, NULL },   { "SOFTIRQ", TABLE_TIME, NULL }, { "VECTOR", TABLE_TIME, NULL },
	{ "TIMER", TABLE_TIME, NULL },
};

static uint64_t taken_from(const struct irq_victim *victim)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < IRQ_TAKERS; i++)
		sum += victim->taken[i];
	return sum;
}

static void join(struct irq_victim *victim, const struct irq_victim *other)
{
	victim->hits += other->hits;
	for (size_t i = 0; i < IRQ_TAKERS; i++)
		victim->taken[i] += other->taken[i];
}

/* `ran`: how long the task had a CPU, with what was taken from it; 0: not known. */
static void put_times(const struct irq_victim *victim, uint64_t ran, struct table *table)
{
	uint64_t taken = taken_from(victim);

	table_cell_u64(table, victim->hits);
	table_cell_u64(table, taken);
	if (ran) {
		table_cell_u64(table, ran);
		table_cell_percent(table, taken, ran, 2);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
	for (size_t i = 0; i < IRQ_TAKERS; i++)
		table_cell_u64(table, victim->taken[i]);
}

/* How long a task had a CPU; 0 if no sched_switch tells. */
static uint64_t ran(const struct irq_analysis *irq, const struct state_task *task)
{
	return irq->pass->state.events[STATE_SWITCH] ? pass_spent(irq->pass, task, TASK_RUNNING) : 0;
}

static void attach(const struct irq_analysis *irq, uint32_t id, struct table *table)
{
	const struct samples *each = u64_map_find(&irq->each, id);

	if (each)
		table_attach(table, each);
}

static void put_task(const struct irq_analysis *irq, uint32_t id, struct table *table)
{
	const struct state_task *task = &irq->pass->state.tasks[id];

	attach(irq, id, table);
	table_cell(table, pass_comm(irq->pass, task));
	table_cell_s64(table, task->pid);
	put_times(&irq->victims[id], ran(irq, task), table);
}

/* A row that stands for several tasks. */
static void put_others(const char *name, const struct irq_victim *victim, uint64_t ran, struct table *table)
{
	if (!victim->hits)
		return;
	table_cell(table, name);
	table_cell(table, "-");
	put_times(victim, ran, table);
}

static void put_idle(const struct irq_analysis *irq, struct table *table)
{
	const struct state *state = &irq->pass->state;
	struct irq_victim idle = { .hits = 0 };
	uint64_t idled = 0;

	for (uint32_t id = 0; id < irq->nr_victims; id++) {
		if (!irq->victims[id].hits || !state->tasks[id].idle || !pass_wants(irq->pass, &state->tasks[id]))
			continue;
		attach(irq, id, table);
		join(&idle, &irq->victims[id]);
		idled += ran(irq, &state->tasks[id]);
	}
	put_others("<idle>", &idle, idled, table);
}

static void put_tasks(const struct irq_analysis *irq, struct table *table)
{
	bool chosen = irq->pass->filter.nr_pids || irq->pass->filter.nr_comms;
	struct irq_victim self = { .hits = 0 };
	uint64_t self_ran = 0;

	for (uint32_t id = 0; id < irq->nr_victims; id++) {
		const struct state_task *task = &irq->pass->state.tasks[id];

		if (!irq->victims[id].hits || task->idle)
			continue;
		if (pass_wants(irq->pass, task)) {
			put_task(irq, id, table);
		} else if (!chosen) {
			join(&self, &irq->victims[id]);
			self_ran += ran(irq, task);
		}
	}
	put_idle(irq, table);
	put_others("weft itself", &self, self_ran, table);
	if (!chosen)
		put_others("unknown", &irq->nobody, 0, table);
}

static bool adds_up(const struct irq_analysis *irq)
{
	uint64_t self = 0, taken = taken_from(&irq->nobody);

	for (size_t i = 0; i < irq->nr_sources; i++)
		self += irq->sources[i].self;
	for (size_t i = 0; i < irq->nr_victims; i++)
		taken += taken_from(&irq->victims[i]);
	return self == taken;
}

int irq_put_victims(struct irq_analysis *irq, struct findings *findings, struct fail *fail)
{
	struct table *table = findings_table(findings, "victims",
					     "tasks that were hit: the time that interrupts and what they ran took "
					     "from each",
					     "taken", columns, array_size(columns));

	if (!adds_up(irq))
		return fail_set(
			fail, -EPROTO,
			"the times that were taken from tasks are not the times of the interrupts; this is a bug "
			"in weft");
	if (!table)
		return 0;
	findings_course(findings, 1 << 0 | 1 << 1, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9);
	put_tasks(irq, table);
	table->spare = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9;
	return 0;
}
