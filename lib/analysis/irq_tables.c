// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/findings.h"
#include "lib/analysis/irq_internal.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum column {
	KIND,
	SOURCE,
	COUNT,
	TOTAL,
	SELF,
	PERCENT,
	P50,
	P99,
	MAX,
	MAX_AT,
	MAX_CPU,
	PEAK,
	PEAK_AT,
	PEAK_CPU,
	DELAYS,
	D50,
	D99,
	DMAX,
	DMAX_AT,
	DMAX_CPU,
	THREAD,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	[KIND] = { "KIND", TABLE_TEXT, NULL },
	[SOURCE] = { "SOURCE", TABLE_TEXT, NULL },
	[COUNT] = { "COUNT", TABLE_COUNT, NULL },
	[TOTAL] = { "TOTAL", TABLE_TIME, NULL },
	[SELF] = { "SELF", TABLE_TIME, NULL },
	[PERCENT] = { "%", TABLE_NUMBER, "self_percent" },
	[P50] = { "P50", TABLE_TIME, NULL },
	[P99] = { "P99", TABLE_TIME, NULL },
	[MAX] = { "MAX", TABLE_TIME, NULL },
	[MAX_AT] = { "MAX AT", TABLE_NUMBER, "max_at" },
	[MAX_CPU] = { "CPU", TABLE_NUMBER, "max_cpu" },
	[PEAK] = { "PEAK", TABLE_TIME, NULL },
	[PEAK_AT] = { "PEAK AT", TABLE_NUMBER, "peak_at" },
	[PEAK_CPU] = { "P-CPU", TABLE_NUMBER, "peak_cpu" },
	[DELAYS] = { "DELAYS", TABLE_COUNT, NULL },
	[D50] = { "D-P50", TABLE_TIME, "delay_p50_ns" },
	[D99] = { "D-P99", TABLE_TIME, "delay_p99_ns" },
	[DMAX] = { "D-MAX", TABLE_TIME, "delay_max_ns" },
	[DMAX_AT] = { "D-MAX AT", TABLE_NUMBER, "delay_max_at" },
	[DMAX_CPU] = { "D-CPU", TABLE_NUMBER, "delay_max_cpu" },
	[THREAD] = { "KSOFTIRQD", TABLE_COUNT, NULL },
};

const struct analysis_sorts irq_sorts = {
	columns,
	COLUMNS,
	1 << MAX_CPU | 1 << PEAK_CPU | 1 << DELAYS | 1 << DMAX_CPU | 1 << THREAD,
};

static const char *const kinds[IRQ_KINDS] = { "irq", "softirq", "vector", "ipi", "timer", "hrtimer", "work" };

static void put_longest(struct table *table, const struct irq_longest *longest)
{
	if (!longest->at) {
		table_cell(table, "-");
		table_cell(table, "-");
		return;
	}
	table_cell_decimal(table, (int64_t)longest->at, 9);
	table_cell_u64(table, longest->cpu);
}

static uint64_t end_of(const struct irq_peak *peak)
{
	return (peak->number + 1) * IRQ_WINDOW;
}

static void put_peak(struct table *table, const struct irq_peak *peak)
{
	if (!peak->taken) {
		for (int i = 0; i < 3; i++)
			table_cell(table, "-");
		return;
	}
	table_cell_u64(table, peak->taken);
	table_cell_decimal(table, (int64_t)end_of(peak), 9);
	table_cell_u64(table, peak->cpu);
}

static void put_source(const struct irq_source *source, uint64_t span, struct table *table)
{
	table_attach(table, &source->lasted);
	table_cell(table, kinds[source->kind]);
	table_cell(table, source->name);
	table_cell_u64(table, source->lasted.count);
	table_cell_u64(table, source->lasted.sum);
	if (source->has_self) {
		table_cell_u64(table, source->self);
		table_cell_percent(table, source->self, span, 2);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
	pass_spread(table, &source->lasted);
	put_longest(table, &source->longest);
	put_peak(table, &source->peak);
	pass_cells(table, &source->delays);
	put_longest(table, &source->latest);
	table_cell_u64(table, source->in_thread);
}

/* Names a worst case after its source; the text stays on one line. */
static const char *say(char text[IRQ_WHAT], const char *what, const struct irq_source *source)
{
	snprintf(text, IRQ_WHAT, "%s, of %s %s", what, kinds[source->kind], source->name);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return text;
}

static void put_sources(struct irq_analysis *irq, struct findings *findings)
{
	const struct state *state = &irq->pass->state;
	struct table *table =
		findings_table(findings, "sources",
			       "interrupts and what they ran: how long, with and without what nested inside; the "
			       "delay until they ran",
			       "self", columns, COLUMNS);
	const struct irq_source *longest = NULL, *busiest = NULL;

	findings_brief(findings, 1 << KIND | 1 << SOURCE | 1 << COUNT | 1 << SELF | 1 << PERCENT | 1 << P99 | 1 << MAX |
					 1 << MAX_AT);
	findings_course(findings, 1 << KIND | 1 << SOURCE, 1 << COUNT | 1 << TOTAL | 1 << SELF | 1 << DELAYS);
	for (size_t i = 0; table && i < irq->nr_sources; i++) {
		const struct irq_source *source = &irq->sources[i];

		if (!source->lasted.count && !source->delays.count)
			continue;
		put_source(source, state->now - state->start, table);
		if (source->has_self && (!longest || source->longest.lasted > longest->longest.lasted))
			longest = source;
		if (source->peak.taken && (!busiest || source->peak.taken > busiest->peak.taken))
			busiest = source;
	}
	if (!table)
		return;
	table->data_only = irq_sorts.data_only;
	table->spare =
		1 << TOTAL | 1 << PERCENT | 1 << DMAX_AT | 1 << MAX_AT | 1 << P50 | 1 << D50 | 1 << PEAK | 1 << PEAK_AT;
	if (!longest)
		return;
	findings_worst(findings, &(struct worst){ .what = say(irq->what[0], "run", longest),
						  .lasted = longest->longest.lasted,
						  .cpu = longest->longest.cpu,
						  .pid = -1,
						  .from = longest->longest.at - longest->longest.lasted,
						  .to = longest->longest.at });
	if (!busiest)
		return;
	findings_worst(findings, &(struct worst){ .what = say(irq->what[1], "time within 10 ms", busiest),
						  .lasted = busiest->peak.taken,
						  .cpu = busiest->peak.cpu,
						  .pid = -1,
						  .from = end_of(&busiest->peak) - IRQ_WINDOW,
						  .to = end_of(&busiest->peak) });
}

enum { SLOW_COLUMNS = 14 };

static const struct table_column slow_columns[SLOW_COLUMNS] = {
	{ "LASTED", TABLE_TIME, NULL },  { "KIND", TABLE_TEXT, NULL },          { "SOURCE", TABLE_TEXT, NULL },
	{ "CPU", TABLE_NUMBER, NULL },   { "FROM", TABLE_NUMBER, "since" },     { "UNTIL", TABLE_NUMBER, "until" },
	{ "SELF", TABLE_TIME, NULL },    { "INNER", TABLE_TIME, NULL },         { "MOST INSIDE", TABLE_TEXT, NULL },
	{ "TASK", TABLE_TEXT, "comm" },  { "PID", TABLE_NUMBER, NULL },         { "WAITED", TABLE_TIME, NULL },
	{ "WAITING", TABLE_TEXT, NULL }, { "WAITING PID", TABLE_NUMBER, NULL },
};

static void put_slow(const struct irq_analysis *irq, const struct irq_slow *slow, struct table *table)
{
	const struct irq_source *source = &irq->sources[slow->source], *inner = &irq->sources[slow->inner_source];

	table_cell_u64(table, slow->lasted);
	table_cell(table, kinds[source->kind]);
	table_cell(table, source->name);
	table_cell_u64(table, slow->cpu);
	table_cell_decimal(table, (int64_t)(slow->at - slow->lasted), 9);
	table_cell_decimal(table, (int64_t)slow->at, 9);
	table_cell_u64(table, slow->self);
	table_cell_u64(table, slow->inner);
	if (slow->inner)
		table_cellf(table, "%s %s", kinds[inner->kind], inner->name);
	else
		table_cell(table, "");
	pass_put_task(irq->pass, slow->task, table);
	table_cell_u64(table, slow->waited);
	pass_put_task(irq->pass, slow->waiter, table);
}

static void put_slowest(const struct irq_analysis *irq, struct findings *findings)
{
	struct table *table =
		irq->slowest.most ?
			findings_table(findings, "slowest",
				       "the longest runs; what nested in them, whom they hit and who waited", NULL,
				       slow_columns, SLOW_COLUMNS) :
			NULL;

	for (size_t i = 0; table && i < irq->slowest.nr; i++)
		put_slow(irq, slowest_at(&irq->slowest, i), table);
}

static const struct table_column cpu_columns[] = {
	{ "CPU", TABLE_NUMBER, NULL },     { "IRQS", TABLE_COUNT, NULL },   { "IRQ", TABLE_TIME, NULL },
	{ "SOFTIRQS", TABLE_COUNT, NULL }, { "SOFTIRQ", TABLE_TIME, NULL }, { "VECTORS", TABLE_COUNT, NULL },
	{ "VECTOR", TABLE_TIME, NULL },    { "TIMERS", TABLE_COUNT, NULL }, { "TIMER", TABLE_TIME, NULL },
	{ "WORKS", TABLE_COUNT, NULL },
};

static void put_cpus(const struct irq_analysis *irq, struct findings *findings)
{
	struct table *table = findings_table(findings, "cpus", "CPUs: how many ran on each, and their own time", NULL,
					     cpu_columns, array_size(cpu_columns));

	if (table)
		table->spare = 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9;
	findings_course(findings, 1 << 0, (1 << array_size(cpu_columns)) - 2);
	for (uint32_t i = 0; table && i < irq->nr_cpus; i++) {
		const uint64_t *runs = irq->cpus[i].runs, *self = irq->cpus[i].self;

		if (!irq->pass->state.cpus[i].seen || !pass_wants_cpu(irq->pass, i))
			continue;
		table_cell_u64(table, i);
		table_cell_u64(table, runs[IRQ_HARD]);
		table_cell_u64(table, self[IRQ_HARD]);
		table_cell_u64(table, runs[IRQ_SOFT]);
		table_cell_u64(table, self[IRQ_SOFT]);
		table_cell_u64(table, runs[IRQ_VECTOR] + runs[IRQ_IPI]);
		table_cell_u64(table, self[IRQ_VECTOR] + self[IRQ_IPI]);
		table_cell_u64(table, runs[IRQ_TIMER] + runs[IRQ_HRTIMER]);
		table_cell_u64(table, self[IRQ_TIMER] + self[IRQ_HRTIMER]);
		table_cell_u64(table, runs[IRQ_WORK]);
	}
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
		findings_note(findings,
			      "%" PRIu64 " runs are not counted: the run in which they nested ended before them",
			      irq->unended);
}

int irq_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct irq_analysis *irq = arg;
	int r;

	if (irq->pass->failed || irq->roles.failed)
		return fail_memory(fail);
	if (!irq->seen)
		return pass_nothing(irq->pass, &irq_analysis,
				    "there are no interrupts, timers or works among the events",
				    "-e irq -e irq_vectors", fail);
	put_sources(irq, findings);
	put_cpus(irq, findings);
	r = irq_put_victims(irq, findings, fail);
	if (irq->pass->filter.nr_pids || irq->pass->filter.nr_comms)
		findings_note(findings, "--pid and --comm choose only the tasks that were hit; the other tables are of "
					"all tasks");
	put_slowest(irq, findings);
	put_limits(irq, findings);
	return r;
}
