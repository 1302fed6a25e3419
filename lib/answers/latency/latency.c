// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/answers/frame/vcpu_times.h"
#include "lib/answers/latency/latency_noise_internal.h"
#include "lib/answers/latency/latency_section_internal.h"
#include "lib/answers/latency/latency_split_internal.h"
#include "lib/answers/latency/latency_spread_internal.h"
#include "lib/answers/latency/latency_stack_internal.h"
#include "lib/answers/latency/latency_timerlat_internal.h"
#include "lib/answers/latency/latency_waits_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/reader/reader.h"

/* Why the longest wakeups took so long: what the CPU of the woken task did from the waking until the task ran. */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "who has a CPU" },
	{ "sched:sched_waking", NULL, "when a wakeup begins" },
	{ "sched:sched_wakeup,sched:sched_wakeup_new", NULL, "when the task is on a queue" },
	{ "sched:sched_migrate_task", NULL, "on which queues it was" },
	{ "irq:irq_handler_entry,irq:irq_handler_exit,irq_vectors", NULL, "time in interrupts" },
	{ "irq:softirq_entry,irq:softirq_exit", NULL, "time in softirqs" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

struct latency_analysis {
	struct pass *pass;
	struct history_wait **waits; /* by the task's index in the state; NULL: it was never woken */
	size_t nr_waits;
	struct latency_options options;
	struct history history;
	struct lates wakeups, preemptions; /* preemptions: only with options.preempted */
	struct spreads spreads;            /* of all wakeups; of each task with `of_tasks` */
	bool of_tasks;
	struct timerlats timerlats;
	struct noises noises;
	struct late_stacks stacks;
	struct latency_waits *waiting;         /* NULL: nobody asks */
	uint64_t seen, fresh;                  /* wakeups, and those of them that begin the life of a task */
	uint64_t lost_cpu, broken, cut, wrong; /* lost_cpu: preemptions; wrong: the parts do not add up */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct latency_analysis *latency = arg;
	size_t worst;

	latency->pass = pass;
	if (options)
		latency->options = *(const struct latency_options *)options;
	worst = latency->options.rows.slowest ? latency->options.rows.slowest : (size_t)LATENCY_SLOWEST;
	if (!latency->options.rows.slowest)
		latency->options.rows.slowest = latency->options.rows.longer ? SLOWEST_MAX : LATENCY_SLOWEST;
	latency->of_tasks = pass_compares(pass) && latency->options.rows.by == LATENCY_BY_TASK;
	if (!pass_compares(pass) && latency->options.rows.by >= LATENCY_BY_WHO) {
		latency->waiting = latency_waits_new(pass, &latency->history,
						     (enum who_part)(latency->options.rows.by - LATENCY_BY_WHO));
		if (!latency->waiting)
			return false;
	}
	lates_init(&latency->wakeups, latency->options.rows.slowest, latency->options.rows.longer);
	lates_init(&latency->preemptions, latency->options.preempted ? latency->options.rows.slowest : 0,
		   latency->options.rows.longer);
	spreads_init(&latency->spreads, pass);
	timerlats_init(&latency->timerlats, pass, &latency->history, &latency->noises, &latency->stacks);
	lates_init(&latency->timerlats.samples, latency->options.rows.slowest, latency->options.rows.longer);
	return late_stacks_init(&latency->stacks, pass) && noises_init(&latency->noises, pass, worst);
}

static void forget(struct latency_analysis *latency, struct history_wait *wait)
{
	if (wait)
		history_wait_end(&latency->history, wait);
	free(wait);
}

static void release(void *arg)
{
	struct latency_analysis *latency = arg;

	for (size_t i = 0; i < latency->nr_waits; i++)
		forget(latency, latency->waits[i]);
	free(latency->waits);
	latency_waits_free(latency->waiting);
	noises_release(&latency->noises);
	late_stacks_release(&latency->stacks);
	slowest_release(&latency->wakeups.slowest);
	slowest_release(&latency->preemptions.slowest);
	spreads_release(&latency->spreads);
	timerlats_release(&latency->timerlats);
	history_release(&latency->history);
}

static struct history_wait *wait_of(const struct latency_analysis *latency, uint32_t task)
{
	return task < latency->nr_waits ? latency->waits[task] : NULL;
}

/*
 * Splits the wait by what the CPU of each queue did while the task stood on it. If the task first ran on a CPU other
 * than that of its last queue, the time of that move is unknown.
 */
static void split_way(struct latency_analysis *latency, uint64_t since, struct late *late)
{
	const struct history_wait *wait = wait_of(latency, late->task);

	if (!wait || wait->cpu != late->cpu || wait->began != since)
		late->parts[PART_UNKNOWN] += late->at - since;
	else
		latency_split(&latency->history, wait, late);
}

static void explain(struct latency_analysis *latency, struct late *late, uint64_t waking, uint64_t woken)
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

static void see_run(struct latency_analysis *latency, uint32_t cpu)
{
	const struct state *state = &latency->pass->state;
	const struct state_step *step = &state->step;
	const struct state_task *task = &state->tasks[step->task];
	bool preempted = step->was == TASK_PREEMPTED;
	uint64_t since = preempted ? step->since : step->waking ? step->waking : step->woken;
	struct lates *lates = preempted ? &latency->preemptions : &latency->wakeups;
	bool wanted;
	struct late late = { .at = state->now,
			     .lasted = state->now - since,
			     .task = step->task,
			     .cpu = cpu,
			     .waker = task->waker,
			     .prio = task->prio,
			     .fresh = step->first,
			     .preempted = preempted };

	if ((step->was != TASK_WAKING && step->was != TASK_QUEUED && !(preempted && latency->options.preempted)) ||
	    !since || !pass_wants_since(latency->pass, task, since) || !pass_wants_cpu(latency->pass, cpu) ||
	    (latency->options.rt && !state_is_real_time(task->prio)))
		return;
	if (!step->intact) {
		if (state->losses)
			latency->broken++;
		else
			latency->cut++;
		return;
	}
	*(preempted ? &latency->lost_cpu : &latency->seen) += 1;
	latency->fresh += late.fresh;
	wanted = slowest_wants(&lates->slowest, late.lasted) && slowest_room(&lates->slowest, late.lasted);
	if (!wanted && (preempted || !pass_compares(latency->pass)))
		return;
	explain(latency, &late, preempted ? since : step->waking, preempted ? 0 : step->woken);
	if (!preempted)
		spreads_add(&latency->spreads, latency->of_tasks ? late.task : 0, &late);
	if (!wanted)
		return;
	late_stacks_find(&latency->stacks, &late);
	memcpy(late.comm, task->comm, sizeof(late.comm));
	latency->pass->failed |= !lates_keep(lates, state, &late);
}

/* A task is on the run queue of this CPU from now on. */
static void begin_wait(struct latency_analysis *latency, uint32_t task, uint32_t cpu)
{
	struct history_wait *wait;

	while (latency->nr_waits <= task) {
		if (!vec_push(latency->waits, latency->nr_waits)) {
			latency->pass->failed = true;
			return;
		}
	}
	wait = latency->waits[task];
	if (!wait) {
		wait = malloc(sizeof(*wait));
		if (!wait) {
			latency->pass->failed = true;
			return;
		}
		history_wait_init(wait);
		latency->waits[task] = wait;
	}
	history_wait_begin(&latency->history, wait, cpu, latency->pass->state.now);
}

static void see_queue(struct latency_analysis *latency)
{
	const struct state_step *step = &latency->pass->state.step;
	struct history_wait *wait = wait_of(latency, step->task);

	if (step->kind != STEP_MIGRATE)
		begin_wait(latency, step->task, step->cpu);
	else if (wait)
		history_wait_move(&latency->history, wait, step->cpu, latency->pass->state.now);
}

/* Who loses a CPU and could go on is on the run queue of that CPU. */
static void see_preempted(struct latency_analysis *latency, uint32_t cpu)
{
	const struct state *state = &latency->pass->state;
	uint32_t task = state->step.other;

	if (latency->options.preempted && task != STATE_NO_TASK && state->tasks[task].mode == TASK_PREEMPTED &&
	    !state->tasks[task].idle)
		begin_wait(latency, task, cpu);
}

/* A task runs: it waits no longer. */
static void leave_queue(struct latency_analysis *latency)
{
	struct history_wait *wait = wait_of(latency, latency->pass->state.step.task);

	if (wait)
		history_wait_end(&latency->history, wait);
}

/* The history needs every event. The role has the role of the noises in its low bits. */
enum { EVERY_EVENT = 0x40, SAMPLE = 0x80, STACK_EVENT = 0x20, FUNCTION_CALL = 0x10, NOISE = 0x0f };

static uint8_t look(void *arg, const struct event *event)
{
	struct latency_analysis *latency = arg;

	return (uint8_t)(EVERY_EVENT | noises_look(&latency->noises, event) |
			 (last_switch_out_look(&latency->stacks.last_outs, event) ? STACK_EVENT : 0) |
			 (late_functions_look(&latency->stacks.functions, event) ? FUNCTION_CALL : 0) |
			 (timerlats_look(&latency->timerlats, event) ? SAMPLE : 0));
}

static void see_more(struct latency_analysis *latency, const struct event *event, uint8_t role)
{
	const struct state *state = &latency->pass->state;

	if (latency->waiting)
		latency_waits_see(latency->waiting);
	if (role & NOISE || event->kind != EVENT_RECORD)
		noises_see(&latency->noises, event, role & NOISE);
	if (role & STACK_EVENT && timerlats_has_stack(&latency->timerlats, event))
		timerlats_set_stack(&latency->timerlats, event->cpu,
				    last_switch_out_add_stack(&latency->stacks.last_outs, event));
	else if (role & STACK_EVENT)
		late_stacks_see(&latency->stacks, event, &latency->wakeups, &latency->preemptions);
	if (role & SAMPLE || event->cpu < latency->timerlats.nr_cpus)
		timerlats_see(&latency->timerlats, event, role & SAMPLE);
	if (role & FUNCTION_CALL)
		late_functions_see(&latency->stacks.functions, event);
	switch ((enum step_kind)state->step.kind) {
	case STEP_SWITCH:
		late_functions_switch(&latency->stacks.functions, state->step.other);
		see_run(latency, event->cpu);
		leave_queue(latency);
		see_preempted(latency, event->cpu);
		last_switch_out_switch(&latency->stacks.last_outs, event->cpu);
		return;
	case STEP_WAKING:
	case STEP_WOKEN:
	case STEP_MIGRATE:
		see_queue(latency);
		return;
	case STEP_LOST:
		late_functions_lose(&latency->stacks.functions);
		return;
	case STEP_NONE:
	case STEP_FORK:
		return;
	}
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct latency_analysis *latency = arg;
	const struct state *state = &latency->pass->state;

	history_see(&latency->history, state, event);
	if (role != EVERY_EVENT || state->step.kind != STEP_NONE || event->cpu < latency->timerlats.nr_cpus)
		see_more(latency, event, role);
}

enum { OF_WAKEUPS = WHEN, OF_NMI = WHEN << 1, OF_STACKS = WHEN << 2, OF_FUNCTIONS = WHEN << 3 };

#define LATE_COLUMNS(X)                                                                                                \
	X("DELAY", TIME, NULL, BRIEF, table_cell_u64, late->lasted)                                                    \
	X("TASK", TEXT, "comm", 0, table_cell, name_then(latency, late))                                               \
	X("PID", NUMBER, NULL, 0, pass_put_pid, pass, late->task)                                                      \
	X("PRIO", NUMBER, NULL, SPARE | OF_WAKEUPS, table_cell_known_s64, late->prio >= 0, late->prio)                 \
	X("CPU", NUMBER, NULL, BRIEF, table_cell_u64, late->cpu)                                                       \
	X("FROM", NUMBER, "since", SPARE | BRIEF, table_cell_moment, late->at - late->lasted)                          \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, late->at)                                                 \
	X("QUEUE", TIME, NULL, OF_WAKEUPS, table_cell_u64, late->parts[PART_ENQUEUE])                                  \
	X("IDLE", TIME, NULL, 0, table_cell_u64, late->parts[PART_IDLE])                                               \
	X("IRQ", TIME, NULL, SPARE, table_cell_u64, late->parts[PART_HARD])                                            \
	X("SOFTIRQ", TIME, NULL, SPARE, table_cell_u64, late->parts[PART_SOFT])                                        \
	X("BEFORE", TIME, NULL, 0, table_cell_u64, late->parts[PART_BEFORE])                                           \
	X("RESCHED", TIME, NULL, SPARE, table_cell_u64, late->parts[PART_AFTER])                                       \
	X("OTHERS", TIME, NULL, SPARE, table_cell_u64, late->parts[PART_OTHERS])                                       \
	X("UNKNOWN", TIME, NULL, SPARE, table_cell_u64, late->parts[PART_UNKNOWN])                                     \
	X("WAKER", TEXT, "waker_comm", SPARE | OF_WAKEUPS, pass_put_waker, pass, late->waker)                          \
	X("WAKER PID", NUMBER, "waker_pid", DATA, table_cell_known_s64, late->waker.pid > 0, late->waker.pid)          \
	X("TASK BEFORE", TEXT, "before_comm", DATA, table_cell, name_of(latency, late->before))                        \
	X("BEFORE PID", NUMBER, "before_pid", DATA, pass_put_pid, pass, late->before)                                  \
	X("BEFORE PRIO", NUMBER, "before_prio", DATA, table_cell_known_s64, late->before_prio >= 0, late->before_prio) \
	X("MOST OF IT", TEXT, "cause", KEEP | BRIEF, put_cause, latency, late)                                         \
	X("STACK", TEXT, NULL, DATA | SPARE | OF_STACKS, late_stacks_put, &latency->stacks, late)                      \
	X("FUNCTION", TEXT, NULL, DATA | SPARE | OF_FUNCTIONS, late_functions_put, functions, late->function)          \
	X("CALLER", TEXT, NULL, DATA | SPARE | OF_FUNCTIONS, late_functions_put, functions, late->caller)              \
	X("GAP", TIME, NULL, DATA | SPARE | OF_FUNCTIONS, table_cell_known, late->gap, late->gap)

/* What only samples of timerlat have. */
#define SAMPLE_COLUMNS(X)                                                 \
	X("ITSELF", TIME, NULL, 0, table_cell_u64, late->parts[PART_OWN]) \
	X("LATE", TEXT, "late", BRIEF, table_cell, late->kind)            \
	X("NMI", TIME, NULL, OF_NMI, table_cell_u64, late->parts[PART_NMI])

#define ALL_COLUMNS(X) LATE_COLUMNS(X) SAMPLE_COLUMNS(X)

static const struct table_column wakeup_columns[] = COLUMNS(LATE_COLUMNS), sample_columns[] = COLUMNS(ALL_COLUMNS);

static const struct pass_unseen unseen[] = {
	{ "queue_ns", "sched:sched_waking" },
	{ "queue_ns", PASS_QUEUED },
	{ "irq_ns", PASS_IRQS },
	{ "softirq_ns", "irq:softirq_entry" },
};

static const char *name_of(const struct latency_analysis *latency, uint32_t task)
{
	const struct state_task *of = task == STATE_NO_TASK ? NULL : &latency->pass->state.tasks[task];
	const char *name = of && !*of->comm && !of->idle ? noises_thread(&latency->noises, of->pid) : NULL;

	return name ? name : of ? pass_comm(latency->pass, of) : "";
}

/* What the waiting task was called when the wait ended. */
static const char *name_then(const struct latency_analysis *latency, const struct late *late)
{
	return pass_shows_comm(latency->pass, late->comm) ? late->comm : name_of(latency, late->task);
}

/* The largest part, and its task. */
static void put_cause(struct table *table, const struct latency_analysis *latency, const struct late *late)
{
	enum part most = latency_most(late);
	uint32_t who = latency_culprit(late);
	int32_t prio = latency_culprit_prio(late);
	char rt[24] = "";

	if (who != STATE_NO_TASK && state_is_real_time(prio))
		snprintf(rt, sizeof(rt), " (RT %d)", 99 - prio);
	if (who == STATE_NO_TASK)
		table_cell(table, latency_part_name(most));
	else
		table_cellf(table, "%s: %s-%d%s", latency_part_name(most), name_of(latency, who),
			    latency->pass->state.tasks[who].pid, rt);
}

static void put_late(const struct latency_analysis *latency, struct table *table, const struct late *late)
{
	const struct late_functions *functions = &latency->stacks.functions;
	const struct pass *pass = latency->pass;

	LATE_COLUMNS(CELL)
	if (late->kind) {
		SAMPLE_COLUMNS(CELL)
	}
}

static void put_worst(const struct latency_analysis *latency, struct findings *findings, const struct late *late)
{
	bool task = late->task != STATE_NO_TASK;
	struct worst worst = { .what = late->kind      ? "latency of timerlat" :
				       late->preempted ? "wait after a preemption" :
				       late->fresh     ? "delay of a wakeup as a new task" :
							 "delay of a wakeup",
			       .lasted = late->lasted,
			       .from = late->at - late->lasted,
			       .to = late->at,
			       .cpu = late->cpu,
			       .pid = task ? latency->pass->state.tasks[late->task].pid : -1 };

	snprintf(worst.comm, sizeof(worst.comm), "%.15s", name_then(latency, late));
	findings_worst(findings, &worst);
}

static void put_lates(const struct latency_analysis *latency, struct findings *findings, const struct lates *lates,
		      const char *name, const char *title)
{
	bool samples = lates == &latency->timerlats.samples, nmi = false, stacks = false, functions = false;
	struct table *table = findings_table(findings, name, title, "delay", samples ? sample_columns : wakeup_columns);

	if (!table)
		return;
	for (size_t i = 0; i < lates->slowest.nr; i++) {
		nmi |= lates_at(lates, i)->parts[PART_NMI] > 0;
		stacks |= lates_at(lates, i)->stack > 0;
		functions |= lates_at(lates, i)->gap > 0;
	}
	findings_show(findings, OF_STACKS, stacks);
	findings_show(findings, OF_FUNCTIONS, functions);
	findings_show(findings, OF_WAKEUPS, lates == &latency->wakeups);
	findings_show(findings, OF_NMI, nmi);
	for (size_t i = 0; i < lates->slowest.nr; i++)
		put_late(latency, table, lates_at(lates, i));
	/* A sample of timerlat has its interrupts from its tracer. */
	if (!samples)
		pass_forget_unseen(latency->pass, findings, unseen, array_size(unseen));
	if (lates->slowest.nr)
		put_worst(latency, findings, lates_at(lates, 0));
}

static const char *call_task(const void *arg, uint64_t key)
{
	const struct latency_analysis *latency = arg;

	return latency->of_tasks ? name_of(latency, (uint32_t)key) : "";
}

static void put_preemptions(const struct latency_analysis *latency, struct findings *findings)
{
	char count[TEXT_HUMAN];

	if (!latency->options.preempted)
		return;
	put_lates(latency, findings, &latency->preemptions, "preemptions",
		  "the longest waits of tasks that lost their CPU, and who ran instead");
	findings_note(findings, "looked at: %s wait%s after a preemption", text_count(count, latency->lost_cpu),
		      text_plural(latency->lost_cpu));
	slowest_tell(&latency->preemptions.slowest, findings, "wait");
}

#define HOST_COLUMNS(X)                                                               \
	X("DELAY", TIME, NULL, 0, table_cell_u64, late->lasted)                       \
	X("TASK", TEXT, "comm", 0, table_cell, name_then(latency, late))              \
	X("PID", NUMBER, NULL, 0, pass_put_pid, latency->pass, late->task)            \
	X("CPU", NUMBER, NULL, 0, table_cell_u64, late->cpu)                          \
	X("FROM", NUMBER, "since", SPARE, table_cell_moment, late->at - late->lasted) \
	VCPU_COLUMNS(X, &time)                                                        \
	X("MOST EXITS", TEXT, "most_exits", 0, table_cell, reason)

static const struct table_column host_columns[] = COLUMNS(HOST_COLUMNS);

/* Of a guest: what the host did with the CPU on which the task then ran. */
static void put_host(const struct latency_analysis *latency, struct findings *findings)
{
	const struct vcpus *vcpus = latency->pass->filter.vcpus;
	struct table *table = findings_table(findings, "host",
					     "the longest wakeups beside the host: what the guest's CPU did meanwhile",
					     "delay", host_columns);

	for (size_t i = 0; table && i < latency->wakeups.slowest.nr; i++) {
		const struct late *late = lates_at(&latency->wakeups, i);
		uint64_t exits[VCPU_REASONS + 1] = { 0 };
		struct vcpu_time time = { .unsure = 0 };
		unsigned most = VCPU_REASONS;
		const char *reason;

		vcpus_time(vcpus, late->cpu, late->at - late->lasted, late->at, &time, exits);
		for (unsigned j = 0; j < VCPU_REASONS; j++)
			most = exits[j] && (most == VCPU_REASONS || exits[j] > exits[most]) ? j : most;
		reason = vcpus_reason(vcpus, most);
		HOST_COLUMNS(CELL)
	}
	vcpu_times_put(latency->pass, NULL, findings);
}

/* Prints the waits, unless the file was made for something else. */
static void put_waits(const struct latency_analysis *latency, struct findings *findings)
{
	char seen[TEXT_HUMAN], fresh[TEXT_HUMAN];

	put_lates(latency, findings, &latency->wakeups, "wakeups", "the longest wakeups, and what each waited for");
	spreads_put(&latency->spreads, "wakeups", call_task, latency, findings);
	if (latency->fresh)
		findings_note(findings, "looked at: %s wakeup%s, %s of new tasks", text_count(seen, latency->seen),
			      text_plural(latency->seen), text_count(fresh, latency->fresh));
	else
		findings_note(findings, "looked at: %s wakeup%s", text_count(seen, latency->seen),
			      text_plural(latency->seen));
	slowest_tell(&latency->wakeups.slowest, findings, "wakeup");
	findings_cut(findings, latency->cut, "wakeups whose beginning is not known");
	findings_broken(findings, latency->broken, "wakeups");
	put_preemptions(latency, findings);
	if (pass_is_guest(latency->pass))
		put_host(latency, findings);
}

static const struct analysis_want wakeup_wants[] = {
	{ "sched:sched_waking", "sched:sched_wakeup,sched:sched_wakeup_new", "when a wakeup begins" },
	{ NULL, NULL, NULL },
};

/* Reports that nothing of what this analysis explains is among the events. */
static int nothing(const struct latency_analysis *latency, struct fail *fail)
{
	static const struct analysis_ops wakeups = {
		.name = "latency",
		.wants = wakeup_wants,
		.nothing = "there are no wakeups among the events",
		.recorded_by = "-e sched",
	};
	const struct pass *pass = latency->pass;

	if (!pass->state.events[STATE_SWITCH])
		return PASS_NOTHING;
	return pass_nothing(pass, &wakeups, fail);
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct latency_analysis *latency = arg;
	const uint64_t *events = latency->pass->state.events;
	bool switches = events[STATE_SWITCH] || latency->pass->filter.shape;
	bool wakeups = switches && events[STATE_WAKING] + events[STATE_WAKEUP] + events[STATE_WAKEUP_NEW];
	const struct timerlats *timerlats = &latency->timerlats;
	char count[TEXT_HUMAN];
	uint64_t wrong;
	int sections;

	timerlats_end(&latency->timerlats);
	wrong = latency->wrong + latency->noises.wrong + timerlats->wrong;
	sections = sections_put(latency->pass, latency->noises.worst, findings, fail);
	if (sections < 0)
		return sections;
	if (!latency->options.brief && !latency->pass->filter.shape && !wakeups && !sections &&
	    !noises_any(&latency->noises) && !timerlats->nr_samples)
		return nothing(latency, fail);
	if (wrong)
		return fail_set(fail, -EPROTO,
				"the parts of %" PRIu64 " delays do not add up; that is an error of weft", wrong);
	if (latency->history.failed || latency->pass->failed || timerlats->failed || timerlats->roles.failed ||
	    latency->stacks.last_outs.roles.failed || latency->stacks.last_outs.store.failed ||
	    latency->stacks.functions.failed || latency->stacks.functions.roles.failed || latency->noises.failed ||
	    latency->noises.roles.failed)
		return fail_memory(fail);
	if (noises_any(&latency->noises))
		noises_put(&latency->noises, findings);
	if (timerlats->nr_samples) {
		put_lates(latency, findings, &timerlats->samples, "timerlat",
			  "the longest latencies of timerlat, and what its timer or thread waited for");
		timerlats_put(timerlats, findings);
		findings_note(findings, "looked at: %s sample%s of timerlat", text_count(count, timerlats->nr_samples),
			      text_plural(timerlats->nr_samples));
		if (timerlats->unexplained)
			findings_note(
				findings,
				"no event shows what %s of them waited for: record with --for latency -p timerlat, "
				"or with -p timerlat -e osnoise",
				text_count((char[TEXT_HUMAN]){ 0 }, timerlats->unexplained));
	}
	if (switches && !latency->options.brief)
		put_waits(latency, findings);
	if (switches && latency->waiting)
		latency_waits_put(latency->waiting, latency->options.brief, findings);
	return 0;
}

static bool tell_wakeup(const struct table *table, size_t row, struct buf *into)
{
	static const struct slow_part parts[] = { { "queue_ns", "until it was on a queue" },
						  { "idle_ns", "until the CPU was no longer idle" },
						  { "irq_ns", "in interrupts" },
						  { "softirq_ns", "in softirqs" },
						  { "before_ns", "the task before ran on" },
						  { "resched_ns", "the task before ran on although it was to go" },
						  { "others_ns", "other tasks ran first" },
						  { "unknown_ns", "unknown" },
						  { NULL, NULL } };
	uint64_t lasted = table_number_of(table, row, "delay_ns");
	char time[TEXT_HUMAN];

	return buf_addf(into, "%s-%" PRIu64 " waited %s for CPU %" PRIu64 ": %s", table_text_of(table, row, "comm"),
			table_number_of(table, row, "pid"), text_time(time, lasted), table_number_of(table, row, "cpu"),
			table_text_of(table, row, "cause")) &&
	       slowest_put_parts(table, row, parts, into);
}

static const struct analysis_slow slow[] = {
	{ " next_comm=", "the wakeup of", "wakeups", NULL, NULL, SLOW_OF_NAME, SLOW_MARGIN_NS,
	  "the wakeup is not among the events: record with --for latency", tell_wakeup },
	{ .of = NULL },
};

static const char *const compared_by[] = { [LATENCY_BY_PART] = "part", [LATENCY_BY_TASK] = "task", NULL },
			 *const by[] = { [LATENCY_BY_WAKEUP] = "wakeup", [LATENCY_BY_WHO] = WHO_WORDS, NULL };

/* Whether the recording has a list of control groups in which there are services. */
static bool has_services(const struct pass *pass)
{
	const struct context *context = pass->reader->nr_buffers ? pass->reader->buffers[0].context : NULL;
	struct trace_text groups = { .text = NULL };

	if (context && context->trace)
		groups = own_setting(context->trace, context->buffer, "weft/cgroups");
	return groups.text && memmem(groups.text, groups.len, ".service", strlen(".service"));
}

/* Whether a tracer has looked for what this analysis explains. */
static bool has_tracer(const struct pass *pass)
{
	for (size_t i = 0; i < pass->reader->nr_buffers; i++) {
		const struct context *context = pass->reader->buffers[i].context;

		if (context &&
		    (context->latency || !strcmp(context->tracer, "osnoise") || !strcmp(context->tracer, "timerlat")))
			return true;
	}
	return false;
}

static const void *summary_of(const struct pass *pass)
{
	static const struct latency_options of_services = { .rows = { .by = LATENCY_BY_WHO + WHO_UNIT },
							    .brief = true },
					    of_tracers = { .brief = true };

	return has_services(pass) ? &of_services : has_tracer(pass) ? &of_tracers : NULL;
}

const struct analysis_ops latency_analysis = {
	.name = "latency",
	.summary = "explain the longest delays of wakeups, timerlat, osnoise and irqsoff",
	.columns = wakeup_columns,
	.by = by,
	.summary_of = summary_of,
	.compared_by = compared_by,
	.options_size = sizeof(struct latency_options),
	.slow = slow,
	.wants = wants,
	.nothing = "there is no sched_switch among the events, which says when a task runs",
	.recorded_by = "-e sched",
	.essential = 1,
	/* The table has as many rows as --slowest says. */
	.rows_as_text = SIZE_MAX,
	.size = sizeof(struct latency_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};
