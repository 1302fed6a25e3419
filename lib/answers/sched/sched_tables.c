// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/sched/sched_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/sched/sched_by_internal.h"
#include "lib/answers/sched/sched_chain_internal.h"
#include "lib/answers/sched/sched_idle_internal.h"
#include "lib/answers/sched/sched_map_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/withheld.h"
#include "lib/meaning/reader/reader.h"

#define TASK_COLUMNS(X)                                                                     \
	X("TASK", TEXT, "comm", BRIEF, table_cell, pass_comm(sched->pass, task))            \
	X("PID", NUMBER, "pid", BRIEF | SAME, table_cell_s64, task->pid)                    \
	X("PRIO", NUMBER, "prio", DATA, table_cell_known_s64, prio >= 0, prio)              \
	X("RUN", TIME, NULL, BRIEF | ADDS, table_cell_u64, spent[TASK_RUNNING])             \
	X("WAIT", TIME, NULL, BRIEF | ADDS, table_cell_u64,                                 \
	  spent[TASK_PREEMPTED] + spent[TASK_WAKING] + spent[TASK_QUEUED])                  \
	X("W/IDLE", TIME, "wait_beside_idle_ns", ADDS | SPARE, table_cell_known, !filtered, \
	  times ? times->beside_idle : task->beside_idle)                                   \
	COUNTS_COLUMNS(X)                                                                   \
	X("GENERATION", NUMBER, NULL, DATA, table_cell_u64, task->generation)

const struct table_column sched_columns[] = COLUMNS(TASK_COLUMNS);

struct sched_counts *sched_add_counts(struct sched_analysis *sched, uint32_t task)
{
	while (sched->nr_tasks <= task) {
		if (!vec_push(sched->tasks, sched->nr_tasks)) {
			sched->pass->failed = true;
			return NULL;
		}
	}
	return &sched->tasks[task];
}

bool sched_wants(const struct sched_analysis *sched, const struct state_task *task)
{
	return pass_wants(sched->pass, task) && listed_has(&sched->pass->state.listed, task->pid);
}

static void put_task(const struct sched_analysis *sched, struct table *table, const struct state_task *task,
		     const struct sched_counts *counts)
{
	const struct sched_real_time *times = counts->real_time;
	int32_t prio = times ? times->prio : task->prio;
	uint64_t spent[TASK_MODES];
	struct percentiles delay = percentiles_of(&counts->delay);
	bool migrates = sched->pass->state.events[STATE_MIGRATE];
	/* With a PID filter it is not known when CPUs were idle. */
	bool filtered = sched->pass->state.listed.filtered;

	for (enum task_mode i = 0; i < TASK_MODES; i++)
		spent[i] = times ? times->spent[i] : pass_spent(sched->pass, task, i);
	table_attach(table, &counts->delay);
	TASK_COLUMNS(CELL)
}

/* With options.rt a task has a row if it was a real-time task at any time. */
static bool has_row(struct sched_analysis *sched, uint32_t id)
{
	const struct sched_real_time *times =
		sched->options.rt ? sched_end_real_time(sched, id, sched_counts_of(sched, id)) : NULL;

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
			       "run", sched_columns);
	uint64_t self = 0, ran = 0;
	char lasted[TEXT_HUMAN];

	if (!table)
		return;
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
	pass_forget_unseen(sched->pass, findings, &(struct pass_unseen){ "wakeups", PASS_WAKES }, 1);
	if (self && !sched->pass->filter.self)
		findings_note(findings, "left out: %s task%s of weft itself, which ran %s; --self shows them",
			      text_count((char[TEXT_HUMAN]){ 0 }, self), text_plural(self), text_time(lasted, ran));
}

#define HOST_COLUMNS(X)                                                      \
	X("TASK", TEXT, "comm", 0, table_cell, pass_comm(sched->pass, task)) \
	X("PID", NUMBER, "pid", 0, table_cell_s64, task->pid)                \
	X("RUN", TIME, NULL, 0, table_cell_u64, run)                         \
	VCPU_COLUMNS(X, &time)                                               \
	X("MOST EXITS", TEXT, "most_exits", 0, table_cell, vcpu_times_most(times, i))

static const struct table_column host_columns[] = COLUMNS(HOST_COLUMNS);

/* Of a guest: its tasks beside the host. */
static void put_host(struct sched_analysis *sched, struct findings *findings)
{
	struct vcpu_times *times = &sched->vcpus;
	const struct vcpus *vcpus = sched->pass->filter.vcpus;
	struct table *table =
		findings_table(findings, "host",
			       "tasks beside the host: what the guest's CPUs did while each had one (RUN)", "run",
			       host_columns);

	for (uint32_t i = 0; table && i < sched->pass->state.nr_tasks; i++) {
		const struct state_task *task = &sched->pass->state.tasks[i];
		struct vcpu_time time = { .unsure = 0 };
		uint64_t run = 0;

		if (task->idle || !has_row(sched, i))
			continue;
		if (i < times->nr)
			time = times->tasks[i].time;
		for (size_t mode = 0; mode < VCPU_MODES; mode++)
			run += time.in[mode];
		if (run) {
			HOST_COLUMNS(CELL)
		}
	}
	vcpu_times_put(sched->pass, times, findings);
}

#define CPU_COLUMNS(X)                                                                            \
	X("CPU", NUMBER, NULL, BRIEF | SAME, table_cell_u64, i)                                   \
	X("TASKS", TIME, NULL, BRIEF | ADDS, table_cell_u64, cpu->spent[CPU_TASK])                \
	X("%", NUMBER, "tasks_percent", BRIEF, table_cell_percent, cpu->spent[CPU_TASK], span, 1) \
	X("IDLE", TIME, NULL, BRIEF | ADDS, table_cell_u64, cpu->spent[CPU_IDLE])                 \
	X("SOFTIRQ", TIME, NULL, BRIEF | ADDS, table_cell_u64, cpu->spent[CPU_SOFTIRQ])           \
	X("IRQ", TIME, NULL, BRIEF | ADDS, table_cell_u64, cpu->spent[CPU_HARDIRQ])               \
	X("UNKNOWN", TIME, NULL, BRIEF | ADDS, table_cell_u64, cpu->spent[CPU_UNKNOWN])           \
	X("SWITCHES", COUNT, NULL, BRIEF | ADDS, table_cell_u64, cpu->switches)                   \
	X("STOLEN", TIME, "stolen_at_most_ns", ADDS | WHEN, table_cell_known, stolen, stolen)

static const struct table_column cpu_columns[] = COLUMNS(CPU_COLUMNS);

/* The time in some interrupts is known where others were not recorded; a note says which. */
static const struct pass_unseen unseen[] = { { "softirq_ns", "irq:softirq_entry" }, { "irq_ns", PASS_IRQS } };

/* How much of the CPU's time the hypervisor had, at most. The kernel counts it as time of its tasks. */
static uint64_t stolen_of(const struct sched_analysis *sched, const struct withheld *withheld, uint32_t cpu)
{
	const struct state *state = &sched->pass->state;

	return state->cpus[cpu].seen && pass_wants_cpu(sched->pass, cpu) ?
		       withheld_stolen_within(withheld, cpu, state->start, state->now) :
		       0;
}

static void tell_stolen(uint64_t stolen, struct findings *findings)
{
	char time[TEXT_HUMAN];

	findings_show(findings, WHEN, stolen);
	findings_flag(findings, WHEN, BRIEF, stolen);
	if (stolen)
		findings_note(findings,
			      "steal: for at most %s a hypervisor had CPUs for others (STOLEN): a task that ran there "
			      "then stood still, and each that waited there waited longer",
			      text_time(time, stolen));
}

static void put_cpus(const struct sched_analysis *sched, struct findings *findings)
{
	const struct state *state = &sched->pass->state;
	struct table *table =
		findings_table(findings, "cpus", "CPUs: what each did in the time of the trace", NULL, cpu_columns);
	struct withheld *withheld = withheld_new(sched->pass->reader->buffers[0].context);
	uint64_t span = state->now - state->start, all = 0;

	findings->failed |= !withheld;
	for (uint32_t i = 0; withheld && i < state->nr_cpus; i++)
		all += stolen_of(sched, withheld, i);
	tell_stolen(all, findings);
	for (uint32_t i = 0; table && withheld && i < state->nr_cpus; i++) {
		const struct state_cpu *cpu = &state->cpus[i];
		uint64_t stolen = stolen_of(sched, withheld, i);

		if (!cpu->seen || !pass_wants_cpu(sched->pass, i))
			continue;
		CPU_COLUMNS(CELL)
	}
	pass_forget_unseen(sched->pass, findings, unseen, array_size(unseen));
	withheld_free(withheld);
}

#define PART_COLUMNS(X)                                                                       \
	X("WAKEUPS", TEXT, "part", BRIEF | SAME, table_cell, names[i])                        \
	X("COUNT", COUNT, NULL, BRIEF | ADDS, table_cell_known, known, sched->parts[i].count) \
	SPREAD(X, "", "", BRIEF, BRIEF, BRIEF, part)                                          \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_when, sched->worst[i].at)     \
	X("CPU", NUMBER, "max_cpu", BRIEF | SPARE, table_cell_known, sched->worst[i].at, sched->worst[i].cpu)

static const struct table_column part_columns[] = COLUMNS(PART_COLUMNS);

static void put_parts(const struct sched_analysis *sched, struct findings *findings)
{
	static const char *const names[PARTS] = { "waking to queued", "queued to running", "waking to running" };
	struct table *table = findings_table(findings, "wakeups", "wakeups of all tasks, in parts", NULL, part_columns);

	findings_flag(findings, BRIEF, BRIEF, sched->parts[PART_WHOLE].count);
	for (size_t i = 0; table && i < PARTS; i++) {
		struct percentiles part = percentiles_of(&sched->parts[i]);
		bool known = pass_has(sched->pass, i == PART_WHOLE ? PASS_WAKES : PASS_QUEUED) &&
			     (i != PART_ENQUEUE || pass_has(sched->pass, "sched:sched_waking"));

		PART_COLUMNS(CELL)
	}
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
	snprintf(worst.comm, sizeof(worst.comm), "%s", pass_comm_then(sched->pass, sched->worst_comm, task));
	findings_worst(findings, &worst);
}

/* Reports what was still going on when the events ended. */
static void put_cut(const struct sched_analysis *sched, struct findings *findings)
{
	const struct state *state = &sched->pass->state;
	uint64_t waits = 0, runs = 0;

	for (size_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];

		if (task->died || task->idle)
			continue;
		waits += task->mode == TASK_WAKING || task->mode == TASK_QUEUED || task->mode == TASK_PREEMPTED;
		runs += task->mode == TASK_RUNNING;
	}
	if (sched->pass->filter.cpus)
		findings_note(findings, "tasks and wakeups are for all CPUs: --cpu chooses the rows of CPUs, lanes, "
					"runs and chains");
	findings_cut(findings, sched->cut_runs, "runs under way at the start");
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
	if (!sched->pass->state.events[STATE_SWITCH] && !sched->pass->filter.shape)
		return PASS_NOTHING;
	if (sched->chain && !sched->pass->filter.shape && sched_chain_check(sched->chain, fail))
		return -ENODATA;
	if (sched->map && sched->pass->lines)
		sched_map_print(sched->map, sched->pass->lines);
	if (sched->chain)
		sched_chain_put(sched->chain, findings);
	if (sched->idle)
		sched->pass->failed |= !sched_idle_put(sched->idle, findings);
	if (sched->by)
		sched_by_put(sched->by, findings);
	else
		put_tasks(sched, findings);
	if (pass_is_guest(sched->pass) && !sched->by)
		put_host(sched, findings);
	put_cpus(sched, findings);
	put_parts(sched, findings);
	put_worst(sched, findings);
	put_cut(sched, findings);
	return sched->pass->failed ? fail_memory(fail) : 0;
}
