// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/power_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/names/symbols.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { NS_PER_S = 1000000000 };

static uint64_t span(const struct power_analysis *power)
{
	return power->pass->state.now - power->pass->state.start;
}

enum { CALLED = 24, WHERE = 16 };

/* The last word of a compared row: its CPU, where the rows of all CPUs are not one. */
static const char *where(const struct power_analysis *power, uint32_t cpu, char text[WHERE])
{
	if (!power->options.by_cpu)
		return NULL;
	snprintf(text, WHERE, "cpu %" PRIu32, cpu);
	return text;
}

static const struct table_column cpu_columns[] = {
	{ "CPU", TABLE_NUMBER, NULL },
	{ "IDLE", TABLE_TIME, NULL },
	{ "%", TABLE_NUMBER, "idle_percent" },
	{ "WAKEUPS", TABLE_COUNT, NULL },
	{ "/S", TABLE_NUMBER, "wakeups_per_second" },
	{ "TOO DEEP", TABLE_COUNT, "too_deep" },
	{ "TOO SHALLOW", TABLE_COUNT, "too_shallow" },
	{ "SAMPLES", TABLE_COUNT, NULL },
	{ "KHZ MIN", TABLE_COUNT, "sampled_min_khz" },
	{ "KHZ MEAN", TABLE_COUNT, "sampled_mean_khz" },
	{ "KHZ MAX", TABLE_COUNT, "sampled_max_khz" },
};

const struct analysis_sorts power_sorts = { cpu_columns, array_size(cpu_columns), 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 };

/* It is not known for a CPU without an event of its idle states. */
static void put_idled(const struct power_analysis *power, struct table *table, const struct power_cpu *cpu)
{
	if (!cpu->seen) {
		for (int i = 0; i < 4; i++)
			table_cell(table, "-");
		return;
	}
	table_cell_u64(table, cpu->idled);
	table_cell_percent(table, cpu->idled, span(power), 2);
	table_cell_u64(table, cpu->exits);
	table_cell_ratio(table, cpu->exits, NS_PER_S, span(power), 1);
}

static void put_misses(struct table *table, const struct power_cpu *cpu, bool recorded)
{
	if (recorded) {
		table_cell_u64(table, cpu->too_deep);
		table_cell_u64(table, cpu->too_shallow);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
}

static void put_cpus(const struct power_analysis *power, struct findings *findings)
{
	bool misses = pass_has(power->pass, "power:cpu_idle_miss");
	struct table *table =
		findings_table(findings, "cpus", "CPUs: how long they idled, and how often they were woken", "idle",
			       cpu_columns, array_size(cpu_columns));
	const struct power_cpu *cpu;
	bool sampled = false;
	uint64_t number;
	size_t at = 0;

	findings_course(findings, 1 << 0, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7);
	while (table && (cpu = u64_map_next(&power->cpus, &at, &number))) {
		if (!pass_wants_cpu(power->pass, (uint32_t)number))
			continue;
		table_cell_u64(table, number);
		put_idled(power, table, cpu);
		put_misses(table, cpu, misses);
		table_cell_u64(table, cpu->samples);
		table_cell_u64(table, cpu->sampled_min);
		table_cell_u64(table, cpu->samples ? cpu->sampled / cpu->samples : 0);
		table_cell_u64(table, cpu->sampled_max);
		sampled |= cpu->samples;
	}
	if (table && !sampled)
		table->data_only = power_sorts.data_only;
}

static const struct table_column state_columns[] = {
	{ "CPU", TABLE_NUMBER, NULL }, { "STATE", TABLE_NUMBER, NULL },  { "ENTRIES", TABLE_COUNT, NULL },
	{ "TOTAL", TABLE_TIME, NULL }, { "%", TABLE_NUMBER, "percent" }, { "P50", TABLE_TIME, NULL },
	{ "P99", TABLE_TIME, NULL },   { "MAX", TABLE_TIME, NULL },      { "MAX AT", TABLE_NUMBER, "max_at" },
};

static void put_states(const struct power_analysis *power, struct findings *findings)
{
	struct table *table = findings_table(findings, "states", "idle states of each CPU", "total", state_columns,
					     array_size(state_columns));
	struct extreme longest = { .to = 0 };
	const struct power_state *state;
	char called[CALLED], at_cpu[WHERE];
	uint64_t key;
	size_t at = 0;

	if (table)
		table->spare = 1 << 4 | 1 << 5 | 1 << 8;
	findings_course(findings, 1 << 0 | 1 << 1, 1 << 2 | 1 << 3);
	while (table && (state = u64_map_next(&power->states, &at, &key))) {
		if (!pass_wants_cpu(power->pass, (uint32_t)(key >> 32)))
			continue;
		snprintf(called, sizeof(called), "state %" PRIu32, (uint32_t)key);
		table_attach_part(table, &state->lasted, called, where(power, (uint32_t)(key >> 32), at_cpu));
		table_cell_u64(table, key >> 32);
		table_cell_u64(table, (uint32_t)key);
		table_cell_u64(table, state->lasted.count);
		table_cell_u64(table, state->lasted.sum);
		table_cell_percent(table, state->lasted.sum, span(power), 2);
		pass_spread(table, &state->lasted);
		table_cell_decimal(table, (int64_t)state->longest.to, 9);
		extreme_see(&longest, &state->longest);
	}
	extreme_tell(power->pass, findings, "time in an idle state", &longest);
}

static const struct table_column waker_columns[] = {
	{ "SOURCE", TABLE_TEXT, NULL },
	{ "CPU", TABLE_NUMBER, NULL },
	{ "WAKEUPS", TABLE_COUNT, NULL },
};

static void put_wakers(const struct power_analysis *power, struct findings *findings)
{
	struct table *table = findings_table(findings, "wakeups", "what woke CPUs", "wakeups", waker_columns,
					     array_size(waker_columns));
	const struct power_waker *waker;
	char at_cpu[WHERE];
	uint64_t key;
	size_t at = 0;

	findings_course(findings, 1 << 0 | 1 << 1, 1 << 2);
	while (table && (waker = u64_map_next(&power->wakers, &at, &key))) {
		if (!pass_wants_cpu(power->pass, waker->cpu))
			continue;
		table_attach_part(table, &waker->each, NULL, where(power, waker->cpu, at_cpu));
		table_cell(table, waker->source);
		table_cell_u64(table, waker->cpu);
		table_cell_u64(table, waker->wakeups);
	}
}

static const struct table_column frequency_columns[] = {
	{ "CPU", TABLE_NUMBER, NULL }, { "KHZ", TABLE_COUNT, NULL },     { "TIMES", TABLE_COUNT, NULL },
	{ "TOTAL", TABLE_TIME, NULL }, { "%", TABLE_NUMBER, "percent" },
};

static void put_frequencies(struct power_analysis *power, struct findings *findings)
{
	struct table *table;
	const struct power_frequency *frequency;
	struct power_cpu *cpu;
	char called[CALLED], at_cpu[WHERE];
	uint64_t key;
	size_t at = 0;

	while ((cpu = u64_map_next(&power->cpus, &at, &key)))
		power_settle(power, cpu, (uint32_t)key, power->pass->state.now);
	if (!power->frequencies.len)
		return;
	table = findings_table(findings, "frequencies", "frequencies of each CPU, as far as they are known", "total",
			       frequency_columns, array_size(frequency_columns));
	findings_course(findings, 1 << 0 | 1 << 1, 1 << 2 | 1 << 3);
	for (at = 0; table && (frequency = u64_map_next(&power->frequencies, &at, &key));) {
		if (!pass_wants_cpu(power->pass, (uint32_t)(key >> 32)))
			continue;
		snprintf(called, sizeof(called), "%" PRIu32 " kHz", (uint32_t)key);
		table_attach_part(table, &frequency->stays, called, where(power, (uint32_t)(key >> 32), at_cpu));
		table_cell_u64(table, key >> 32);
		table_cell_u64(table, (uint32_t)key);
		table_cell_u64(table, frequency->times);
		table_cell_u64(table, frequency->lasted);
		table_cell_percent(table, frequency->lasted, span(power), 2);
	}
}

static const struct table_column action_columns[] = {
	{ "ACTION", TABLE_TEXT, NULL }, { "TIMES", TABLE_COUNT, NULL },       { "TOTAL", TABLE_TIME, NULL },
	{ "MAX", TABLE_TIME, NULL },    { "MAX AT", TABLE_NUMBER, "max_at" },
};

static void put_actions(const struct power_analysis *power, struct findings *findings)
{
	struct table *table;
	const struct power_action *action;
	uint64_t key;
	size_t at = 0;

	if (!power->actions.len)
		return;
	table = findings_table(findings, "suspend", "steps of suspending and resuming", "total", action_columns,
			       array_size(action_columns));
	while (table && (action = u64_map_next(&power->actions, &at, &key))) {
		const char *name = symbols_string(power->pass->reader->buffers[0].context->symbols, key);

		if (!action->times)
			continue;
		table_attach(table, &action->each);
		if (name)
			table_cell(table, name);
		else
			table_cellf(table, "0x%" PRIx64, key);
		table_cell_u64(table, action->times);
		table_cell_u64(table, action->total);
		table_cell_u64(table, action->longest.lasted);
		table_cell_decimal(table, (int64_t)action->longest.to, 9);
	}
}

int power_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct power_analysis *power = arg;
	const struct power_cpu *cpu;
	bool tasks = power->frequencies.len && power->pass->state.events[STATE_SWITCH];
	uint64_t idle = 0, key;
	size_t at = 0;
	int r;

	if (!power->seen)
		return pass_nothing(power->pass, &power_analysis,
				    "there are no idle states or frequencies among the events",
				    "-e power -e irq -e irq_vectors", fail);
	put_cpus(power, findings);
	if (power->states.len) {
		put_states(power, findings);
		put_wakers(power, findings);
	}
	put_frequencies(power, findings);
	r = tasks ? power_put_tasks(power, findings, fail) : 0;
	if (r)
		return r;
	put_actions(power, findings);
	while ((cpu = u64_map_next(&power->cpus, &at, &key))) {
		idle += cpu->idle;
		power->unknown += cpu->waking;
	}
	if (power->pass->filter.nr_pids || power->pass->filter.nr_comms)
		findings_note(findings, tasks ? "--pid and --comm choose only tasks; the other tables are of CPUs" :
						"the rows are of CPUs: --pid and --comm choose none of them");
	if (power->unknown && power->wakers.len)
		findings_note(findings, "of %" PRIu64 " wakeup%s no event has the cause", power->unknown,
			      text_plural(power->unknown));
	findings_cut(findings, power->cut, "stays in idle that began before the start");
	findings_cut(findings, idle, "stays in idle at the end");
	findings_broken(findings, power->broken, "stays in idle");
	return power->pass->failed || power->roles.failed ? fail_memory(fail) : 0;
}
