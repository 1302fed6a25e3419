// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/latency.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/latency_noise_internal.h"
#include "lib/analysis/latency_section_internal.h"
#include "lib/analysis/latency_split_internal.h"
#include "lib/analysis/latency_spread_internal.h"
#include "lib/analysis/latency_stack_internal.h"
#include "lib/analysis/latency_timerlat_internal.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Why the longest wakeups took so long: what the CPU of the woken task did from the waking until the task ran. */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "who has a CPU" },
	{ "sched:sched_waking", NULL, "when a wakeup begins" },
	{ "sched:sched_wakeup,sched:sched_wakeup_new", NULL, "when the task is on a queue" },
	{ "sched:sched_migrate_task", NULL, "on which queues it was" },
	{ "irq:irq_handler_entry,irq:irq_handler_exit,irq_vectors", NULL, "time in interrupts" },
	{ "irq:softirq_entry,irq:softirq_exit", NULL, "time in softirqs" },
	{ NULL, NULL, NULL },
};

struct latency_analysis {
	struct pass *pass;
	struct history_wait **waits; /* by the task's index in the state; NULL: it was never woken */
	size_t nr_waits;
	struct latency_options options;
	struct history history;
	struct lates wakeups;
	struct spreads spreads; /* of all wakeups */
	struct timerlats timerlats;
	struct noises noises;
	struct late_stacks stacks;
	uint64_t seen, longer, broken, cut, wrong; /* wrong: wakeups whose parts do not add up */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct latency_analysis *latency = arg;
	size_t worst;

	latency->pass = pass;
	if (options)
		latency->options = *(const struct latency_options *)options;
	worst = latency->options.worst ? latency->options.worst : (size_t)LATENCY_WORST;
	if (!latency->options.worst)
		latency->options.worst = latency->options.longer ? LATENCY_WORST_MAX : LATENCY_WORST;
	lates_init(&latency->wakeups, latency->options.worst, latency->options.longer);
	spreads_init(&latency->spreads, pass);
	timerlats_init(&latency->timerlats, pass, &latency->history, &latency->noises, &latency->stacks);
	lates_init(&latency->timerlats.samples, latency->options.worst, latency->options.longer);
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
	noises_release(&latency->noises);
	late_stacks_release(&latency->stacks);
	slowest_release(&latency->wakeups.slowest);
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
	uint64_t since = step->waking ? step->waking : step->woken;
	bool wanted;
	struct late late = { .at = state->now,
			     .lasted = state->now - since,
			     .task = step->task,
			     .cpu = cpu,
			     .waker = task->waker,
			     .prio = task->prio };

	if ((step->was != TASK_WAKING && step->was != TASK_QUEUED) || !since ||
	    !pass_wants_since(latency->pass, task, since) || !pass_wants_cpu(latency->pass, cpu) ||
	    (latency->options.rt && (task->prio < 0 || task->prio >= 100)))
		return;
	if (!step->intact) {
		if (state->losses)
			latency->broken++;
		else
			latency->cut++;
		return;
	}
	latency->seen++;
	latency->longer += late.lasted > latency->options.longer;
	wanted = slowest_room(&latency->wakeups.slowest, late.lasted);
	if (!wanted && !pass_compares(latency->pass))
		return;
	explain(latency, &late, step->waking, step->woken);
	spreads_add(&latency->spreads, latency->options.by_task ? late.task : 0, &late);
	if (!wanted)
		return;
	late_stacks_find(&latency->stacks, &late);
	latency->pass->failed |= !lates_keep(&latency->wakeups, &late);
}

/* A woken task is on the run queue of this CPU from now on. */
static void see_queue(struct latency_analysis *latency)
{
	const struct state *state = &latency->pass->state;
	const struct state_step *step = &state->step;
	struct history_wait *wait = wait_of(latency, step->task);

	if (step->kind == STEP_MIGRATE) {
		if (wait)
			history_wait_move(&latency->history, wait, step->cpu, state->now);
		return;
	}
	while (latency->nr_waits <= step->task) {
		if (!vec_push(latency->waits, latency->nr_waits)) {
			latency->pass->failed = true;
			return;
		}
	}
	if (!wait) {
		wait = malloc(sizeof(*wait));
		if (!wait) {
			latency->pass->failed = true;
			return;
		}
		history_wait_init(wait);
		latency->waits[step->task] = wait;
	}
	history_wait_begin(&latency->history, wait, step->cpu, state->now);
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
			 (outs_look(&latency->stacks.outs, event) ? STACK_EVENT : 0) |
			 (late_functions_look(&latency->stacks.functions, event) ? FUNCTION_CALL : 0) |
			 (timerlats_look(&latency->timerlats, event) ? SAMPLE : 0));
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct latency_analysis *latency = arg;
	const struct state *state = &latency->pass->state;

	history_see(&latency->history, state, event);
	if (role & NOISE || event->kind != EVENT_RECORD)
		noises_see(&latency->noises, event, role & NOISE);
	if (role & STACK_EVENT && timerlats_has_stack(&latency->timerlats, event))
		timerlats_set_stack(&latency->timerlats, event->cpu, outs_add_stack(&latency->stacks.outs, event));
	else if (role & STACK_EVENT)
		late_stacks_see(&latency->stacks, event, &latency->wakeups);
	if (role & SAMPLE || event->cpu < latency->timerlats.nr_cpus)
		timerlats_see(&latency->timerlats, event, role & SAMPLE);
	if (role & FUNCTION_CALL)
		late_functions_see(&latency->stacks.functions, event);
	switch ((enum step_kind)state->step.kind) {
	case STEP_SWITCH:
		late_functions_switch(&latency->stacks.functions, state->step.other);
		see_run(latency, event->cpu);
		leave_queue(latency);
		outs_switch(&latency->stacks.outs, event->cpu);
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
	STACK,
	FUNCTION,
	CALLER,
	GAP,
	OWN,
	KIND,
	NMI,
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
	[FUNCTION] = { "FUNCTION", TABLE_TEXT, NULL },
	[CALLER] = { "CALLER", TABLE_TEXT, NULL },
	[GAP] = { "GAP", TABLE_TIME, NULL },
	[STACK] = { "STACK", TABLE_TEXT, NULL },
	[OWN] = { "ITSELF", TABLE_TIME, NULL },
	[KIND] = { "LATE", TABLE_TEXT, "late" },
	[NMI] = { "NMI", TABLE_TIME, NULL },
};

const struct analysis_sorts latency_sorts = {
	columns,
	OWN,
	1 << WAKER_PID | 1 << BEFORE_PID | 1 << BEFORE_TASK | 1 << TO | 1 << STACK | 1 << FUNCTION | 1 << CALLER |
		1 << GAP,
};

static const char *name_of(const struct latency_analysis *latency, uint32_t task)
{
	const struct state_task *of = task == STATE_NO_TASK ? NULL : &latency->pass->state.tasks[task];
	const char *name = of && !*of->comm && !of->idle ? noises_thread(&latency->noises, of->pid) : NULL;

	return name ? name : of ? pass_comm(latency->pass, of) : "";
}

static void put_pid(const struct latency_analysis *latency, struct table *table, uint32_t task)
{
	if (task == STATE_NO_TASK)
		table_cell(table, "-");
	else
		table_cell_s64(table, latency->pass->state.tasks[task].pid);
}

/* Adds cells with the largest part and its task, and with the stack and the function of that. */
static void put_cause(const struct latency_analysis *latency, struct table *table, const struct late *late)
{
	enum part most = latency_most(late);
	uint32_t who = latency_culprit(late);

	if (who == STATE_NO_TASK)
		table_cell(table, latency_part_name(most));
	else
		table_cellf(table, "%s: %s-%d", latency_part_name(most), name_of(latency, who),
			    latency->pass->state.tasks[who].pid);
	late_stacks_put(&latency->stacks, late, table);
	late_functions_put(&latency->stacks.functions, late, table);
}

static void put_late(const struct latency_analysis *latency, struct table *table, const struct late *late)
{
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
		if (i != PART_OWN && i != PART_NMI)
			table_cell_u64(table, late->parts[i]);
	pass_put_waker(latency->pass, late->waker, table);
	if (late->waker >= 0)
		table_cell_s64(table, late->waker);
	else
		table_cell(table, "-");
	table_cell(table, name_of(latency, late->before));
	put_pid(latency, table, late->before);
	put_cause(latency, table, late);
	/* The table of wakeups ends here. */
	if (!late->kind)
		return;
	table_cell_u64(table, late->parts[PART_OWN]);
	table_cell(table, late->kind);
	table_cell_u64(table, late->parts[PART_NMI]);
}

static void put_worst(const struct latency_analysis *latency, struct findings *findings, const struct late *late)
{
	bool task = late->task != STATE_NO_TASK;
	struct worst worst = { .what = late->kind ? "latency of timerlat" : "delay of a wakeup",
			       .lasted = late->lasted,
			       .from = late->at - late->lasted,
			       .to = late->at,
			       .cpu = late->cpu,
			       .pid = task ? latency->pass->state.tasks[late->task].pid : -1 };

	strncpy(worst.comm, name_of(latency, late->task), sizeof(worst.comm) - 1);
	findings_worst(findings, &worst);
}

static void put_lates(const struct latency_analysis *latency, struct findings *findings, const struct lates *lates,
		      const char *name, const char *title)
{
	bool samples = lates == &latency->timerlats.samples, nmi = false, stacks = false, functions = false;
	struct table *table = findings_table(findings, name, title, "delay", columns, samples ? COLUMNS : OWN);

	if (!table)
		return;
	for (size_t i = 0; i < lates->slowest.nr; i++) {
		nmi |= lates_at(lates, i)->parts[PART_NMI] > 0;
		stacks |= lates_at(lates, i)->stack > 0;
		functions |= lates_at(lates, i)->gap > 0;
	}
	table->data_only = latency_sorts.data_only &
			   ~((stacks ? 1U << STACK : 0) | (functions ? 1U << FUNCTION | 1U << CALLER | 1U << GAP : 0));
	table->data_only |= samples ? 1 << ENQUEUE | 1 << WAKER | 1 << PRIO | (nmi ? 0 : 1 << NMI) : 0;
	/* On a narrow terminal these columns go first; the column with the cause stays. */
	table->spare = 1 << STACK | 1 << CALLER | 1 << GAP | 1 << FUNCTION | 1 << FROM | 1 << PRIO | 1 << WAKER |
		       1 << UNKNOWN | 1 << SOFT | 1 << OTHERS | 1 << AFTER | 1 << HARD;
	for (size_t i = 0; i < lates->slowest.nr; i++)
		put_late(latency, table, lates_at(lates, i));
	if (lates->slowest.nr)
		put_worst(latency, findings, lates_at(lates, 0));
}

static const char *call_task(const void *arg, uint64_t key)
{
	const struct latency_analysis *latency = arg;

	return latency->options.by_task ? name_of(latency, (uint32_t)key) : "";
}

/* Prints the wakeups, unless the file was made for something else. */
static void put_wakeups(const struct latency_analysis *latency, struct findings *findings)
{
	char longer[TEXT_HUMAN];

	put_lates(latency, findings, &latency->wakeups, "wakeups", "the longest wakeups, and what each waited for");
	spreads_put(&latency->spreads, "wakeups", call_task, latency, findings);
	findings_note(findings, "looked at: %" PRIu64 " wakeup%s", latency->seen, text_plural(latency->seen));
	if (latency->options.longer)
		findings_note(findings, "longer than %s: %" PRIu64 " wakeup%s%s",
			      text_time(longer, latency->options.longer), latency->longer, text_plural(latency->longer),
			      latency->longer > latency->wakeups.slowest.nr ? "; the table has the longest" : "");
	findings_cut(findings, latency->cut, "wakeups whose beginning is not known");
	findings_broken(findings, latency->broken, "wakeups");
}

static const struct analysis_want wakeup_wants[] = {
	{ "sched:sched_waking", "sched:sched_wakeup,sched:sched_wakeup_new", "when a wakeup begins" },
	{ NULL, NULL, NULL },
};

/* Reports that nothing of what this analysis explains is among the events. */
static int nothing(const struct latency_analysis *latency, struct fail *fail)
{
	static const struct analysis_ops wakeups = { .name = "latency", .wants = wakeup_wants };
	const struct pass *pass = latency->pass;

	if (!pass->state.events[STATE_SWITCH])
		return pass_nothing(pass, &latency_analysis,
				    "there is no sched_switch among the events, which says when a task runs",
				    "-e sched", fail);
	return pass_nothing(pass, &wakeups, "there are no wakeups among the events", "-e sched", fail);
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct latency_analysis *latency = arg;
	const uint64_t *events = latency->pass->state.events;
	bool switches = events[STATE_SWITCH];
	bool wakeups = switches && events[STATE_WAKING] + events[STATE_WAKEUP] + events[STATE_WAKEUP_NEW];
	const struct timerlats *timerlats = &latency->timerlats;
	uint64_t wrong;
	int sections;

	timerlats_end(&latency->timerlats);
	wrong = latency->wrong + latency->noises.wrong + timerlats->wrong;
	sections = sections_put(latency->pass, latency->noises.worst, findings, fail);
	if (sections < 0)
		return sections;
	if (!wakeups && !sections && !noises_any(&latency->noises) && !timerlats->nr_samples)
		return nothing(latency, fail);
	if (wrong)
		return fail_set(fail, -EPROTO,
				"the parts of %" PRIu64 " delays do not add up; that is an error of weft", wrong);
	if (latency->history.failed || latency->pass->failed || timerlats->failed || timerlats->roles.failed ||
	    latency->stacks.outs.roles.failed || latency->stacks.outs.store.failed ||
	    latency->stacks.functions.failed || latency->stacks.functions.roles.failed || latency->noises.failed ||
	    latency->noises.roles.failed)
		return fail_memory(fail);
	if (noises_any(&latency->noises))
		noises_put(&latency->noises, findings);
	if (timerlats->nr_samples) {
		put_lates(latency, findings, &timerlats->samples, "timerlat",
			  "the longest latencies of timerlat, and what its timer or thread waited for");
		timerlats_put(timerlats, findings);
		findings_note(findings, "looked at: %" PRIu64 " sample%s of timerlat", timerlats->nr_samples,
			      text_plural(timerlats->nr_samples));
		if (timerlats->unexplained)
			findings_note(findings,
				      "no event shows what %" PRIu64
				      " of them waited for: record with --for latency -p timerlat, "
				      "or with -p timerlat -e osnoise",
				      timerlats->unexplained);
	}
	if (switches)
		put_wakeups(latency, findings);
	return 0;
}

const struct analysis_ops latency_analysis = {
	.name = "latency",
	.summary = "explain the longest delays of wakeups, timerlat, osnoise and irqsoff",
	.sorts = &latency_sorts,
	.wants = wants,
	.essential = 1,
	/* The table has as many rows as --worst says. */
	.rows_as_text = SIZE_MAX,
	.size = sizeof(struct latency_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};
