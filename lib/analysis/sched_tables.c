// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/sched_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sched_chain_internal.h"
#include "lib/analysis/sched_idle_internal.h"
#include "lib/analysis/sched_map_internal.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum task_column {
	TASK,
	PID,
	PRIO,
	RUN,
	WAIT,
	BESIDE,
	SLEEP,
	BLOCKED,
	OTHER,
	UNKNOWN,
	VOLUNTARY,
	INVOLUNTARY,
	WAKEUPS,
	MIGRATIONS,
	DELAYS,
	P50,
	P99,
	MAX,
	MAX_AT,
	MAX_CPU,
	GENERATION,
	TASK_COLUMNS
};

static const struct table_column task_columns[TASK_COLUMNS] = {
	[TASK] = { "TASK", TABLE_TEXT, "comm" },
	[PID] = { "PID", TABLE_NUMBER, "pid" },
	[PRIO] = { "PRIO", TABLE_NUMBER, "prio" },
	[RUN] = { "RUN", TABLE_TIME, NULL },
	[WAIT] = { "WAIT", TABLE_TIME, NULL },
	[BESIDE] = { "W/IDLE", TABLE_TIME, "wait_beside_idle_ns" },
	[SLEEP] = { "SLEEP", TABLE_TIME, NULL },
	[BLOCKED] = { "D", TABLE_TIME, "blocked_ns" },
	[OTHER] = { "OTHER", TABLE_TIME, NULL },
	[UNKNOWN] = { "UNKNOWN", TABLE_TIME, NULL },
	[VOLUNTARY] = { "VOL", TABLE_COUNT, "voluntary" },
	[INVOLUNTARY] = { "INVOL", TABLE_COUNT, "involuntary" },
	[WAKEUPS] = { "WAKEUPS", TABLE_COUNT, NULL },
	[MIGRATIONS] = { "MIGR", TABLE_COUNT, "migrations" },
	[DELAYS] = { "DELAYS", TABLE_COUNT, NULL },
	[P50] = { "P50", TABLE_TIME, "delay_p50_ns" },
	[P99] = { "P99", TABLE_TIME, "delay_p99_ns" },
	[MAX] = { "MAX", TABLE_TIME, "delay_max_ns" },
	[MAX_AT] = { "MAX AT", TABLE_NUMBER, "delay_max_at" },
	[MAX_CPU] = { "CPU", TABLE_NUMBER, "delay_max_cpu" },
	[GENERATION] = { "GENERATION", TABLE_NUMBER, NULL },
};

const struct analysis_sorts sched_sorts = { task_columns, TASK_COLUMNS,
					    1 << DELAYS | 1 << MAX_CPU | 1 << GENERATION | 1 << OTHER | 1 << PRIO };

static void put_at(struct table *table, const struct sched_longest *worst)
{
	if (worst->at)
		table_cell_decimal(table, (int64_t)worst->at, 9);
	else
		table_cell(table, "-");
	if (worst->at)
		table_cell_u64(table, worst->cpu);
	else
		table_cell(table, "-");
}

static void put_task(const struct sched_analysis *sched, struct table *table, const struct state_task *task,
		     const struct sched_counts *counts)
{
	const struct sched_real_time *times = counts->real_time;
	int32_t prio = times ? times->prio : task->prio;
	uint64_t spent[TASK_MODES];
	bool migrates = sched->pass->state.events[STATE_MIGRATE];

	for (enum task_mode i = 0; i < TASK_MODES; i++)
		spent[i] = times ? times->spent[i] : pass_spent(sched->pass, task, i);
	table_attach(table, &counts->delay);
	table_cell(table, pass_comm(sched->pass, task));
	table_cell_s64(table, task->pid);
	if (prio >= 0)
		table_cell_s64(table, prio);
	else
		table_cell(table, "-");
	table_cell_u64(table, spent[TASK_RUNNING]);
	table_cell_u64(table, spent[TASK_PREEMPTED] + spent[TASK_WAKING] + spent[TASK_QUEUED]);
	/* With a PID filter it is not known when CPUs were idle. */
	if (sched->pass->state.listed.filtered)
		table_cell(table, "-");
	else
		table_cell_u64(table, times ? times->beside_idle : task->beside_idle);
	table_cell_u64(table, spent[TASK_SLEEPING]);
	table_cell_u64(table, spent[TASK_BLOCKED]);
	table_cell_u64(table, spent[TASK_STOPPED] + spent[TASK_NEW]);
	table_cell_u64(table, spent[TASK_UNKNOWN]);
	table_cell_u64(table, counts->voluntary);
	table_cell_u64(table, counts->involuntary);
	table_cell_u64(table, counts->wakeups);
	table_cell_u64(table, migrates ? counts->migrations : counts->moves);
	pass_cells(table, &counts->delay);
	put_at(table, &counts->worst);
	table_cell_u64(table, task->generation);
}

/* With options.rt a task has a row if it was a real-time task at any time. */
static bool has_row(struct sched_analysis *sched, uint32_t id)
{
	const struct sched_real_time *times = sched->options.rt ? sched_end_real_time(sched, id) : NULL;

	return sched_wants(sched, &sched->pass->state.tasks[id]) && (!sched->options.rt || (times && times->ever));
}

static void put_tasks(struct sched_analysis *sched, struct findings *findings)
{
	static const struct sched_counts none; /* of a task that was never seen to wait or to run */
	const struct state *state = &sched->pass->state;
	struct table *table =
		findings_table(findings, "tasks",
			       "tasks: how long each ran, waited for a CPU and slept; the delay from waking "
			       "until it ran",
			       "run", task_columns, TASK_COLUMNS);
	uint64_t self = 0, ran = 0;
	char lasted[TEXT_HUMAN];

	if (!table)
		return;
	table->data_only = sched_sorts.data_only;
	table->spare = 1 << BESIDE | 1 << UNKNOWN | 1 << MIGRATIONS | 1 << MAX_AT | 1 << P50 | 1 << WAKEUPS |
		       1 << VOLUNTARY | 1 << INVOLUNTARY;
	findings_course(findings, 1 << PID,
			1 << RUN | 1 << WAIT | 1 << BESIDE | 1 << SLEEP | 1 << BLOCKED | 1 << OTHER | 1 << UNKNOWN |
				1 << VOLUNTARY | 1 << INVOLUNTARY | 1 << WAKEUPS | 1 << MIGRATIONS | 1 << DELAYS);
	findings_brief(findings,
		       1 << TASK | 1 << PID | 1 << RUN | 1 << WAIT | 1 << BLOCKED | 1 << P50 | 1 << P99 | 1 << MAX);
	for (uint32_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];

		if (task->idle)
			continue;
		if (has_row(sched, i)) {
			put_task(sched, table, task, i < sched->nr_tasks ? &sched->tasks[i] : &none);
		} else if (pass_is_self(sched->pass, task->pid)) {
			self++;
			ran += task->spent[TASK_RUNNING];
		}
	}
	if (self && !sched->pass->filter.self)
		findings_note(findings, "left out: %" PRIu64 " task%s of weft itself, which ran %s; --self shows them",
			      self, text_plural(self), text_time(lasted, ran));
}

enum cpu_column { CPU, CPU_BUSY, CPU_PERCENT, CPU_IDLES, CPU_SOFT, CPU_HARD, CPU_LOST, CPU_SWITCHES, CPU_COLUMNS };

static const struct table_column cpu_columns[CPU_COLUMNS] = {
	[CPU] = { "CPU", TABLE_NUMBER, NULL },
	[CPU_BUSY] = { "TASKS", TABLE_TIME, NULL },
	[CPU_PERCENT] = { "%", TABLE_NUMBER, "tasks_percent" },
	[CPU_IDLES] = { "IDLE", TABLE_TIME, NULL },
	[CPU_SOFT] = { "SOFTIRQ", TABLE_TIME, NULL },
	[CPU_HARD] = { "IRQ", TABLE_TIME, NULL },
	[CPU_LOST] = { "UNKNOWN", TABLE_TIME, NULL },
	[CPU_SWITCHES] = { "SWITCHES", TABLE_COUNT, NULL },
};

static void put_cpus(const struct sched_analysis *sched, struct findings *findings)
{
	const struct state *state = &sched->pass->state;
	struct table *table = findings_table(findings, "cpus", "CPUs: what each did in the time of the trace", NULL,
					     cpu_columns, CPU_COLUMNS);
	uint64_t span = state->now - state->start;

	findings_brief(findings, UINT32_MAX);
	findings_course(findings, 1 << CPU,
			1 << CPU_BUSY | 1 << CPU_IDLES | 1 << CPU_SOFT | 1 << CPU_HARD | 1 << CPU_LOST |
				1 << CPU_SWITCHES);
	for (uint32_t i = 0; table && i < state->nr_cpus; i++) {
		const struct state_cpu *cpu = &state->cpus[i];

		if (!cpu->seen || !pass_wants_cpu(sched->pass, i))
			continue;
		table_cell_u64(table, i);
		table_cell_u64(table, cpu->spent[CPU_TASK]);
		table_cell_percent(table, cpu->spent[CPU_TASK], span, 1);
		table_cell_u64(table, cpu->spent[CPU_IDLE]);
		table_cell_u64(table, cpu->spent[CPU_SOFTIRQ]);
		table_cell_u64(table, cpu->spent[CPU_HARDIRQ]);
		table_cell_u64(table, cpu->spent[CPU_UNKNOWN]);
		table_cell_u64(table, cpu->switches);
	}
}

static const struct table_column part_columns[] = {
	{ "WAKEUPS", TABLE_TEXT, "part" },  { "COUNT", TABLE_COUNT, NULL }, { "P50", TABLE_TIME, NULL },
	{ "P99", TABLE_TIME, NULL },        { "MAX", TABLE_TIME, NULL },    { "MAX AT", TABLE_NUMBER, "max_at" },
	{ "CPU", TABLE_NUMBER, "max_cpu" },
};

static void put_parts(const struct sched_analysis *sched, struct findings *findings)
{
	static const char *const names[PARTS] = { "waking to queued", "queued to running", "waking to running" };
	struct table *table = findings_table(findings, "wakeups", "wakeups of all tasks, in parts", NULL, part_columns,
					     array_size(part_columns));

	findings_brief(findings, sched->parts[PART_WHOLE].count ? UINT32_MAX : 0);
	findings_course(findings, 1 << 0, 1 << 1);
	for (size_t i = 0; table && i < PARTS; i++) {
		table_cell(table, names[i]);
		pass_cells(table, &sched->parts[i]);
		put_at(table, &sched->worst[i]);
	}
	if (table)
		table->spare = 1 << 5 | 1 << 6;
}

static void put_worst(const struct sched_analysis *sched, struct findings *findings)
{
	const struct sched_longest *extreme = &sched->worst[PART_WHOLE];
	const struct state_task *task = extreme->at ? &sched->pass->state.tasks[extreme->task] : NULL;
	struct worst worst = { .what = "delay of a wakeup",
			       .lasted = extreme->lasted,
			       .from = extreme->at - extreme->lasted,
			       .to = extreme->at,
			       .cpu = extreme->cpu };

	if (!task)
		return;
	worst.pid = task->pid;
	strncpy(worst.comm, pass_comm(sched->pass, task), sizeof(worst.comm) - 1);
	findings_worst(findings, &worst);
}

/* Reports what was still going on when the events ended. */
static void put_cut(const struct sched_analysis *sched, struct findings *findings)
{
	const struct state *state = &sched->pass->state;
	uint64_t waits = 0, runs = 0, starts = 0;

	for (size_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];

		if (task->died || task->idle)
			continue;
		waits += task->mode == TASK_WAKING || task->mode == TASK_QUEUED || task->mode == TASK_PREEMPTED;
		runs += task->mode == TASK_RUNNING;
	}
	for (size_t i = 0; i < state->nr_cpus; i++)
		starts += state->cpus[i].seen && state->cpus[i].switches;
	if (sched->pass->filter.cpus)
		findings_note(findings, "tasks and wakeups are for all CPUs: --cpu chooses the rows of CPUs, lanes, "
					"runs and chains");
	findings_cut(findings, starts, "runs under way at the start");
	findings_cut(findings, runs, "runs under way at the end");
	findings_cut(findings, sched->cut_waits, "wakeups whose beginning is not known");
	findings_cut(findings, waits, "waits at the end");
	findings_broken(findings, sched->broken_waits, "wakeups");
}

int sched_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct sched_analysis *sched = arg;

	if (sched->pass->lines && sched->options.timehist)
		out_char(sched->pass->lines, '\n');
	if (!sched->pass->state.events[STATE_SWITCH])
		return pass_nothing(sched->pass, &sched_analysis,
				    "there is no sched_switch among the events, which says which task has a CPU",
				    "-e sched", fail);
	if (sched->chain && sched_chain_check(sched->chain, fail))
		return -ENODATA;
	if (sched->map && sched->pass->lines)
		sched_map_print(sched->map, sched->pass->lines);
	if (sched->chain)
		sched_chain_put(sched->chain, findings);
	if (sched->idle)
		sched->pass->failed |= !sched_idle_put(sched->idle, findings);
	put_tasks(sched, findings);
	put_cpus(sched, findings);
	put_parts(sched, findings);
	put_worst(sched, findings);
	put_cut(sched, findings);
	return sched->pass->failed ? fail_memory(fail) : 0;
}
