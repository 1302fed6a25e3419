// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/sched.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/sched_chain.h"
#include "lib/analysis/sched_map.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * How long each task ran, waited and slept, and what each CPU did. lib/state has the times; this file adds the counts.
 */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "who has a CPU" },
	{ "sched:sched_waking", NULL, "when a wait begins and who ends a sleep" },
	{ "sched:sched_wakeup,sched:sched_wakeup_new", NULL, "when a woken task is on a queue" },
	{ "sched:sched_process_fork", "task:task_newtask", "which task a PID is" },
	{ "sched:sched_migrate_task", NULL, "which CPU a task is to run on" },
	{ "sched:sched_process_exec", "task:task_rename", "how a task is called" },
	{ "irq", "irq*:*", "time in interrupts" },
	{ NULL, NULL, NULL },
};

/* The kernel's MAX_RT_PRIO: lower priorities belong to real-time and deadline tasks. */
enum { REAL_TIME = 100 };

/* The longest case of something. */
struct extreme {
	uint64_t lasted, at; /* at: when it ended */
	uint32_t cpu, task;
};

struct counts {
	uint64_t voluntary, involuntary, wakeups, migrations, moves;
	struct samples delay; /* from waking, or else from the wakeup, until the task ran */
	struct extreme worst;
	uint32_t ran_on;    /* CPU + 1; 0: the task has not run */
	uint64_t left;      /* when the task lost its CPU; 0: it has not */
	uint64_t off, late; /* before its run: the time without a CPU, and the part of it since the wakeup */
};

/* The way from the waker's decision to the first instruction of the woken task. */
enum part { PART_ENQUEUE, PART_RUN, PART_WHOLE, PARTS };

struct analysis {
	struct pass *pass;
	struct sched_options options;
	struct counts *tasks; /* by the task's index in the state */
	size_t nr_tasks;
	struct samples parts[PARTS];
	struct extreme worst[PARTS];
	uint64_t broken_waits, cut_waits;
	struct sched_chain *chain; /* NULL: the user did not ask for it */
	struct sched_map *map;
};

static void release(struct analysis *sched);

static int create(struct pass *pass, const void *options, struct analysis **ret, struct fail *fail)
{
	struct analysis *sched = calloc(1, sizeof(*sched));

	if (!sched)
		return fail_memory(fail);
	sched->pass = pass;
	if (options)
		sched->options = *(const struct sched_options *)options;
	if (sched->options.chain)
		sched->chain = sched_chain_new(pass, sched->options.chain);
	if (sched->options.map)
		sched->map = sched_map_new(pass, sched->options.map);
	if ((sched->options.chain && !sched->chain) || (sched->options.map && !sched->map)) {
		release(sched);
		return fail_memory(fail);
	}
	if (pass->lines && sched->options.timehist)
		out_f(pass->lines, "%-18s %5s  %-16s %7s %12s %12s %12s  %s\n", "# TIME", "CPU", "TASK", "PID",
		      "OFF ms", "DELAY ms", "RUN ms", "STATE");
	*ret = sched;
	return 0;
}

static void release(struct analysis *sched)
{
	if (!sched)
		return;
	for (size_t i = 0; i < sched->nr_tasks; i++)
		samples_release(&sched->tasks[i].delay);
	for (size_t i = 0; i < PARTS; i++)
		samples_release(&sched->parts[i]);
	sched_chain_free(sched->chain);
	sched_map_free(sched->map);
	free(sched->tasks);
	free(sched);
}

/* Returns whether the task gets a row. */
static bool has_row(const struct analysis *sched, const struct state_task *task)
{
	return (!sched->options.rt || (task->prio >= 0 && task->prio < REAL_TIME)) && pass_wants(sched->pass, task);
}

__attribute__((noinline)) static struct counts *add_counts(struct analysis *sched, uint32_t task)
{
	while (sched->nr_tasks <= task) {
		if (!vec_push(sched->tasks, sched->nr_tasks)) {
			sched->pass->failed = true;
			return NULL;
		}
	}
	return &sched->tasks[task];
}

static inline struct counts *counts_of(struct analysis *sched, uint32_t task)
{
	return __builtin_expect(task < sched->nr_tasks, 1) ? &sched->tasks[task] : add_counts(sched, task);
}

static inline void see_longest(struct extreme *worst, uint64_t lasted, uint64_t at, uint32_t cpu, uint32_t task)
{
	if (!worst->at || lasted > worst->lasted)
		*worst = (struct extreme){ lasted, at, cpu, task };
}

static inline void add_part(struct analysis *sched, enum part part, uint64_t lasted, uint32_t cpu, uint32_t task)
{
	samples_add(&sched->parts[part], &sched->pass->budget, lasted);
	see_longest(&sched->worst[part], lasted, sched->pass->state.now, cpu, task);
}

/* A woken task begins to run: counts its delay. */
static void see_delay(struct analysis *sched, struct counts *counts, uint32_t cpu)
{
	const struct state *state = &sched->pass->state;
	const struct state_step *step = &state->step;
	uint64_t since = step->waking ? step->waking : step->woken, lasted = state->now - since;

	if (!since)
		return;
	if (!step->intact) {
		sched->broken_waits++;
		return;
	}
	samples_add(&counts->delay, &sched->pass->budget, lasted);
	see_longest(&counts->worst, lasted, state->now, cpu, step->task);
	if (!has_row(sched, &state->tasks[step->task]))
		return;
	add_part(sched, PART_WHOLE, lasted, cpu, step->task);
	if (step->waking && step->woken)
		add_part(sched, PART_ENQUEUE, step->woken - step->waking, cpu, step->task);
	if (step->woken)
		add_part(sched, PART_RUN, state->now - step->woken, cpu, step->task);
}

/* Writes the time in ms. 0 means that it is unknown, or that there is none. */
static void put_ms(struct out *out, uint64_t ns)
{
	if (ns)
		out_f(out, " %5" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
	else
		out_f(out, " %12s", "-");
}

/* Prints the line of a run that has ended. */
static void put_run(const struct analysis *sched, uint32_t cpu, const struct state_task *task,
		    const struct counts *counts)
{
	const struct state *state = &sched->pass->state;
	struct out *out = sched->pass->lines;

	if (!out || task->idle || !has_row(sched, task) || !pass_wants_cpu(sched->pass, cpu))
		return;
	out_f(out, "%8" PRIu64 ".%09" PRIu64 " %5" PRIu32 "  %-16s %7" PRId32, state->now / 1000000000,
	      state->now % 1000000000, cpu, pass_comm(sched->pass, task), task->pid);
	put_ms(out, counts->off);
	put_ms(out, counts->late);
	put_ms(out, state->step.ran_since ? state->now - state->step.ran_since : 0);
	out_f(out, "  %s\n", task->letter == '+' ? "R+" : (const char[]){ task->letter, 0 });
}

static void see_switch(struct analysis *sched, uint32_t cpu)
{
	const struct state *state = &sched->pass->state;
	const struct state_step *step = &state->step;
	const struct state_task *prev = &state->tasks[step->other];
	struct counts *counts = counts_of(sched, step->other);

	if (!counts)
		return;
	if (prev->letter == 'R' || prev->letter == '+')
		counts->involuntary++;
	else
		counts->voluntary++;
	if (sched->options.timehist)
		put_run(sched, cpu, prev, counts);
	counts->left = state->now;
	counts = state->tasks[step->task].idle ? NULL : counts_of(sched, step->task);
	if (!counts)
		return;
	if (counts->ran_on && counts->ran_on != cpu + 1)
		counts->moves++;
	counts->ran_on = cpu + 1;
	counts->off = counts->left ? state->now - counts->left : 0;
	counts->late = step->waking || step->woken ? state->now - (step->waking ? step->waking : step->woken) : 0;
	if (step->was == TASK_WAKING || step->was == TASK_QUEUED)
		see_delay(sched, counts, cpu);
}

static void see(struct analysis *sched, const struct event *event)
{
	const struct state_step *step = &sched->pass->state.step;
	struct counts *counts;

	if (sched->chain)
		sched_chain_see(sched->chain, event);
	if (sched->map)
		sched_map_see(sched->map, event);
	switch ((enum step_kind)step->kind) {
	case STEP_NONE:
	case STEP_LOST:
	case STEP_FORK:
		return;
	case STEP_SWITCH:
		see_switch(sched, event->cpu);
		return;
	case STEP_WAKING:
	case STEP_WOKEN:
		counts = counts_of(sched, step->task);
		/* A sched_wakeup that follows a sched_waking belongs to the same wakeup. */
		if (counts && !(step->kind == STEP_WOKEN && step->was == TASK_WAKING))
			counts->wakeups++;
		return;
	case STEP_MIGRATE:
		counts = counts_of(sched, step->task);
		if (counts)
			counts->migrations++;
		return;
	}
}

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

static void put_at(struct table *table, const struct extreme *worst)
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

static void put_task(const struct analysis *sched, struct table *table, const struct state_task *task,
		     const struct counts *counts)
{
	const uint64_t *spent = task->spent;
	bool migrates = sched->pass->state.events[STATE_MIGRATE];

	table_attach(table, &counts->delay);
	table_cell(table, pass_comm(sched->pass, task));
	table_cell_s64(table, task->pid);
	if (task->prio >= 0)
		table_cell_s64(table, task->prio);
	else
		table_cell(table, "-");
	table_cell_u64(table, spent[TASK_RUNNING]);
	table_cell_u64(table, spent[TASK_PREEMPTED] + spent[TASK_WAKING] + spent[TASK_QUEUED]);
	table_cell_u64(table, task->beside_idle);
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

static void put_tasks(struct analysis *sched, struct findings *findings)
{
	const struct state *state = &sched->pass->state;
	struct table *table =
		findings_table(findings, "tasks",
			       "tasks: how long each ran, waited for a CPU and slept; the delay from waking "
			       "until it ran",
			       "run", task_columns, TASK_COLUMNS);
	uint64_t self = 0, ran = 0;

	if (!table)
		return;
	table->data_only = 1 << DELAYS | 1 << MAX_CPU | 1 << GENERATION | 1 << OTHER | 1 << PRIO;
	table->spare = 1 << BESIDE | 1 << UNKNOWN | 1 << MIGRATIONS | 1 << MAX_AT | 1 << P50 | 1 << WAKEUPS;
	findings_brief(findings,
		       1 << TASK | 1 << PID | 1 << RUN | 1 << WAIT | 1 << BLOCKED | 1 << P50 | 1 << P99 | 1 << MAX);
	for (uint32_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];
		const struct counts *counts = task->idle ? NULL : counts_of(sched, i);

		if (counts && has_row(sched, task)) {
			put_task(sched, table, task, counts);
		} else if (counts && pass_is_self(sched->pass, task->pid)) {
			self++;
			ran += task->spent[TASK_RUNNING];
		}
	}
	if (self && !sched->pass->filter.self)
		findings_note(findings,
			      "left out: %" PRIu64 " task%s of weft itself, which ran %" PRIu64
			      " us; --self shows them",
			      self, text_plural(self), ran / 1000);
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

static void put_cpus(const struct analysis *sched, struct findings *findings)
{
	const struct state *state = &sched->pass->state;
	struct table *table = findings_table(findings, "cpus", "CPUs: what each did in the time of the trace", NULL,
					     cpu_columns, CPU_COLUMNS);
	uint64_t span = state->now - state->start;

	findings_brief(findings, UINT32_MAX);
	for (uint32_t i = 0; table && i < state->nr_cpus; i++) {
		const struct state_cpu *cpu = &state->cpus[i];

		if (!cpu->seen || !pass_wants_cpu(sched->pass, i))
			continue;
		table_cell_u64(table, i);
		table_cell_u64(table, cpu->spent[CPU_TASK]);
		table_cell_decimal(table,
				   span ? (int64_t)((double)cpu->spent[CPU_TASK] / (double)span * 1000 + 0.5) : 0, 1);
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

static void put_parts(const struct analysis *sched, struct findings *findings)
{
	static const char *const names[PARTS] = { "waking to queued", "queued to running", "waking to running" };
	struct table *table = findings_table(findings, "wakeups", "wakeups of all tasks, in parts", NULL, part_columns,
					     array_size(part_columns));

	findings_brief(findings, sched->parts[PART_WHOLE].count ? UINT32_MAX : 0);
	for (size_t i = 0; table && i < PARTS; i++) {
		table_cell(table, names[i]);
		pass_cells(table, &sched->parts[i]);
		put_at(table, &sched->worst[i]);
	}
}

static void put_worst(const struct analysis *sched, struct findings *findings)
{
	const struct extreme *extreme = &sched->worst[PART_WHOLE];
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
static void put_cut(const struct analysis *sched, struct findings *findings)
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
		findings_note(
			findings,
			"tasks and wakeups are those of all CPUs: --cpu chooses the rows of CPUs, lanes, runs and chains");
	findings_cut(findings, starts, "runs under way at the start");
	findings_cut(findings, runs, "runs under way at the end");
	findings_cut(findings, waits, "waits at the end");
	findings_broken(findings, sched->broken_waits, "wakeups");
}

static int finish(struct analysis *sched, struct findings *findings, struct fail *fail)
{
	if (sched->pass->lines && sched->options.timehist)
		out_char(sched->pass->lines, '\n');
	if (!sched->pass->state.events[STATE_SWITCH])
		return pass_nothing(sched->pass, &sched_analysis,
				    "there is no sched_switch among the events, which tells which task has a CPU",
				    "-e sched", fail);
	if (sched->map && sched->pass->lines)
		sched_map_print(sched->map, sched->pass->lines);
	if (sched->chain)
		sched_chain_put(sched->chain, findings);
	put_tasks(sched, findings);
	put_cpus(sched, findings);
	put_parts(sched, findings);
	put_worst(sched, findings);
	put_cut(sched, findings);
	return sched->pass->failed ? fail_memory(fail) : 0;
}

const struct analysis_ops sched_analysis = {
	.name = "sched",
	.summary = "show how long tasks ran, waited and slept, and what CPUs did",
	.wants = wants,
	.essential = 1,
	.create = create,
	.see = see,
	.finish = finish,
	.free = release,
};
