// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/locks_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/names/symbols.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum column {
	WHAT,
	WHICH,
	PROCESS,
	WAITS,
	TOTAL,
	P50,
	P99,
	MAX,
	MAX_AT,
	SPUN,
	SLEPT,
	QUEUED,
	GIVEN_UP,
	CALLER,
	WAKER,
	MAX_CPU,
	MAX_PID,
	MAX_COMM,
	WAKER_PID,
	HOLDS,
	HELD,
	HELD_MAX
};
_Static_assert(HELD_MAX + 1 == LOCKS_COLUMNS, "as many as there is room for");

static const struct table_column columns[LOCKS_COLUMNS] = {
	[WHAT] = { "LOCK", TABLE_TEXT, NULL },
	[WHICH] = { "TYPE", TABLE_TEXT, NULL },
	[PROCESS] = { "PROCESS", TABLE_TEXT, NULL },
	[WAITS] = { "WAITS", TABLE_COUNT, NULL },
	[TOTAL] = { "TOTAL", TABLE_TIME, NULL },
	[P50] = { "P50", TABLE_TIME, NULL },
	[P99] = { "P99", TABLE_TIME, NULL },
	[MAX] = { "MAX", TABLE_TIME, NULL },
	[MAX_AT] = { "MAX AT", TABLE_NUMBER, "max_at" },
	[SPUN] = { "SPIN", TABLE_TIME, NULL },
	[SLEPT] = { "SLEEP", TABLE_TIME, NULL },
	[QUEUED] = { "WAIT", TABLE_TIME, NULL },
	[GIVEN_UP] = { "GIVEN UP", TABLE_COUNT, "given_up" },
	[CALLER] = { "CALLER", TABLE_TEXT, NULL },
	[WAKER] = { "WOKEN BY", TABLE_TEXT, "woken_by" },
	[MAX_CPU] = { "CPU", TABLE_NUMBER, "max_cpu" },
	[MAX_PID] = { "MAX PID", TABLE_NUMBER, "max_pid" },
	[MAX_COMM] = { "MAX TASK", TABLE_TEXT, "max_comm" },
	[WAKER_PID] = { "WAKER PID", TABLE_NUMBER, "woken_by_pid" },
	[HOLDS] = { "HOLDS", TABLE_COUNT, NULL },
	[HELD] = { "HELD", TABLE_TIME, NULL },
	[HELD_MAX] = { "HELD MAX", TABLE_TIME, "held_max_ns" },
};

const struct analysis_sorts locks_sorts = { columns, LOCKS_COLUMNS,
					    1 << MAX_CPU | 1 << MAX_PID | 1 << MAX_COMM | 1 << WAKER_PID | 1 << QUEUED |
						    1 << CALLER | 1 << PROCESS | 1 << HOLDS | 1 << HELD |
						    1 << HELD_MAX };

/* The first two columns name the subject of a row. */
static const struct table_column heads[][2] = {
	[LOCKS_BY_LOCK] = { { "LOCK", TABLE_TEXT, NULL }, { "TYPE", TABLE_TEXT, NULL } },
	[LOCKS_BY_CALLER] = { { "FUNCTION", TABLE_TEXT, NULL }, { "TYPE", TABLE_TEXT, NULL } },
	[LOCKS_BY_TASK] = { { "TASK", TABLE_TEXT, "comm" }, { "PID", TABLE_NUMBER, NULL } },
};

static const char *const types[LOCK_TYPES] = {
	[LOCK_SEMAPHORE] = "semaphore", [LOCK_SPIN] = "spinlock",       [LOCK_READ_LOCK] = "rwlock:R",
	[LOCK_WRITE_LOCK] = "rwlock:W", [LOCK_RWSEM_READ] = "rwsem:R",  [LOCK_RWSEM_WRITE] = "rwsem:W",
	[LOCK_RT] = "rt-mutex",         [LOCK_RT_READ] = "rwlock-rt:R", [LOCK_RT_WRITE] = "rwlock-rt:W",
	[LOCK_PERCPU] = "percpu-rwsem", [LOCK_MUTEX] = "mutex",         [LOCK_NAMED] = "lock",
	[LOCK_FUTEX] = "futex",
};

/* Kernel data has symbols. Allocated memory has none, and its addresses lie far behind the last symbol. */
static bool put_symbol(const struct locks_analysis *locks, uint64_t address, uint64_t longest, struct table *table)
{
	struct symbol symbol;

	if (!symbols_find(locks->pass->reader->buffers[0].context->symbols, address, &symbol) || symbol.size > longest)
		return false;
	table_cell_mem(table, symbol.name, symbol.name_len);
	return true;
}

static void put_caller(const struct locks_analysis *locks, uint64_t caller, struct table *table)
{
	if (!caller)
		table_cell(table, "");
	else if (!put_symbol(locks, caller, UINT64_MAX, table))
		table_cellf(table, "0x%" PRIx64, caller);
}

/* Returns false if the lock has only an address, which means nothing in another recording. */
static bool put_lock(const struct locks_analysis *locks, const struct lock_row *row, struct table *table)
{
	enum { DATA_MAX = 1 << 22 };
	const char *name = u64_map_find(&locks->names, row->address);

	if (row->type == LOCK_NAMED && name && *name) {
		table_cell(table, name);
		return true;
	}
	if (row->type != LOCK_FUTEX && put_symbol(locks, row->address, DATA_MAX, table))
		return true;
	table_cellf(table, "0x%" PRIx64, row->address);
	return false;
}

/* In another recording, locks without names are identified by their type. */
static void attach(const struct lock_row *row, bool named, struct table *table)
{
	const char *name = named ? NULL : types[row->type];

	table_attach_part(table, &row->waits, name, NULL);
	table_attach_part(table, &row->held, name, "held");
}

/* A futex of another process may have the same address. A leader that no event names is called as its thread. */
static void put_process(const struct locks_analysis *locks, const struct lock_row *row, struct table *table)
{
	const struct state *state = &locks->pass->state;
	const struct state_task *task = &state->tasks[row->task];
	int32_t tgid = task_tgid(locks->pass->reader->buffers[0].context->tasks, task->pid);
	uint32_t leader = tgid && tgid != task->pid ? state_task_once(state, tgid) : row->task;

	if (leader != STATE_NO_TASK)
		task = &state->tasks[leader];
	if (row->type == LOCK_FUTEX)
		table_cellf(table, "%s-%" PRId32, pass_comm(locks->pass, task), tgid ? tgid : task->pid);
	else
		table_cell(table, "");
}

static void put_head(const struct locks_analysis *locks, const struct lock_row *row, struct table *table)
{
	const struct state_task *task = &locks->pass->state.tasks[row->task];

	switch (locks->by) {
	case LOCKS_BY_LOCK:
		attach(row, put_lock(locks, row, table), table);
		table_cell(table, types[row->type]);
		put_process(locks, row, table);
		return;
	case LOCKS_BY_CALLER:
		attach(row, true, table);
		put_caller(locks, row->caller, table);
		table_cell(table, types[row->type]);
		table_cell(table, "");
		return;
	case LOCKS_BY_TASK:
		attach(row, true, table);
		table_cell(table, pass_comm(locks->pass, task));
		table_cell_s64(table, task->pid);
		table_cell(table, "");
		return;
	}
}

static void put_row(const struct locks_analysis *locks, const struct lock_row *row, struct table *table)
{
	const uint64_t parts[] = { row->spun, row->slept, row->queued };

	put_head(locks, row, table);
	table_cell_u64(table, row->waits.count);
	table_cell_u64(table, row->waits.sum);
	pass_spread(table, &row->waits);
	if (row->longest.to)
		table_cell_decimal(table, (int64_t)row->longest.to, 9);
	else
		table_cell(table, "-");
	for (size_t i = 0; i < array_size(parts); i++) {
		if (locks->pass->state.events[STATE_SWITCH])
			table_cell_u64(table, parts[i]);
		else
			table_cell(table, "-");
	}
	table_cell_u64(table, row->given_up);
	put_caller(locks, row->caller, table);
	pass_put_waker(locks->pass, row->waker, table);
}

static void put_rest(const struct locks_analysis *locks, const struct lock_row *row, struct table *table)
{
	const struct state_task *task = row->longest.to ? &locks->pass->state.tasks[row->longest.task] : NULL;

	if (task) {
		table_cell_u64(table, row->longest.cpu);
		table_cell_s64(table, task->pid);
		table_cell(table, pass_comm(locks->pass, task));
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
		table_cell(table, "");
	}
	if (row->waker >= 0)
		table_cell_s64(table, row->waker);
	else
		table_cell(table, "-");
	table_cell_u64(table, row->held.count);
	table_cell_u64(table, row->held.sum);
	table_cell_u64(table, row->held.max);
}

static void put_rows(struct locks_analysis *locks, struct findings *findings)
{
	static const char *const titles[] = {
		[LOCKS_BY_LOCK] = "waits for each lock",
		[LOCKS_BY_CALLER] = "waits for locks, by the function that wanted one",
		[LOCKS_BY_TASK] = "waits of each task for locks",
	};
	struct extreme longest = { .to = 0 };
	const struct lock_row *row;
	bool held = false, futexes = false;
	struct table *table;
	uint64_t key;
	size_t at = 0;

	memcpy(locks->columns, columns, sizeof(columns));
	memcpy(locks->columns, heads[locks->by], sizeof(heads[0]));
	table = findings_table(findings, "locks", titles[locks->by], "total", locks->columns, LOCKS_COLUMNS);
	if (!table)
		return;
	findings_brief(findings, 1 << WHAT | 1 << WHICH | 1 << WAITS | 1 << TOTAL | 1 << P50 | 1 << MAX | 1 << MAX_AT);
	findings_course(findings, 1 << WHAT | 1 << WHICH | (locks->by == LOCKS_BY_LOCK ? 1 << PROCESS : 0),
			1 << WAITS | 1 << TOTAL | 1 << SPUN | 1 << SLEPT | 1 << QUEUED | 1 << GIVEN_UP | 1 << HOLDS |
				1 << HELD);
	while ((row = u64_map_next(&locks->rows, &at, &key))) {
		put_row(locks, row, table);
		put_rest(locks, row, table);
		held |= row->held.count;
		futexes |= row->type == LOCK_FUTEX;
		if (row->longest.to)
			extreme_see(&longest, &row->longest);
	}
	table->data_only =
		locks_sorts.data_only & ~(1U << CALLER | (futexes && locks->by == LOCKS_BY_LOCK ? 1U << PROCESS : 0) |
					  (held ? 1U << HOLDS | 1U << HELD | 1U << HELD_MAX : 0));
	if (locks->by != LOCKS_BY_LOCK)
		table->text_only = 1 << PROCESS;
	if (!locks->pass->state.events[STATE_SWITCH])
		table->data_only |= 1 << SPUN | 1 << SLEPT | 1 << WAKER;
	if (!locks->stacks || locks->by == LOCKS_BY_CALLER)
		table->data_only |= 1 << CALLER;
	table->spare = 1 << MAX_AT | 1 << GIVEN_UP | 1 << SPUN | 1 << SLEPT | 1 << P50 | 1 << WAKER;
	extreme_tell(locks->pass, findings, "wait for a lock", &longest);
}

/* Without thread groups a futex of a process has a row for each thread. */
static void put_groups(const struct locks_analysis *locks, struct findings *findings)
{
	const struct tasks *tasks = locks->pass->reader->buffers[0].context->tasks;
	const struct lock_row *row;
	size_t at = 0;
	uint64_t key;

	if (locks->by != LOCKS_BY_LOCK)
		return;
	while ((row = u64_map_next(&locks->rows, &at, &key))) {
		if (row->type == LOCK_FUTEX && !task_tgid(tasks, locks->pass->state.tasks[row->task].pid)) {
			findings_missing(findings, "-O", "record-tgid",
					 "which threads share a futex: they have a row each");
			return;
		}
	}
}

enum { SLOW_COLUMNS = 15 };

static const struct table_column slow_columns[SLOW_COLUMNS] = {
	{ "LASTED", TABLE_TIME, NULL },
	{ "LOCK", TABLE_TEXT, NULL },
	{ "TYPE", TABLE_TEXT, NULL },
	{ "TASK", TABLE_TEXT, "comm" },
	{ "PID", TABLE_NUMBER, NULL },
	{ "CPU", TABLE_NUMBER, NULL },
	{ "FROM", TABLE_NUMBER, "since" },
	{ "UNTIL", TABLE_NUMBER, "until" },
	{ "SPIN", TABLE_TIME, NULL },
	{ "SLEEP", TABLE_TIME, NULL },
	{ "WAIT", TABLE_TIME, NULL },
	{ "GIVEN UP", TABLE_COUNT, "given_up" },
	{ "CALLER", TABLE_TEXT, NULL },
	{ "WOKEN BY", TABLE_TEXT, "woken_by" },
	{ "WAKER PID", TABLE_NUMBER, "woken_by_pid" },
};

static void put_slow(const struct locks_analysis *locks, const struct lock_slow *slow, struct table *table)
{
	const struct lock_row lock = { .address = slow->address, .type = slow->type };

	table_cell_u64(table, slow->lasted);
	(void)put_lock(locks, &lock, table);
	table_cell(table, types[slow->type]);
	pass_put_task(locks->pass, slow->task, table);
	table_cell_u64(table, slow->cpu);
	table_cell_decimal(table, (int64_t)(slow->at - slow->lasted), 9);
	table_cell_decimal(table, (int64_t)slow->at, 9);
	table_cell_u64(table, slow->spun);
	table_cell_u64(table, slow->blocked);
	table_cell_u64(table, slow->queued);
	table_cell_u64(table, slow->given_up);
	put_caller(locks, slow->caller, table);
	pass_put_waker(locks->pass, slow->waker, table);
	if (slow->waker >= 0)
		table_cell_s64(table, slow->waker);
	else
		table_cell(table, "-");
}

static void put_slowest(const struct locks_analysis *locks, struct findings *findings)
{
	struct table *table = locks->slowest.most ? findings_table(findings, "slowest", "the longest waits for locks",
								   NULL, slow_columns, SLOW_COLUMNS) :
						    NULL;

	for (size_t i = 0; table && i < locks->slowest.nr; i++)
		put_slow(locks, slowest_at(&locks->slowest, i), table);
}

int locks_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct locks_analysis *locks = arg;
	const struct lock_wait *wait;
	uint64_t open = 0, key;
	size_t at = 0;

	if (!locks->seen && !locks->rows.len && !locks->waits.len)
		return pass_nothing(locks->pass, &locks_analysis, "there are no waits for locks among the events",
				    "-e lock -e sched", fail);
	put_rows(locks, findings);
	put_groups(locks, findings);
	put_slowest(locks, findings);
	while ((wait = u64_map_next(&locks->waits, &at, &key))) {
		open += wait->losses == locks->pass->state.losses;
		locks->broken += wait->losses != locks->pass->state.losses;
	}
	findings_cut(findings, locks->cut, "waits that began before the start");
	findings_cut(findings, open, "waits under way at the end");
	findings_broken(findings, locks->broken, "waits");
	if (!locks->stacks && locks->rows.len)
		findings_note(findings, "no wait has a stack, so that callers are not known; record with -T");
	return locks->pass->failed || locks->roles.failed ? fail_memory(fail) : 0;
}
