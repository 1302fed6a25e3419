// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/syscalls_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/text.h"
#include "lib/uapi/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum column {
	NAME,
	WHICH,
	CALLS,
	ERRORS,
	TOTAL,
	SHARE,
	P50,
	P90,
	P99,
	MAX,
	MAX_AT,
	ON_CPU,
	BLOCKED,
	WAITING,
	MAX_CPU,
	MAX_PID,
	ENDLESS
};
_Static_assert(ENDLESS + 1 == SYSCALL_COLUMNS, "as many as there is room for");

static const struct table_column columns[SYSCALL_COLUMNS] = {
	[NAME] = { "SYSCALL", TABLE_TEXT, NULL },
	[WHICH] = { "NR", TABLE_NUMBER, NULL },
	[CALLS] = { "CALLS", TABLE_COUNT, NULL },
	[ERRORS] = { "ERRORS", TABLE_COUNT, NULL },
	[TOTAL] = { "TOTAL", TABLE_TIME, NULL },
	[SHARE] = { "%", TABLE_NUMBER, "percent" },
	[P50] = { "P50", TABLE_TIME, NULL },
	[P90] = { "P90", TABLE_TIME, NULL },
	[P99] = { "P99", TABLE_TIME, NULL },
	[MAX] = { "MAX", TABLE_TIME, NULL },
	[MAX_AT] = { "MAX AT", TABLE_NUMBER, "max_at" },
	[ON_CPU] = { "ON CPU", TABLE_TIME, NULL },
	[BLOCKED] = { "BLOCKED", TABLE_TIME, NULL },
	[WAITING] = { "WAIT", TABLE_TIME, NULL },
	[MAX_CPU] = { "CPU", TABLE_NUMBER, "max_cpu" },
	[MAX_PID] = { "MAX PID", TABLE_NUMBER, "max_pid" },
	[ENDLESS] = { "ENDLESS", TABLE_COUNT, NULL },
};

const struct analysis_sorts syscalls_sorts = { columns, SYSCALL_COLUMNS,
					       1 << WHICH | 1 << MAX_CPU | 1 << MAX_PID | 1 << ENDLESS };

/* The first two columns name the subject of a row. */
static const struct table_column heads[][2] = {
	[SYSCALLS_BY_CALL] = { { "SYSCALL", TABLE_TEXT, NULL }, { "NR", TABLE_NUMBER, NULL } },
	[SYSCALLS_BY_TASK] = { { "TASK", TABLE_TEXT, "comm" }, { "PID", TABLE_NUMBER, NULL } },
	[SYSCALLS_BY_PROCESS] = { { "PROCESS", TABLE_TEXT, "comm" }, { "PID", TABLE_NUMBER, NULL } },
	[SYSCALLS_BY_ERROR] = { { "SYSCALL", TABLE_TEXT, NULL }, { "ERROR", TABLE_TEXT, NULL } },
	[SYSCALLS_BY_CPU] = { { "CPU", TABLE_TEXT, NULL }, { "NUMBER", TABLE_NUMBER, "cpu_number" } },
};

static const char *error_text(const struct syscalls_analysis *syscalls, int64_t error, char into[32])
{
	const char *name = error_name(syscalls->pass->machine, error);

	if (name)
		return name;
	snprintf(into, 32, "%" PRId64, error);
	return into;
}

static void put_head(struct syscalls_analysis *syscalls, struct table *table, const struct call_row *row, uint64_t key)
{
	const struct state_task *task = &syscalls->pass->state.tasks[row->task];
	uint32_t leader;
	char text[SYSCALLS_NAME];

	switch (syscalls->options.by) {
	case SYSCALLS_BY_CALL:
		table_cell(table, syscalls_name(syscalls, row->number, text));
		table_cell_s64(table, row->number > 0 ? row->number & ~SYSCALLS_TABLE32 : row->number);
		break;
	case SYSCALLS_BY_PROCESS:
		leader = state_task_of(&syscalls->pass->state, (int32_t)key);
		table_cell(table, pass_comm(syscalls->pass,
					    leader == STATE_NO_TASK ? task : &syscalls->pass->state.tasks[leader]));
		table_cell_s64(table, (int32_t)key);
		break;
	case SYSCALLS_BY_TASK:
		table_cell(table, pass_comm(syscalls->pass, task));
		table_cell_s64(table, task->pid);
		break;
	case SYSCALLS_BY_ERROR:
		table_cell(table, syscalls_name(syscalls, row->number, text));
		table_cell(table, error_text(syscalls, row->error, text));
		break;
	case SYSCALLS_BY_CPU:
		table_cellf(table, "%" PRIu64, key);
		table_cell_u64(table, key);
		break;
	}
}

static void put_quantiles(struct table *table, const struct samples *samples)
{
	static const unsigned per_mille[] = { 500, 900, 990 };
	uint64_t quantiles[array_size(per_mille)];

	samples_quantiles(samples, per_mille, array_size(per_mille), quantiles);
	for (size_t i = 0; i < array_size(per_mille); i++) {
		if (samples->count && (per_mille[i] < 990 || samples->count >= SAMPLES_P99_MIN))
			table_cell_u64(table, quantiles[i]);
		else
			table_cell(table, "-");
	}
}

static void put_time(const struct syscalls_analysis *syscalls, struct table *table, const struct call_time *time)
{
	const uint64_t times[] = { time->on_cpu, time->blocked, time->waiting };

	for (size_t i = 0; i < array_size(times); i++) {
		if (syscalls->pass->state.events[STATE_SWITCH])
			table_cell_u64(table, times[i]);
		else
			table_cell(table, "-");
	}
}

static void put_row(struct syscalls_analysis *syscalls, struct table *table, const struct call_row *row, uint64_t key,
		    uint64_t all)
{
	table_attach(table, &row->lasted);
	put_head(syscalls, table, row, key);
	table_cell_u64(table, row->calls);
	table_cell_u64(table, row->errors);
	table_cell_u64(table, row->total.wall);
	table_cell_percent(table, row->total.wall, all, 1);
	put_quantiles(table, &row->lasted);
	if (row->worst.at) {
		table_cell_u64(table, row->worst.lasted);
		table_cell_decimal(table, (int64_t)row->worst.at, 9);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
	put_time(syscalls, table, &row->total);
	if (row->worst.at) {
		table_cell_u64(table, row->worst.cpu);
		table_cell_s64(table, syscalls->pass->state.tasks[row->worst.task].pid);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
	table_cell_u64(table, row->endless);
}

/* Reports the longest call of the row, for calls whose time is shown. */
static void put_worst(struct syscalls_analysis *syscalls, struct findings *findings, const struct call_row *row)
{
	const struct state_task *task;
	struct worst worst = { .what = "system call" };

	if (!row)
		return;
	task = &syscalls->pass->state.tasks[row->worst.task];
	worst.lasted = row->worst.lasted;
	worst.from = row->worst.at - row->worst.lasted;
	worst.to = row->worst.at;
	worst.cpu = row->worst.cpu;
	worst.pid = task->pid;
	strncpy(worst.comm, pass_comm(syscalls->pass, task), sizeof(worst.comm) - 1);
	findings_worst(findings, &worst);
}

static void put_rows(struct syscalls_analysis *syscalls, struct findings *findings)
{
	static const char *const titles[] = {
		[SYSCALLS_BY_CALL] = "system calls",
		[SYSCALLS_BY_TASK] = "system calls of each task",
		[SYSCALLS_BY_PROCESS] = "system calls of each process",
		[SYSCALLS_BY_ERROR] = "system calls that failed, by error",
		[SYSCALLS_BY_CPU] = "system calls, by the CPU where they ended",
	};
	const struct call_row *row, *longest = NULL;
	uint64_t key, all = 0;
	struct table *table;
	size_t at = 0;

	memcpy(syscalls->columns, columns, sizeof(columns));
	memcpy(syscalls->columns, heads[syscalls->options.by], sizeof(heads[0]));
	table = findings_table(findings, "syscalls", titles[syscalls->options.by], "total", syscalls->columns,
			       SYSCALL_COLUMNS);
	if (!table)
		return;
	table->data_only = syscalls_sorts.data_only;
	if (syscalls->options.by != SYSCALLS_BY_CALL && syscalls->options.by != SYSCALLS_BY_CPU)
		table->data_only &= ~(1U << WHICH);
	if (syscalls->options.by == SYSCALLS_BY_ERROR)
		table->data_only |= 1 << ERRORS;
	if (!syscalls->pass->state.events[STATE_SWITCH])
		table->data_only |= 1 << ON_CPU | 1 << BLOCKED | 1 << WAITING;
	table->spare = 1 << MAX_AT | 1 << P90 | 1 << ON_CPU | 1 << BLOCKED | 1 << WAITING | 1 << SHARE;
	findings_brief(findings, 1 << NAME | 1 << CALLS | 1 << ERRORS | 1 << TOTAL | 1 << P50 | 1 << P99 | 1 << MAX |
					 1 << MAX_AT);
	findings_course(findings, 1 << NAME | 1 << WHICH,
			1 << CALLS | 1 << ERRORS | 1 << TOTAL | 1 << ON_CPU | 1 << BLOCKED | 1 << WAITING |
				1 << ENDLESS);
	while ((row = u64_map_next(&syscalls->rows, &at, &key))) {
		all += row->total.wall;
		if (row->worst.at && (!longest || row->worst.lasted > longest->worst.lasted))
			longest = row;
	}
	for (at = 0; (row = u64_map_next(&syscalls->rows, &at, &key));)
		put_row(syscalls, table, row, key, all);
	put_worst(syscalls, findings, longest);
}

enum slow_column { SLOW_WAKER = 11, SLOW_IN, SLOW_VALUE, SLOW_WAKER_PID, SLOW_STACK };
_Static_assert(SLOW_STACK + 1 == SLOW_COLUMNS, "as many as there is room for");

static const struct table_column slow_columns[SLOW_COLUMNS] = {
	{ "LASTED", TABLE_TIME, NULL },
	{ "SYSCALL", TABLE_TEXT, NULL },
	{ "RETURNED", TABLE_TEXT, NULL },
	{ "TASK", TABLE_TEXT, "comm" },
	{ "PID", TABLE_NUMBER, NULL },
	{ "CPU", TABLE_NUMBER, NULL },
	{ "FROM", TABLE_NUMBER, "since" },
	{ "TO", TABLE_NUMBER, "until" },
	{ "ON CPU", TABLE_TIME, NULL },
	{ "BLOCKED", TABLE_TIME, NULL },
	{ "WAIT", TABLE_TIME, NULL },
	{ "WOKEN BY", TABLE_TEXT, "woken_by" },
	{ "IN", TABLE_TEXT, "blocked_in" },
	{ "VALUE", TABLE_NUMBER, "return_value" },
	{ "WAKER PID", TABLE_NUMBER, "woken_by_pid" },
	{ "STACK", TABLE_TEXT, NULL },
};

/* Who ended the longest time for which the call was blocked, and where it was. */
static void put_block(struct syscalls_analysis *syscalls, struct table *table, const struct slow_call *call)
{
	const struct outs *outs = &syscalls->outs;

	if (call->block.waker < 0)
		table_cell(table, "");
	else
		pass_put_waker(syscalls->pass, call->block.waker, table);
	if (call->block.stack)
		stack_store_put_function(&outs->store, outs->context, call->block.stack, table);
	else
		table_cell(table, "");
	table_cell_s64(table, call->returned);
	if (call->block.waker < 0)
		table_cell(table, "-");
	else
		table_cell_s64(table, call->block.waker);
	if (call->block.stack)
		stack_store_put(&outs->store, outs->context, call->block.stack, table);
	else
		table_cell(table, "");
}

static void put_slowest(struct syscalls_analysis *syscalls, struct findings *findings)
{
	char longer[TEXT_HUMAN];
	struct table *table;

	if (!syscalls->options.slowest)
		return;
	table = findings_table(findings, "slowest", "the longest system calls", NULL, slow_columns, SLOW_COLUMNS);
	if (!table)
		return;
	table->data_only = 1 << SLOW_VALUE | 1 << SLOW_WAKER_PID |
			   (syscalls->outs.context ? 0 : 1 << SLOW_IN | 1 << SLOW_STACK) |
			   (syscalls->pass->state.events[STATE_WAKING] ? 0 : 1 << SLOW_WAKER);
	table->spare = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << SLOW_STACK;
	for (size_t i = 0; i < syscalls->slowest.nr; i++) {
		const struct slow_call *call = slowest_at(&syscalls->slowest, i);
		const struct state_task *task = &syscalls->pass->state.tasks[call->task];
		char text[SYSCALLS_NAME];

		table_cell_u64(table, call->time.wall);
		table_cell(table, syscalls_name(syscalls, call->number, text));
		if (syscalls_failed(call->returned))
			table_cell(table, error_text(syscalls, -call->returned, text));
		else
			table_cellf(table, "%" PRId64, call->returned);
		table_cell(table, pass_comm(syscalls->pass, task));
		table_cell_s64(table, task->pid);
		table_cell_u64(table, call->cpu);
		table_cell_decimal(table, (int64_t)(call->at - call->time.wall), 9);
		table_cell_decimal(table, (int64_t)call->at, 9);
		put_time(syscalls, table, &call->time);
		put_block(syscalls, table, call);
	}
	if (syscalls->options.longer)
		findings_note(findings, "longer than %s: %" PRIu64 " call%s%s",
			      text_time(longer, syscalls->options.longer), syscalls->longer,
			      text_plural(syscalls->longer),
			      syscalls->longer > syscalls->slowest.nr ? "; the table has the longest" : "");
}

/*
 * Counts the calls that have not returned. Calls of tasks that ended never will: they go to `endless` of their row.
 * Returns the number of the others, which the end of the trace cut.
 */
static uint64_t count_open(struct syscalls_analysis *syscalls)
{
	const struct state *state = &syscalls->pass->state;
	bool all = !syscalls->options.failures && syscalls->options.by != SYSCALLS_BY_ERROR;
	uint64_t under_way = 0;

	for (uint32_t i = 0; i < syscalls->nr_calls; i++) {
		struct open_call *call = &syscalls->calls[i];
		const struct state_task *task = &state->tasks[i];
		struct call_row *row;

		if (!call->open || !syscalls_wants(syscalls, call, task, call->since))
			continue;
		under_way += !task->died;
		row = task->died && all && task->cpu != STATE_NO_CPU && pass_wants_cpu(syscalls->pass, task->cpu) ?
			      syscalls_row(syscalls, call->number, 0, i, task->cpu) :
			      NULL;
		if (row) {
			row->calls++;
			row->endless++;
		}
	}
	return under_way;
}

int syscalls_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct syscalls_analysis *syscalls = arg;
	uint64_t under_way = count_open(syscalls);

	if (syscalls->pass->failed || syscalls->roles.failed || syscalls->outs.roles.failed ||
	    syscalls->outs.store.failed || syscalls->pass->budget_apart.failed)
		return fail_memory(fail);
	if (syscalls->pass->lines && syscalls->options.trace) {
		syscalls_trace_break(&syscalls->trace, syscalls->pass->lines);
		out_char(syscalls->pass->lines, '\n');
	}
	if (!syscalls->raw && !syscalls->named)
		return pass_nothing(syscalls->pass, &syscalls_analysis, "there are no system calls among the events",
				    "-e raw_syscalls", fail);
	put_rows(syscalls, findings);
	put_slowest(syscalls, findings);
	if (syscalls->refused)
		findings_note(findings,
			      "%" PRIu64
			      " call%s failed without an entry, as those do that seccomp or ptrace refuses: how "
			      "long they took is unknown",
			      syscalls->refused, text_plural(syscalls->refused));
	findings_cut(findings, syscalls->began_before, "calls that began before the start");
	findings_cut(findings, under_way, "calls under way at the end");
	findings_broken(findings, syscalls->broken, "calls");
	return syscalls->pass->failed ? fail_memory(fail) : 0;
}
