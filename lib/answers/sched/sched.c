// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/sched/sched_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/answers/sched/sched_by_internal.h"
#include "lib/answers/sched/sched_chain_internal.h"
#include "lib/answers/sched/sched_idle_internal.h"
#include "lib/answers/sched/sched_map_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

/*
 * How long each task ran, waited and slept, and what each CPU did. lib/meaning/state has the times; this file adds the
 * counts. lib/answers/sched/sched_tables.c makes the tables.
 */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "who has a CPU" },
	{ "sched:sched_waking", NULL, "when a wait begins and who ends a sleep" },
	{ "sched:sched_wakeup,sched:sched_wakeup_new", NULL, "when a woken task is on a queue" },
	{ "sched:sched_migrate_task", NULL, "which CPU a task is to run on" },
	{ "irq", "irq:*", "time in interrupts of devices and in softirqs" },
	{ "irq_vectors", "ipi:ipi_*,powerpc:timer_interrupt_*,powerpc:doorbell_*",
	  "time in interrupts of the timer and between CPUs" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct sched_analysis *sched = arg;

	sched->pass = pass;
	if (options)
		sched->options = *(const struct sched_options *)options;
	if (sched->options.chain)
		sched->chain = sched_chain_new(pass, sched->options.chain);
	if (sched->options.map)
		sched->map = sched_map_new(pass, sched->options.map);
	if (sched->options.idle)
		sched->idle = sched_idle_new(pass);
	if (sched->options.rows.by)
		sched->by = sched_by_new(pass, (enum who_part)(sched->options.rows.by - 1));
	/* The rows of --by follow the tasks themselves. */
	if (!sched->by)
		vcpu_times_follow(&sched->vcpus, pass);
	if (pass->lines && sched->options.timehist)
		out_f(pass->lines, "%-18s %5s  %-16s %7s %12s %12s %12s  %s\n", "# TIME", "CPU", "TASK", "PID",
		      "OFF ms", "DELAY ms", "RUN ms", "STATE");
	return (!sched->options.chain || sched->chain) && (!sched->options.map || sched->map) &&
	       (!sched->options.idle || sched->idle) && (!sched->options.rows.by || sched->by);
}

static void release(void *arg)
{
	struct sched_analysis *sched = arg;

	for (size_t i = 0; i < sched->nr_tasks; i++) {
		samples_release(&sched->tasks[i].delay);
		free(sched->tasks[i].real_time);
	}
	for (size_t i = 0; i < PARTS; i++)
		samples_release(&sched->parts[i]);
	sched_chain_free(sched->chain);
	sched_map_free(sched->map);
	sched_idle_free(sched->idle);
	sched_by_free(sched->by);
	vcpu_times_release(&sched->vcpus);
	free(sched->tasks);
}

/* Returns whether what the task does now belongs to its row. */
static inline bool counts_now(const struct sched_analysis *sched, const struct state_task *task)
{
	return !sched->options.rt || state_is_real_time(task->prio);
}

/* Returns whether what the task did from `since` to now counts in its row. */
static bool counts_since(const struct sched_analysis *sched, const struct state_task *task, uint64_t since)
{
	return counts_now(sched, task) && pass_wants_since(sched->pass, task, since) &&
	       listed_has(&sched->pass->state.listed, task->pid);
}

/* Returns where what happens to the task at this moment counts; NULL if a PID filter left it out, or without memory. */
static inline struct sched_counts *row_of(struct sched_analysis *sched, uint32_t id, struct sched_counts *counts)
{
	const struct state *state = &sched->pass->state;

	if (__builtin_expect(!sched->by, 1))
		return counts;
	return listed_has(&state->listed, state->tasks[id].pid) ? sched_by_counts(sched->by, id) : NULL;
}

/* Returns whether what happens to a task at this moment counts. */
static bool is_counted(const struct sched_analysis *sched, uint32_t id)
{
	const struct state_task *task = &sched->pass->state.tasks[id];

	return counts_now(sched, task) && pass_wants(sched->pass, task);
}

static inline void see_longest(struct sched_longest *worst, uint64_t lasted, uint64_t at, uint32_t cpu, uint32_t task)
{
	if (!worst->at || lasted > worst->lasted)
		*worst = (struct sched_longest){ lasted, at, cpu, task };
}

static inline void add_part(struct sched_analysis *sched, enum sched_part part, uint64_t lasted, uint32_t cpu,
			    uint32_t task)
{
	samples_add(&sched->parts[part], &sched->pass->budget, lasted);
	if (part == PART_WHOLE && (!sched->worst[part].at || lasted > sched->worst[part].lasted))
		pass_note_comm(sched->pass, task, sched->worst_comm);
	see_longest(&sched->worst[part], lasted, sched->pass->state.now, cpu, task);
}

/* A woken task begins to run: counts its delay. */
static void see_delay(struct sched_analysis *sched, struct sched_counts *counts, uint32_t cpu)
{
	const struct state *state = &sched->pass->state;
	const struct state_step *step = &state->step;
	uint64_t since = step->waking ? step->waking : step->woken, lasted = state->now - since;

	if (!since)
		return;
	if (!step->intact) {
		if (state->losses)
			sched->broken_waits++;
		else
			sched->cut_waits++;
		return;
	}
	if (!counts_since(sched, &state->tasks[step->task], since))
		return;
	counts = row_of(sched, step->task, counts);
	if (!counts)
		return;
	samples_add(&counts->delay, &sched->pass->budget, lasted);
	see_longest(&counts->worst, lasted, state->now, cpu, step->task);
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
static void put_run(const struct sched_analysis *sched, uint32_t cpu, const struct state_task *task,
		    const struct sched_counts *counts)
{
	const struct state *state = &sched->pass->state;
	struct out *out = sched->pass->lines;
	char at[PASS_MOMENT];

	if (!out || task->idle || !counts_since(sched, task, state->step.ran_since) ||
	    !pass_wants_cpu(sched->pass, cpu))
		return;
	out_f(out, "%18s %5" PRIu32 "  %-16s %7" PRId32, pass_moment(sched->pass, state->now, at), cpu,
	      pass_comm(sched->pass, task), task->pid);
	/* If the beginning of the run was not seen, these are of another run. */
	put_ms(out, state->step.ran_since ? counts->off : 0);
	put_ms(out, state->step.ran_since ? counts->late : 0);
	put_ms(out, state->step.ran_since ? state->now - state->step.ran_since : 0);
	out_f(out, "  %s\n", task->letter == '+' ? "R+" : (const char[]){ task->letter, 0 });
}

__attribute__((noinline)) static void see_switch(struct sched_analysis *sched, uint32_t cpu)
{
	const struct state *state = &sched->pass->state;
	const struct state_step *step = &state->step;
	const struct state_task *prev = &state->tasks[step->other];
	struct sched_counts *counts = sched_counts_of(sched, step->other);

	if (!counts)
		return;
	/* The first switch of the CPU ends a run whose begin was not seen. A CPU that idled had none. */
	sched->cut_runs += state->cpus[cpu].switches == 1 && !step->ran_since && !prev->idle;
	if (counts_now(sched, prev) && pass_wants_since(sched->pass, prev, step->ran_since) && !prev->idle) {
		struct sched_counts *row = row_of(sched, step->other, counts);

		if (row && (prev->letter == 'R' || prev->letter == '+'))
			row->involuntary++;
		else if (row)
			row->voluntary++;
	}
	if (sched->options.timehist)
		put_run(sched, cpu, prev, counts);
	counts->left = state->now;
	counts->losses = state->losses;
	counts = state->tasks[step->task].idle ? NULL : sched_counts_of(sched, step->task);
	if (!counts)
		return;
	if (counts->ran_on && counts->ran_on != cpu + 1 && is_counted(sched, step->task)) {
		struct sched_counts *row = row_of(sched, step->task, counts);

		if (row)
			row->moves++;
	}
	counts->ran_on = cpu + 1;
	/* The task may have run while events were lost. */
	counts->off = counts->left && counts->losses == state->losses ? state->now - counts->left : 0;
	counts->late = step->intact && (step->waking || step->woken) ?
			       state->now - (step->waking ? step->waking : step->woken) :
			       0;
	if ((step->was == TASK_WAKING || step->was == TASK_QUEUED) && !step->first)
		see_delay(sched, counts, cpu);
}

/* Only events of the scheduler change tasks; a chain ends with interrupts, and a map also shows them. */
static uint8_t look(void *arg, const struct event *event)
{
	struct sched_analysis *sched = arg;

	return sched->chain || sched->map || state_look(&sched->pass->state, event);
}

static void see_woken(struct sched_analysis *sched)
{
	const struct state_step *step = &sched->pass->state.step;
	struct sched_counts *counts = sched_counts_of(sched, step->task);

	/* A sched_wakeup that follows a sched_waking belongs to the same wakeup. A new task has not slept. */
	if (counts && !step->first && !(step->kind == STEP_WOKEN && step->was == TASK_WAKING) &&
	    is_counted(sched, step->task) && (counts = row_of(sched, step->task, counts)))
		counts->wakeups++;
}

static void see_migration(struct sched_analysis *sched)
{
	const struct state *state = &sched->pass->state;
	struct sched_counts *counts = sched_counts_of(sched, state->step.task);

	if (counts && is_counted(sched, state->step.task) && (counts = row_of(sched, state->step.task, counts)))
		counts->migrations++;
}

static void see_prios(struct sched_analysis *sched)
{
	const struct state_step *step = &sched->pass->state.step;
	uint64_t ran = step->kind == STEP_SWITCH && step->ran_since ? sched->pass->state.now - step->ran_since : 0;

	if (step->task != STATE_NO_TASK)
		(void)sched_see_prio(sched, step->task, sched_counts_of(sched, step->task), 0);
	if (step->other != STATE_NO_TASK)
		(void)sched_see_prio(sched, step->other, sched_counts_of(sched, step->other), ran);
}

static inline void see_step(struct sched_analysis *sched, const struct event *event)
{
	if (__builtin_expect(sched->options.rt, 0))
		see_prios(sched);
	switch ((enum step_kind)sched->pass->state.step.kind) {
	case STEP_NONE:
	case STEP_LOST:
	case STEP_FORK:
		return;
	case STEP_SWITCH:
		see_switch(sched, event->cpu);
		return;
	case STEP_WAKING:
	case STEP_WOKEN:
		see_woken(sched);
		return;
	case STEP_MIGRATE:
		see_migration(sched);
		return;
	}
}

__attribute__((noinline)) static void see_more(struct sched_analysis *sched, const struct event *event)
{
	if (sched->chain)
		sched_chain_see(sched->chain, event);
	if (sched->map)
		sched_map_see(sched->map, event);
	if (sched->idle)
		sched_idle_see(sched->idle, event);
	see_step(sched, event);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct sched_analysis *sched = arg;

	(void)role;
	if (__builtin_expect(sched->chain || sched->map || sched->idle, 0))
		see_more(sched, event);
	else
		see_step(sched, event);
}

static void divide(void *arg)
{
	struct sched_analysis *sched = arg;

	if (sched->idle)
		sched_idle_divide(sched->idle);
}

static void carry(void *arg, void *before)
{
	struct sched_analysis *sched = arg, *old = before;

	if (sched->idle && old->idle)
		sched_idle_carry(sched->idle, old->idle);
}

/* Behind "task" the parts of enum who_part, in their order. */
static const char *const by[] = { "task", WHO_WORDS, NULL };

const struct analysis_ops sched_analysis = {
	.name = "sched",
	.summary = "show how long tasks ran, waited and slept, and what CPUs did",
	.columns = sched_columns,
	.by = by,
	.options_size = sizeof(struct sched_options),
	.of_tasks = true,
	.wants = wants,
	.nothing = "there is no sched_switch among the events, which says which task has a CPU",
	.recorded_by = "-e sched",
	.essential = 1,
	.option = "record-tgid",
	.in_summary = true,
	.size = sizeof(struct sched_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = divide,
	.carry = carry,
	.finish = sched_finish,
	.release = release,
};
