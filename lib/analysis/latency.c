// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/latency.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/timeline.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Why the longest wakeups took so long: what the CPU did on which the task came to run, from the waker's decision until then. */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "who has a CPU" },
	{ "sched:sched_waking", NULL, "when a wakeup begins" },
	{ "sched:sched_wakeup", NULL, "when the task is on a queue" },
	{ "sched:sched_migrate_task", NULL, "on which queues it was" },
	{ "irq:irq_handler_entry", "irq_vectors:*", "time in interrupts" },
	{ "irq:softirq_entry", NULL, "time in softirqs" },
	{ NULL, NULL, NULL },
};

/* The parts of a wakeup, which add up to it. */
enum part {
	PART_ENQUEUE, /* from sched_waking to sched_wakeup */
	PART_IDLE,    /* the CPU idled, and had to come out of it */
	PART_HARD,
	PART_SOFT,
	PART_BEFORE, /* the task that had the CPU kept it, and no event of it said yet that another is to run */
	PART_AFTER,  /* it kept it, though one did: preemption or interrupts were off */
	PART_OTHERS, /* tasks that came first */
	PART_UNKNOWN,
	PARTS,
};

static const char *const part_names[PARTS] = {
	"the way to its queue", "the idle CPU",
	"interrupts",           "softirqs",
	"the task before it",   "the task before it, which was to go",
	"tasks that ran first", "what is not known",
};

struct late {
	uint64_t lasted, at;
	uint64_t parts[PARTS];
	uint32_t task, cpu;
	uint32_t before; /* the task that had the CPU; STATE_NO_TASK: unknown */
	uint32_t other;  /* of those that ran first, the one that ran longest */
	int32_t waker, prio;
};

/* The queues on which a woken task stood: the last ones. */
enum { HOPS = 4 };

struct way {
	struct {
		uint64_t since;
		uint32_t cpu;
	} hops[HOPS];
	size_t nr;
};

struct analysis {
	struct pass *pass;
	struct way *ways; /* by the state's index of the task */
	size_t nr_ways;
	struct latency_options options;
	struct timeline timeline;
	struct late *late; /* the longest first */
	size_t nr_late;
	uint64_t seen, broken, wrong; /* wrong: parts that do not add up */
};

static int new (struct pass *pass, const void *options, struct analysis **ret, struct fail *fail)
{
	struct analysis *latency = calloc(1, sizeof(*latency));

	if (!latency)
		return fail_memory(fail);
	latency->pass = pass;
	latency->options =
		options ? *(const struct latency_options *)options : (struct latency_options){ .worst = LATENCY_WORST };
	*ret = latency;
	return 0;
}

static void release(struct analysis *latency)
{
	if (!latency)
		return;
	timeline_release(&latency->timeline);
	free(latency->late);
	free(latency->ways);
	free(latency);
}

/* A piece of a task's time on the CPU; resched: when it was said that another is to run. */
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
	late->parts[PART_OTHERS] += to - from;
	if (to - from > *longest) {
		*longest = to - from;
		late->other = step->task;
	}
}

/* Who had the CPU when the wait began. */
static uint32_t task_at(const struct timeline *timeline, uint32_t cpu, uint64_t since)
{
	struct timeline_step step;

	for (size_t i = 0; timeline_back(timeline, cpu, i, &step); i++)
		if (step.from <= since)
			return step.task;
	return STATE_NO_TASK;
}

/* What a CPU did in a part of the wait: backwards from its end. */
static void split(const struct timeline *timeline, uint32_t cpu, uint64_t since, uint64_t to, struct late *late,
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

/* Each queue's CPU in its time. Where the task came to run on another CPU than that of its last queue, it is not known when it went there. */
static void split_way(const struct analysis *latency, uint64_t since, struct late *late)
{
	const struct way *way = late->task < latency->nr_ways ? &latency->ways[late->task] : NULL;
	uint64_t to = late->at, longest = 0;

	if (!way || !way->nr || way->hops[way->nr - 1].cpu != late->cpu) {
		late->parts[PART_UNKNOWN] += late->at - since;
		return;
	}
	late->before = task_at(&latency->timeline, way->hops[0].cpu, since);
	for (size_t i = way->nr; i-- > 0 && to > since;) {
		uint64_t from = i && way->hops[i].since > since ? way->hops[i].since : since;

		if (from >= to)
			continue;
		split(&latency->timeline, way->hops[i].cpu, from, to, late, &longest);
		to = from;
	}
}

static void explain(struct analysis *latency, struct late *late, uint64_t waking, uint64_t woken)
{
	uint64_t since = woken ? woken : waking, sum = 0;

	late->before = STATE_NO_TASK;
	late->other = STATE_NO_TASK;
	if (waking && woken)
		late->parts[PART_ENQUEUE] = woken - waking;
	split_way(latency, since, late);
	for (size_t i = 0; i < PARTS; i++)
		sum += late->parts[i];
	latency->wrong += sum != late->lasted;
}

static void keep(struct analysis *latency, const struct late *late)
{
	size_t index;

	if (latency->nr_late < latency->options.worst && !vec_push(latency->late, latency->nr_late)) {
		latency->pass->failed = true;
		return;
	}
	for (index = latency->nr_late - 1; index && latency->late[index - 1].lasted < late->lasted; index--)
		latency->late[index] = latency->late[index - 1];
	latency->late[index] = *late;
}

static void see_run(struct analysis *latency, uint32_t cpu)
{
	const struct state *state = &latency->pass->state;
	const struct state_step *step = &state->step;
	const struct state_task *task = &state->tasks[step->task];
	uint64_t since = step->waking ? step->waking : step->woken;
	struct late late = { .at = state->now,
			     .lasted = state->now - since,
			     .task = step->task,
			     .cpu = cpu,
			     .waker = task->waker,
			     .prio = task->prio };

	if ((step->was != TASK_WAKING && step->was != TASK_QUEUED) || !since || !pass_wants(latency->pass, task) ||
	    !pass_wants_cpu(latency->pass, cpu) || (latency->options.rt && (task->prio < 0 || task->prio >= 100)))
		return;
	if (!step->intact) {
		latency->broken++;
		return;
	}
	latency->seen++;
	if (latency->nr_late == latency->options.worst && latency->late[latency->nr_late - 1].lasted >= late.lasted)
		return;
	explain(latency, &late, step->waking, step->woken);
	keep(latency, &late);
}

/* A woken task stands on the queue of this CPU from now on. */
static void see_queue(struct analysis *latency)
{
	const struct state_step *step = &latency->pass->state.step;
	struct way *way;

	while (latency->nr_ways <= step->task) {
		if (!vec_push(latency->ways, latency->nr_ways)) {
			latency->pass->failed = true;
			return;
		}
	}
	way = &latency->ways[step->task];
	if (step->kind != STEP_MIGRATE)
		way->nr = 0;
	if (way->nr == HOPS)
		memmove(way->hops, way->hops + 1, (--way->nr) * sizeof(*way->hops));
	way->hops[way->nr].since = latency->pass->state.now;
	way->hops[way->nr++].cpu = step->cpu;
}

static void see(struct analysis *latency, const struct event *event)
{
	const struct state *state = &latency->pass->state;

	timeline_see(&latency->timeline, state, event);
	switch ((enum step_kind)state->step.kind) {
	case STEP_SWITCH:
		see_run(latency, event->cpu);
		return;
	case STEP_WAKING:
	case STEP_WOKEN:
	case STEP_MIGRATE:
		see_queue(latency);
		return;
	case STEP_NONE:
	case STEP_LOST:
	case STEP_FORK:
		return;
	}
}

enum column {
	LASTED,
	TASK,
	PID,
	PRIO,
	CPU,
	FROM,
	TO,
	ENQUEUE,
	IDLE,
	HARD,
	SOFT,
	BEFORE,
	AFTER,
	OTHERS,
	UNKNOWN,
	WAKER,
	WAKER_PID,
	BEFORE_TASK,
	BEFORE_PID,
	CAUSE,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	[LASTED] = { "DELAY", TABLE_TIME, NULL },
	[TASK] = { "TASK", TABLE_TEXT, "comm" },
	[PID] = { "PID", TABLE_NUMBER, NULL },
	[PRIO] = { "PRIO", TABLE_NUMBER, NULL },
	[CPU] = { "CPU", TABLE_NUMBER, NULL },
	[FROM] = { "FROM", TABLE_NUMBER, "since" },
	[TO] = { "UNTIL", TABLE_NUMBER, "until" },
	[ENQUEUE] = { "QUEUE", TABLE_TIME, NULL },
	[IDLE] = { "IDLE", TABLE_TIME, NULL },
	[HARD] = { "IRQ", TABLE_TIME, NULL },
	[SOFT] = { "SOFTIRQ", TABLE_TIME, NULL },
	[BEFORE] = { "BEFORE", TABLE_TIME, NULL },
	[AFTER] = { "RESCHED", TABLE_TIME, NULL },
	[OTHERS] = { "OTHERS", TABLE_TIME, NULL },
	[UNKNOWN] = { "UNKNOWN", TABLE_TIME, NULL },
	[WAKER] = { "WAKER", TABLE_TEXT, "waker_comm" },
	[WAKER_PID] = { "WAKER PID", TABLE_NUMBER, "waker_pid" },
	[BEFORE_TASK] = { "TASK BEFORE", TABLE_TEXT, "before_comm" },
	[BEFORE_PID] = { "BEFORE PID", TABLE_NUMBER, "before_pid" },
	[CAUSE] = { "MOST OF IT", TABLE_TEXT, "cause" },
};

static const char *name_of(const struct analysis *latency, uint32_t task)
{
	return task == STATE_NO_TASK ? "" : pass_comm(latency->pass, &latency->pass->state.tasks[task]);
}

static void put_pid(const struct analysis *latency, struct table *table, uint32_t task)
{
	if (task == STATE_NO_TASK)
		table_cell(table, "-");
	else
		table_cell_s64(table, latency->pass->state.tasks[task].pid);
}

/* The largest part, with the task that it is of. */
static void put_cause(const struct analysis *latency, struct table *table, const struct late *late)
{
	enum part most = 0;
	uint32_t who;

	for (enum part i = 0; i < PARTS; i++)
		if (late->parts[i] > late->parts[most])
			most = i;
	who = most == PART_BEFORE || most == PART_AFTER ? late->before :
	      most == PART_OTHERS                       ? late->other :
							  (uint32_t)STATE_NO_TASK;
	if (who == STATE_NO_TASK)
		table_cell(table, part_names[most]);
	else
		table_cellf(table, "%s: %s-%d", part_names[most], name_of(latency, who),
			    latency->pass->state.tasks[who].pid);
}

static void put_late(const struct analysis *latency, struct table *table, const struct late *late)
{
	const struct state *state = &latency->pass->state;
	uint32_t waker = late->waker > 0 ? state_task_of(state, late->waker) : (uint32_t)STATE_NO_TASK;

	table_cell_u64(table, late->lasted);
	table_cell(table, name_of(latency, late->task));
	put_pid(latency, table, late->task);
	if (late->prio >= 0)
		table_cell_s64(table, late->prio);
	else
		table_cell(table, "-");
	table_cell_u64(table, late->cpu);
	table_cell_decimal(table, (int64_t)(late->at - late->lasted), 9);
	table_cell_decimal(table, (int64_t)late->at, 9);
	for (size_t i = 0; i < PARTS; i++)
		table_cell_u64(table, late->parts[i]);
	table_cell(table, late->waker ? name_of(latency, waker) : "<idle>");
	table_cell_s64(table, late->waker);
	table_cell(table, name_of(latency, late->before));
	put_pid(latency, table, late->before);
	put_cause(latency, table, late);
}

static void put_worst(const struct analysis *latency, struct findings *findings, const struct late *late)
{
	struct worst worst = { .what = "delay of a wakeup",
			       .lasted = late->lasted,
			       .from = late->at - late->lasted,
			       .to = late->at,
			       .cpu = late->cpu,
			       .pid = latency->pass->state.tasks[late->task].pid };

	strncpy(worst.comm, name_of(latency, late->task), sizeof(worst.comm) - 1);
	findings_worst(findings, &worst);
}

static int finish(struct analysis *latency, struct findings *findings, struct fail *fail)
{
	struct table *table;

	if (!latency->pass->state.events[STATE_SWITCH])
		return fail_set(
			fail, -ENODATA,
			"there is no sched_switch among the events, which tells when a task runs; record with -e sched");
	if (latency->wrong)
		return fail_set(fail, -EPROTO,
				"the parts of %" PRIu64 " wakeups do not add up; that is an error of weft",
				latency->wrong);
	table = findings_table(findings, "wakeups", "the longest wakeups, and what each waited for", "delay", columns,
			       COLUMNS);
	if (!table || latency->timeline.failed || latency->pass->failed)
		return fail_memory(fail);
	table->data_only = 1 << WAKER_PID | 1 << BEFORE_PID | 1 << BEFORE_TASK | 1 << TO;
	table->spare = 1 << FROM | 1 << PRIO | 1 << WAKER | 1 << UNKNOWN | 1 << SOFT;
	for (size_t i = 0; i < latency->nr_late; i++)
		put_late(latency, table, &latency->late[i]);
	if (latency->nr_late)
		put_worst(latency, findings, &latency->late[0]);
	findings_note(findings, "%" PRIu64 " wakeups were looked at", latency->seen);
	findings_broken(findings, latency->broken, "wakeups");
	return 0;
}

const struct analysis_ops latency_analysis = {
	.name = "latency",
	.summary = "explain the longest delays of wakeups",
	.wants = wants,
	.new = new,
	.see = see,
	.finish = finish,
	.free = release,
};
