// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/irq/irq_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

#define SOURCE_COLUMNS(X)                                                                                            \
	X("KIND", TEXT, NULL, BRIEF | SAME, table_cell, kinds[source->kind])                                         \
	X("SOURCE", TEXT, NULL, BRIEF | SAME, table_cell, source->name)                                              \
	X("COUNT", COUNT, NULL, BRIEF | ADDS, table_cell_u64, source->lasted.count)                                  \
	X("TOTAL", TIME, NULL, ADDS | SPARE, table_cell_u64, source->total)                                          \
	X("SELF", TIME, NULL, BRIEF | ADDS, table_cell_known, source->has_self, source->self)                        \
	X("%", NUMBER, "self_percent", BRIEF | SPARE, table_cell_percent, source->self, source->has_self ? span : 0, \
	  2)                                                                                                         \
	SPREAD(X, "", "", SPARE, BRIEF, BRIEF, lasted)                                                               \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_when, source->longest.at)                            \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_known, source->longest.at, source->longest.cpu)                 \
	X("PEAK", TIME, NULL, SPARE, table_cell_known, source->peak.taken, source->peak.taken)                       \
	X("PEAK AT", NUMBER, "peak_at", SPARE, table_cell_when, source->peak.taken ? end_of(&source->peak) : 0)      \
	X("P-CPU", NUMBER, "peak_cpu", DATA, table_cell_known, source->peak.taken, source->peak.cpu)                 \
	X("DELAYS", COUNT, NULL, DATA | ADDS, table_cell_u64, source->delays.count)                                  \
	SPREAD(X, "D-", "delay_", SPARE, 0, 0, delays)                                                               \
	X("D-MAX AT", NUMBER, "delay_max_at", SPARE, table_cell_when, source->latest.at)                             \
	X("D-CPU", NUMBER, "delay_max_cpu", DATA, table_cell_known, source->latest.at, source->latest.cpu)           \
	X("KSOFTIRQD", COUNT, NULL, DATA, table_cell_u64, source->in_thread)

const struct table_column irq_columns[] = COLUMNS(SOURCE_COLUMNS);

static const char *const kinds[IRQ_KINDS] = { "irq", "softirq", "vector", "ipi", "timer", "hrtimer", "work" };

static uint64_t end_of(const struct irq_peak *peak)
{
	return (peak->number + 1) * IRQ_WINDOW;
}

static void put_source(const struct irq_source *source, uint64_t span, struct table *table)
{
	struct percentiles lasted = percentiles_of(&source->lasted), delays = percentiles_of(&source->delays);

	table_attach(table, &source->lasted);
	SOURCE_COLUMNS(CELL)
}

/* Names a worst case after its source; the text stays on one line. */
static void tell_worst(struct findings *findings, const char *what, const struct irq_source *source, struct worst worst)
{
	char text[96];

	snprintf(text, sizeof(text), "%s, of %s %s", what, kinds[source->kind], source->name);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	worst.what = text;
	worst.pid = -1;
	findings_worst(findings, &worst);
}

static void put_sources(struct irq_analysis *irq, struct findings *findings)
{
	const struct state *state = &irq->pass->state;
	struct table *table =
		findings_table(findings, "sources",
			       "interrupts and what they ran: how long, with and without what nested inside; the "
			       "delay until they ran",
			       "self", irq_columns);
	const struct irq_source *longest = NULL, *busiest = NULL;

	for (size_t i = 0; table && i < irq->nr_sources; i++) {
		const struct irq_source *source = &irq->sources[i];

		if (!source->lasted.count && !source->delays.count && !source->total)
			continue;
		put_source(source, state->now - state->start, table);
		if (source->has_self && source->longest.at &&
		    (!longest || source->longest.lasted > longest->longest.lasted))
			longest = source;
		if (source->peak.taken && (!busiest || source->peak.taken > busiest->peak.taken))
			busiest = source;
	}
	if (!longest)
		return;
	tell_worst(findings, "run", longest,
		   (struct worst){ .lasted = longest->longest.lasted,
				   .cpu = longest->longest.cpu,
				   .from = longest->longest.at - longest->longest.lasted,
				   .to = longest->longest.at });
	if (!busiest)
		return;
	tell_worst(findings, "time in a fixed window of 10 ms", busiest,
		   (struct worst){ .lasted = busiest->peak.taken,
				   .cpu = busiest->peak.cpu,
				   .from = end_of(&busiest->peak) - IRQ_WINDOW,
				   .to = end_of(&busiest->peak) });
}

#define SLOW_COLUMNS(X)                                                                                   \
	X("LASTED", TIME, NULL, 0, table_cell_u64, slow->lasted)                                          \
	X("KIND", TEXT, NULL, 0, table_cell, kinds[source->kind])                                         \
	X("SOURCE", TEXT, NULL, 0, table_cell, source->name)                                              \
	X("CPU", NUMBER, NULL, 0, table_cell_u64, slow->cpu)                                              \
	X("FROM", NUMBER, "since", KEEP, table_cell_moment, slow->at - slow->lasted)                      \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, slow->at)                                    \
	X("SELF", TIME, NULL, 0, table_cell_u64, slow->self)                                              \
	X("INNER", TIME, NULL, SPARE, table_cell_u64, slow->inner)                                        \
	X("MOST INSIDE", TEXT, NULL, SPARE, table_cellf, "%s%s%s", slow->inner ? kinds[inner->kind] : "", \
	  slow->inner ? " " : "", slow->inner ? inner->name : "")                                         \
	X("TASK", TEXT, "comm", KEEP, pass_put_comm_then, irq->pass, slow->comm, slow->task)              \
	X("PID", NUMBER, NULL, 0, pass_put_pid, irq->pass, slow->task)                                    \
	X("WAITED", TIME, NULL, SPARE, table_cell_u64, slow->waited)                                      \
	X("WAITING", TEXT, NULL, SPARE, pass_put_comm_then, irq->pass, slow->waiter_comm, slow->waiter)   \
	X("WAITING PID", NUMBER, NULL, DATA, pass_put_pid, irq->pass, slow->waiter)

static const struct table_column slow_columns[] = COLUMNS(SLOW_COLUMNS);

static void put_slow(const struct irq_analysis *irq, const struct irq_slow *slow, struct table *table)
{
	const struct irq_source *source = &irq->sources[slow->source], *inner = &irq->sources[slow->inner_source];

	SLOW_COLUMNS(CELL)
}

static void put_slowest(const struct irq_analysis *irq, struct findings *findings)
{
	struct table *table =
		slowest_table(&irq->slowest, findings,
			      "the longest runs; what nested in them, whom they hit and who waited", slow_columns);

	for (size_t i = 0; table && i < irq->slowest.nr; i++)
		put_slow(irq, slowest_at(&irq->slowest, i), table);
	slowest_tell(&irq->slowest, findings, "run");
}

static bool tell_run(const struct table *table, size_t row, struct buf *into)
{
	uint64_t lasted = table_number_of(table, row, "lasted_ns"), inner = table_number_of(table, row, "inner_ns"),
		 waited = table_number_of(table, row, "waited_ns");
	const char *kind = table_text_of(table, row, "kind"), *task = table_text_of(table, row, "comm");
	/* A hard interrupt hits this task as any other. */
	bool in_thread = !strcmp(kind, kinds[IRQ_SOFT]) && !strncmp(task, "ksoftirqd/", 10);
	char time[TEXT_HUMAN];
	bool ok = buf_addf(into, "%s %s ran %s on CPU %" PRIu64, kind, table_text_of(table, row, "source"),
			   text_time(time, lasted), table_number_of(table, row, "cpu"));

	if (ok && inner > lasted / 100)
		ok = buf_addf(into, "; %s itself", text_time(time, table_number_of(table, row, "self_ns"))) &&
		     buf_addf(into, "; %s in %s", text_time(time, inner), table_text_of(table, row, "most_inside"));
	if (ok && *task && !table_number_of(table, row, "pid"))
		ok = buf_addf(into, "; the CPU was idle");
	else if (ok)
		ok = slowest_put_task(table, row, in_thread ? "it ran in " : "it interrupted ", "comm", "pid", into);
	if (ok && waited > lasted / 100)
		ok = slowest_put_task(table, row, "meanwhile ", "waiting", "waiting_pid", into) &&
		     buf_addf(into, " waited %s for the CPU", text_time(time, waited));
	return ok;
}

const struct analysis_slow irq_slow[] = {
	{ " vec=", "the softirq in", "slowest", "cpu", "softirq", SLOW_OF_TASK, SLOW_MARGIN_NS,
	  "the softirq is not among the events: record with --for irq", tell_run },
	{ " irq=", "the interrupt in", "slowest", "cpu", "irq", SLOW_OF_TASK, SLOW_MARGIN_NS,
	  "the interrupt is not among the events: record with --for irq", tell_run },
	{ .of = NULL },
};

#define CPU_COLUMNS(X)                                                                              \
	X("CPU", NUMBER, NULL, SAME, table_cell_u64, i)                                             \
	X("IRQS", COUNT, NULL, ADDS, table_cell_u64, runs[IRQ_HARD])                                \
	X("IRQ", TIME, NULL, ADDS, table_cell_u64, self[IRQ_HARD])                                  \
	X("SOFTIRQS", COUNT, NULL, ADDS, table_cell_u64, runs[IRQ_SOFT])                            \
	X("SOFTIRQ", TIME, NULL, ADDS, table_cell_u64, self[IRQ_SOFT])                              \
	X("VECTORS", COUNT, NULL, ADDS | SPARE, table_cell_u64, runs[IRQ_VECTOR] + runs[IRQ_IPI])   \
	X("VECTOR", TIME, NULL, ADDS, table_cell_u64, self[IRQ_VECTOR] + self[IRQ_IPI])             \
	X("TIMERS", COUNT, NULL, ADDS | SPARE, table_cell_u64, runs[IRQ_TIMER] + runs[IRQ_HRTIMER]) \
	X("TIMER", TIME, NULL, ADDS | SPARE, table_cell_u64, self[IRQ_TIMER] + self[IRQ_HRTIMER])   \
	X("WORKS", COUNT, NULL, ADDS | SPARE, table_cell_u64, runs[IRQ_WORK])

static const struct table_column cpu_columns[] = COLUMNS(CPU_COLUMNS);

#define TIMERS "timer:timer_expire_entry,timer:hrtimer_expire_entry"

static const struct pass_unseen unseen[] = {
	{ "irqs", "irq:irq_handler_entry" },
	{ "irq_ns", "irq:irq_handler_entry" },
	{ "softirqs", "irq:softirq_entry" },
	{ "softirq_ns", "irq:softirq_entry" },
	{ "vectors", PASS_VECTORS },
	{ "vector_ns", PASS_VECTORS },
	{ "timers", TIMERS },
	{ "timer_ns", TIMERS },
	{ "works", "workqueue:workqueue_execute_start" },
};

/* Of a run under way at its end, an interval has the time without that event. */
static const struct pass_unseen unseen_ends[] = {
	{ "irqs", "irq:irq_handler_exit" },
	{ "irq_ns", "irq:irq_handler_exit" },
	{ "softirqs", "irq:softirq_exit" },
	{ "softirq_ns", "irq:softirq_exit" },
	{ "works", "workqueue:workqueue_execute_end" },
};

/* Of the columns that the last table has. */
static void forget_unseen(const struct irq_analysis *irq, struct findings *findings)
{
	pass_forget_unseen(irq->pass, findings, unseen, array_size(unseen));
	if (!irq->pass->divides)
		pass_forget_unseen(irq->pass, findings, unseen_ends, array_size(unseen_ends));
}

static void put_cpus(const struct irq_analysis *irq, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "cpus", "CPUs: how many ran on each, and their own time", NULL, cpu_columns);

	for (uint32_t i = 0; table && i < irq->nr_cpus; i++) {
		const uint64_t *runs = irq->cpus[i].runs, *self = irq->cpus[i].self;

		if (!irq->pass->state.cpus[i].seen || !pass_wants_cpu(irq->pass, i))
			continue;
		CPU_COLUMNS(CELL)
	}
	forget_unseen(irq, findings);
}

/*
 * The table of tasks that interrupts, softirqs and timers hit. One row each stands for the idle tasks of
 * all CPUs, for weft's own tasks, and for tasks that are not known, so that all rows together have the time of all
 * sources.
 */

#define VICTIM_COLUMNS(X)                                                                   \
	X("TASK", TEXT, NULL, SAME, table_cell, name)                                       \
	X("PID", NUMBER, NULL, SAME, table_cell_known_s64, pid >= 0, pid)                   \
	X("HITS", COUNT, NULL, ADDS, table_cell_u64, victim->hits)                          \
	X("TAKEN", TIME, NULL, ADDS, table_cell_u64, taken)                                 \
	X("RUN", TIME, NULL, ADDS, table_cell_known, ran, ran)                              \
	X("%", NUMBER, "taken_percent", 0, table_cell_percent, taken, ran, 2)               \
	X("IRQ", TIME, NULL, ADDS | SPARE, table_cell_u64, victim->taken[IRQ_BY_HARD])      \
	X("SOFTIRQ", TIME, NULL, ADDS | SPARE, table_cell_u64, victim->taken[IRQ_BY_SOFT])  \
	X("VECTOR", TIME, NULL, ADDS | SPARE, table_cell_u64, victim->taken[IRQ_BY_VECTOR]) \
	X("TIMER", TIME, NULL, ADDS | SPARE, table_cell_u64, victim->taken[IRQ_BY_TIMER])

static const struct table_column victim_columns[] = COLUMNS(VICTIM_COLUMNS);

static uint64_t taken_from(const struct irq_victim *victim)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < IRQ_TAKERS; i++)
		sum += victim->taken[i];
	return sum;
}

static bool is_hit(const struct irq_victim *victim)
{
	return victim->hits || taken_from(victim);
}

static void join(struct irq_victim *victim, const struct irq_victim *other)
{
	victim->hits += other->hits;
	for (size_t i = 0; i < IRQ_TAKERS; i++)
		victim->taken[i] += other->taken[i];
}

/*
 * `pid` -1: the row stands for several tasks. `ran`: how long it had a CPU, with what was taken from it; 0: not known.
 */
static void put_victim(const char *name, int32_t pid, const struct irq_victim *victim, uint64_t ran,
		       struct table *table)
{
	uint64_t taken = taken_from(victim);

	if (is_hit(victim)) {
		VICTIM_COLUMNS(CELL)
	}
}

/* How long a task had a CPU; 0 if no sched_switch tells. */
static uint64_t ran(const struct irq_analysis *irq, const struct state_task *task)
{
	return pass_switches(irq->pass) ? pass_spent(irq->pass, task, TASK_RUNNING) : 0;
}

static void attach(const struct irq_analysis *irq, uint32_t id, struct table *table)
{
	const struct samples *each = u64_map_find(&irq->each, id);

	if (each)
		table_attach(table, each);
}

static void put_idle(const struct irq_analysis *irq, struct table *table)
{
	const struct state *state = &irq->pass->state;
	struct irq_victim idle = { .hits = 0 };
	uint64_t idled = 0;

	for (uint32_t id = 0; id < irq->nr_victims; id++) {
		if (!is_hit(&irq->victims[id]) || !state->tasks[id].idle || !pass_wants(irq->pass, &state->tasks[id]))
			continue;
		attach(irq, id, table);
		join(&idle, &irq->victims[id]);
		idled += ran(irq, &state->tasks[id]);
	}
	put_victim("<idle>", -1, &idle, idled, table);
}

static void put_groups(const struct irq_analysis *irq, struct table *table)
{
	bool known = pass_switches(irq->pass), process = irq->part == WHO_PROCESS;
	const struct irq_group *group;
	uint64_t who;

	for (size_t at = 0; (group = u64_map_next(&irq->groups, &at, &who));)
		put_victim(pass_group_text(irq->pass, irq->part, (uint32_t)who), process && who ? (int32_t)who : -1,
			   &group->victim, known ? group->ran : 0, table);
}

static void put_tasks(const struct irq_analysis *irq, struct table *table)
{
	bool chosen = pass_is_narrow(irq->pass);
	struct irq_victim self = { .hits = 0 };
	uint64_t self_ran = 0;

	for (uint32_t id = 0; id < irq->nr_victims; id++) {
		const struct state_task *task = &irq->pass->state.tasks[id];

		if (!is_hit(&irq->victims[id]) || task->idle)
			continue;
		if (pass_wants(irq->pass, task)) {
			if (irq->by == IRQ_BY_WHO)
				continue;
			attach(irq, id, table);
			put_victim(pass_comm(irq->pass, task), task->pid, &irq->victims[id], ran(irq, task), table);
		} else if (!chosen) {
			join(&self, &irq->victims[id]);
			self_ran += ran(irq, task);
		}
	}
	put_groups(irq, table);
	put_idle(irq, table);
	put_victim("weft itself", -1, &self, self_ran, table);
	if (!chosen)
		put_victim("unknown", -1, &irq->nobody, 0, table);
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

/* Returns -EPROTO if its sums are not the times of the sources: that is a bug in weft. */
static int must_check put_victims(struct irq_analysis *irq, struct findings *findings, struct fail *fail)
{
	struct table *table = findings_table(findings, "victims",
					     "tasks that were hit: the time that interrupts and what they ran took "
					     "from each",
					     "taken", victim_columns);

	if (!adds_up(irq))
		return fail_set(
			fail, -EPROTO,
			"the times that were taken from tasks are not the times of the interrupts; this is a bug "
			"in weft");
	if (!table)
		return 0;
	if (irq->by == IRQ_BY_WHO)
		pass_group_head(findings, irq->part, 0);
	put_tasks(irq, table);
	forget_unseen(irq, findings);
	return 0;
}

static void put_limits(const struct irq_analysis *irq, struct findings *findings)
{
	const struct irq_work *work;
	uint64_t open = 0, key;
	size_t at = 0;

	for (size_t i = 0; i < irq->nr_cpus; i++)
		open += irq->cpus[i].depth;
	while ((work = u64_map_next(&irq->works, &at, &key)))
		open += work->frame.start != 0;
	findings_cut(findings, irq->cut, "runs entered before the start");
	findings_cut(findings, open, "runs open at the end");
	findings_broken(findings, irq->broken, "runs");
	if (irq->unended)
		findings_note(findings, "%s runs are not counted: the run in which they nested ended before them",
			      text_count((char[TEXT_HUMAN]){ 0 }, irq->unended));
}

int irq_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct irq_analysis *irq = arg;
	int r;

	if (irq->pass->failed || irq->roles.failed)
		return fail_memory(fail);
	if (!irq->seen && !irq->under_way && !irq->pass->filter.shape)
		return PASS_NOTHING;
	put_sources(irq, findings);
	put_cpus(irq, findings);
	r = put_victims(irq, findings, fail);
	if (pass_is_narrow(irq->pass))
		findings_note(findings,
			      "a choice of tasks is one of those that were hit; the other tables are of all tasks");
	put_slowest(irq, findings);
	put_limits(irq, findings);
	return r;
}
