// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/locks/locks_internal.h"

#include <errno.h>
#include <inttypes.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/reader/reader.h"

enum { OF_PROCESS = WHEN, OF_SWITCHES = WHEN << 1, OF_STACKS = WHEN << 2, OF_HOLDS = WHEN << 3, OF_WHICH = WHEN << 4 };

#define LOCK_COLUMNS(X)                                                                                        \
	X("LOCK", TEXT, NULL, BRIEF | SAME, put_what, locks, row)                                              \
	X("TYPE", TEXT, NULL, BRIEF | SAME | OF_WHICH, put_which, locks, row)                                  \
	X("PROCESS", TEXT, NULL, DATA | OF_PROCESS, put_process, locks, row)                                   \
	X("WAITS", COUNT, NULL, BRIEF | ADDS, table_cell_u64, row->waits.count)                                \
	X("TOTAL", TIME, NULL, BRIEF | ADDS, table_cell_u64, row->waited.all)                                  \
	SPREAD(X, "", "", BRIEF | SPARE, 0, BRIEF, waits)                                                      \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_when, row->longest.to)                         \
	X("SPIN", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->waited.spun)           \
	X("SLEEP", TIME, NULL, ADDS | SPARE | OF_SWITCHES, table_cell_known, known, row->waited.slept)         \
	X("WAIT", TIME, NULL, DATA | ADDS, table_cell_known, known, row->waited.queued)                        \
	X("GIVEN UP", COUNT, "given_up", ADDS | SPARE, table_cell_u64, row->given_up)                          \
	X("MUTEX WAITS", COUNT, "mutex_waits", DATA | ADDS, table_cell_u64, row->mutexes)                      \
	X("CALLER", TEXT, NULL, DATA | OF_STACKS, put_caller, locks, row->caller)                              \
	X("WOKEN BY", TEXT, "woken_by", SPARE | OF_SWITCHES, pass_put_waker, locks->pass, row->waker)          \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_known, row->longest.to, row->longest.cpu)                 \
	X("MAX PID", NUMBER, "max_pid", DATA, extreme_put_pid, locks->pass, &row->longest)                     \
	X("MAX TASK", TEXT, "max_comm", DATA, extreme_put_comm, locks->pass, &row->longest)                    \
	X("WAKER PID", NUMBER, "woken_by_pid", DATA, table_cell_known_s64, row->waker.pid > 0, row->waker.pid) \
	X("HOLDS", COUNT, NULL, DATA | ADDS | OF_HOLDS, table_cell_u64, row->held.count)                       \
	X("HELD", TIME, NULL, DATA | ADDS | OF_HOLDS, table_cell_u64, row->held_all)                           \
	X("HELD MAX", TIME, "held_max_ns", DATA | OF_HOLDS, table_cell_u64, row->held.max)

const struct table_column locks_columns[] = COLUMNS(LOCK_COLUMNS);

/* The first two columns name the subject of a row. */
static const struct table_column heads[][2] = {
	[LOCKS_BY_LOCK] = { { "LOCK", TABLE_TEXT, NULL, 0 }, { "TYPE", TABLE_TEXT, NULL, 0 } },
	[LOCKS_BY_CALLER] = { { "FUNCTION", TABLE_TEXT, NULL, 0 }, { "TYPE", TABLE_TEXT, NULL, 0 } },
	[LOCKS_BY_TASK] = { { "TASK", TABLE_TEXT, "comm", 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[LOCKS_BY_WAKER] = { { "ENDED BY", TABLE_TEXT, "ended_by", 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
	[LOCKS_BY_WHO] = { { "WHO", TABLE_TEXT, NULL, 0 }, { "PID", TABLE_NUMBER, NULL, 0 } },
};

static const char *const types[LOCK_TYPES] = {
	[LOCK_SEMAPHORE] = "semaphore", [LOCK_SPIN] = "spinlock",       [LOCK_READ_LOCK] = "rwlock:R",
	[LOCK_WRITE_LOCK] = "rwlock:W", [LOCK_RWSEM_READ] = "rwsem:R",  [LOCK_RWSEM_WRITE] = "rwsem:W",
	[LOCK_RT] = "rt-mutex",         [LOCK_RT_READ] = "rwlock-rt:R", [LOCK_RT_WRITE] = "rwlock-rt:W",
	[LOCK_PERCPU] = "percpu-rwsem", [LOCK_MUTEX] = "mutex",         [LOCK_NAMED] = "lock",
	[LOCK_FUTEX] = "futex",
};

struct lock_row *locks_row(struct locks_analysis *locks, const struct lock_wait *wait, struct waker waker)
{
	int32_t pid = locks->pass->state.tasks[wait->task].pid,
		tgid = task_tgid(locks->pass->reader->buffers[0].context->tasks, pid);
	struct lock_row *row = NULL;
	uint64_t place = wait->address;
	uint32_t who = WHO_NOBODY;

	/*
	 * Threads of a process share futexes (as far as the file shows which threads belong together). In another
	 * process the same address is another futex.
	 */
	if (wait->type == LOCK_FUTEX)
		place ^= (uint64_t)(uint32_t)(tgid ? tgid : pid) << 47;
	switch (locks->by) {
	case LOCKS_BY_LOCK:
		row = u64_map_add(&locks->rows, (place << 8 | place >> 56) ^ wait->type);
		break;
	case LOCKS_BY_CALLER:
		row = u64_map_add(&locks->rows, (wait->caller << 8 | wait->caller >> 56) ^ wait->type);
		break;
	case LOCKS_BY_TASK:
		row = u64_map_add(&locks->rows, wait->task);
		break;
	case LOCKS_BY_WAKER:
		row = u64_map_add(&locks->rows, (uint64_t)waker.name << 34 | (uint64_t)(uint32_t)waker.pid << 1 | 1);
		break;
	case LOCKS_BY_WHO:
		who = pass_group(locks->pass, locks->part, wait->task);
		row = u64_map_add(&locks->rows, who);
		break;
	}
	if (!row) {
		locks->pass->failed = true;
		return NULL;
	}
	if (!row->waits.count && !row->held.count) {
		row->address = wait->address;
		row->type = wait->type;
		row->task = wait->task;
		row->who = who;
		row->waker = waker;
		row->caller = wait->caller;
	}
	return row;
}

/* Kernel data has symbols. Allocated memory has none, and its addresses lie far behind the last symbol. */
static bool put_symbol(const struct locks_analysis *locks, uint64_t address, uint64_t longest, struct table *table)
{
	struct symbol symbol;

	if (!symbols_find(locks->pass->reader->buffers[0].context->symbols, address, &symbol) || symbol.size > longest)
		return false;
	table_cell_mem(table, symbol.name, symbol.name_len);
	return true;
}

static void put_caller(struct table *table, const struct locks_analysis *locks, uint64_t caller)
{
	if (!caller)
		table_cell(table, "");
	else if (!put_symbol(locks, caller, UINT64_MAX, table))
		table_cellf(table, "0x%" PRIx64, caller);
}

/* Returns false if the lock has only an address, which means nothing in another recording. */
static bool put_lock(struct table *table, const struct locks_analysis *locks, uint8_t type, uint64_t address)
{
	enum { DATA_MAX = 1 << 22 };
	const char *name = u64_map_find(&locks->names, address);

	if (type == LOCK_NAMED && name && *name) {
		table_cell(table, name);
		return true;
	}
	if (type != LOCK_FUTEX && put_symbol(locks, address, DATA_MAX, table))
		return true;
	table_cellf(table, "0x%" PRIx64, address);
	return false;
}

/* A futex of another process may have the same address. A leader that no event names is called as its thread. */
static void put_process(struct table *table, const struct locks_analysis *locks, const struct lock_row *row)
{
	const struct state *state = &locks->pass->state;
	const struct state_task *task = &state->tasks[row->task];
	int32_t tgid = task_tgid(locks->pass->reader->buffers[0].context->tasks, task->pid);
	uint32_t leader = tgid && tgid != task->pid ? state_task_once(state, tgid) : row->task;

	if (leader != STATE_NO_TASK)
		task = &state->tasks[leader];
	if (row->type == LOCK_FUTEX && locks->by == LOCKS_BY_LOCK)
		table_cellf(table, "%s-%" PRId32, pass_comm(locks->pass, task), tgid ? tgid : task->pid);
	else
		table_cell(table, "");
}

/* The cell that names the row. In another recording, locks without names are identified by their type. */
static void put_what(struct table *table, const struct locks_analysis *locks, const struct lock_row *row)
{
	const char *name = NULL;

	switch (locks->by) {
	case LOCKS_BY_LOCK:
		name = put_lock(table, locks, row->type, row->address) ? NULL : types[row->type];
		break;
	case LOCKS_BY_CALLER:
		put_caller(table, locks, row->caller);
		break;
	case LOCKS_BY_TASK:
		pass_put_comm(table, locks->pass, row->task);
		break;
	case LOCKS_BY_WAKER:
		if (row->waker.pid < 0)
			table_cell(table, "(nobody woke it)");
		else
			pass_put_waker(table, locks->pass, row->waker);
		break;
	case LOCKS_BY_WHO:
		table_cell(table, pass_group_text(locks->pass, locks->part, row->who));
		break;
	}
	table_attach_part(table, &row->waits, name, NULL);
	table_attach_part(table, &row->held, name, "held");
}

static void put_which(struct table *table, const struct locks_analysis *locks, const struct lock_row *row)
{
	if (locks->by == LOCKS_BY_WAKER)
		table_cell_known_s64(table, row->waker.pid > 0, row->waker.pid);
	else if (locks->by == LOCKS_BY_TASK)
		pass_put_pid(table, locks->pass, row->task);
	else if (locks->by == LOCKS_BY_WHO)
		table_cell_known_s64(table, locks->part == WHO_PROCESS && row->who, (int64_t)row->who);
	else
		table_cell(table, types[row->type]);
}

static void put_row(const struct locks_analysis *locks, const struct lock_row *row, struct table *table)
{
	struct percentiles waits = percentiles_of(&row->waits);
	bool known = pass_switches(locks->pass);

	LOCK_COLUMNS(CELL)
}

static void put_rows(struct locks_analysis *locks, struct findings *findings)
{
	static const char *const titles[] = {
		[LOCKS_BY_LOCK] = "waits for each lock",
		[LOCKS_BY_CALLER] = "waits for locks, by the function that wanted one",
		[LOCKS_BY_TASK] = "waits of each task for locks",
		[LOCKS_BY_WAKER] = "waits for locks, by the task that ended them: who held up the others",
		[LOCKS_BY_WHO] = "waits for locks, of tasks together",
	};
	struct extreme longest = { .to = 0 };
	const struct lock_row *row;
	bool held = false, futexes = false;
	struct table *table;
	uint64_t key;
	size_t at = 0;

	table = findings_table(findings, "locks", titles[locks->by], "total", locks_columns);
	if (!table)
		return;
	findings_head(findings, heads[locks->by], array_size(heads[0]));
	if (locks->by == LOCKS_BY_WHO)
		pass_group_head(findings, locks->part, 0);
	findings_show(findings, OF_WHICH, locks->by != LOCKS_BY_WHO || locks->part == WHO_PROCESS);
	while ((row = u64_map_next(&locks->rows, &at, &key))) {
		put_row(locks, row, table);
		held |= row->held_all;
		futexes |= row->type == LOCK_FUTEX;
		if (row->longest.to)
			extreme_see(&longest, &row->longest);
	}
	/* Rows that are equal in the column of the order then stand by their names, and not by a hash of addresses. */
	if (!table_sort_by(table, "process") || !table_sort(table, 1) || !table_sort(table, 0))
		findings->failed = true;
	pass_forget_unseen(locks->pass, findings, &(struct pass_unseen){ "wait_ns", PASS_WAKES }, 1);
	findings_show(findings, OF_PROCESS, futexes && locks->by == LOCKS_BY_LOCK);
	findings_flag(findings, OF_PROCESS, SAME, locks->by == LOCKS_BY_LOCK);
	findings_flag(findings, OF_PROCESS, TEXT_ONLY, locks->by != LOCKS_BY_LOCK);
	findings_show(findings, OF_HOLDS, held);
	findings_show(findings, OF_SWITCHES, pass_switches(locks->pass));
	findings_show(findings, OF_STACKS, locks->stacks && locks->by != LOCKS_BY_CALLER);
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

#define SLOW_COLUMNS(X)                                                                                          \
	X("LASTED", TIME, NULL, 0, table_cell_u64, slow->lasted)                                                 \
	X("LOCK", TEXT, NULL, 0, put_lock, locks, slow->type, slow->address)                                     \
	X("TYPE", TEXT, NULL, SPARE, table_cell, types[slow->type])                                              \
	X("TASK", TEXT, "comm", KEEP, pass_put_comm_then, locks->pass, slow->comm, slow->task)                   \
	X("PID", NUMBER, NULL, KEEP, pass_put_pid, locks->pass, slow->task)                                      \
	X("CPU", NUMBER, NULL, DATA, table_cell_u64, slow->cpu)                                                  \
	X("FROM", NUMBER, "since", KEEP, table_cell_moment, slow->at - slow->lasted)                             \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, slow->at)                                           \
	X("SPIN", TIME, NULL, SPARE, table_cell_u64, slow->spun)                                                 \
	X("SLEEP", TIME, NULL, SPARE, table_cell_u64, slow->blocked)                                             \
	X("WAIT", TIME, NULL, SPARE, table_cell_u64, slow->queued)                                               \
	X("GIVEN UP", COUNT, "given_up", DATA, table_cell_u64, slow->given_up)                                   \
	X("WOKEN BY", TEXT, "woken_by", DATA, pass_put_waker, locks->pass, slow->waker)                          \
	X("WAKER PID", NUMBER, "woken_by_pid", DATA, table_cell_known_s64, slow->waker.pid > 0, slow->waker.pid) \
	X("CAUSE", TEXT, NULL, KEEP, put_cause, locks, slow)                                                     \
	X("CALLER", TEXT, NULL, SPARE, put_caller, locks, slow->caller)

static const struct table_column slow_columns[] = COLUMNS(SLOW_COLUMNS);

/* Most of the wait, and the task that ended it. */
static void put_cause(struct table *table, const struct locks_analysis *locks, const struct lock_slow *slow)
{
	const char *most = slow->blocked >= slow->spun && slow->blocked >= slow->queued ? "asleep" :
			   slow->spun >= slow->queued                                   ? "spinning" :
											  "ready, without a CPU";
	const char *gave_up = slow->given_up ? "gave up: " : "";

	if (slow->waker.pid < 0)
		table_cellf(table, "%s%s", gave_up, most);
	else
		pass_put_ended_by(table, locks->pass,
				  slow->given_up ? "gave up; the wait was ended by " : "released by ", slow->waker);
}

static void put_slowest(const struct locks_analysis *locks, struct findings *findings)
{
	struct table *table = slowest_table(&locks->slowest, findings,
					    "the longest waits for locks, and who ended each", slow_columns);

	for (size_t i = 0; table && i < locks->slowest.nr; i++) {
		const struct lock_slow *slow = slowest_at(&locks->slowest, i);

		SLOW_COLUMNS(CELL)
	}
	slowest_tell(&locks->slowest, findings, "wait");
}

static bool tell_lock(const struct table *table, size_t row, struct buf *into)
{
	static const struct slow_part parts[] = { { "spin_ns", "spinning" },
						  { "sleep_ns", "asleep" },
						  { "wait_ns", "ready, without a CPU" },
						  { NULL, NULL } };
	uint64_t lasted = table_number_of(table, row, "lasted_ns"), waker = table_number_of(table, row, "woken_by_pid");
	const char *caller = table_text_of(table, row, "caller");
	bool given_up = table_number_of(table, row, "given_up");
	char time[TEXT_HUMAN];

	return buf_addf(into, "%s-%" PRIu64 " waited %s for %s %s", table_text_of(table, row, "comm"),
			table_number_of(table, row, "pid"), text_time(time, lasted), table_text_of(table, row, "type"),
			table_text_of(table, row, "lock")) &&
	       (!*caller || buf_addf(into, " in %s", caller)) && slowest_put_parts(table, row, parts, into) &&
	       (!given_up || buf_addf(into, "; it gave up")) &&
	       /* What ends a wait for a lock is its release, except where a signal does. */
	       (!waker || slowest_put_task(table, row, given_up ? "the wait was ended by " : "released by ", "woken_by",
					   "woken_by_pid", into));
}

const struct analysis_slow locks_slow[] = {
	{ " lock_addr=", "the wait for a lock of", "slowest", "pid", NULL, SLOW_OF_TASK, SLOW_MARGIN_NS,
	  "the wait is not among the events: record with --for locks", tell_lock },
	{ .of = NULL },
};

/*
 * The stack of a wait for a lock of the kernel is that of the event with which it begins. That of a futex is the
 * program's: where the kernel follows it, frames of the C library are without their callers, so that it would name the
 * wrong function.
 */
static void tell_callers(const struct locks_analysis *locks, struct findings *findings)
{
	const struct lock_row *row;
	bool futexes = false;
	size_t at = 0;
	uint64_t key;

	while ((row = u64_map_next(&locks->rows, &at, &key)))
		futexes |= row->waits.count && row->type == LOCK_FUTEX;
	if (locks->of_kernel && locks->rows.len && !locks->stacks)
		findings_note(findings,
			      "no wait for a lock of the kernel has a stack, so that its caller is not known; record "
			      "%s with -T",
			      locks->contention ? "lock:contention_begin" : "lock:lock_contended");
	if (!futexes || locks->by > LOCKS_BY_CALLER)
		return;
	if (locks->raw && locks->nr_futex)
		findings_note(findings,
			      "a futex has no CALLER: programs wait for it; weft stacks -e raw_syscalls:sys_enter "
			      "-f 'id == %" PRId64 "' shows their functions, of a recording with -T -O userstacktrace "
			      "or with --stacks user",
			      locks->futex[0]);
	else
		findings_note(findings,
			      "a futex has no CALLER: programs wait for it; weft stacks -e syscalls:sys_enter_futex "
			      "shows their functions, of a recording with -T -O userstacktrace or with --stacks user");
}

int locks_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct locks_analysis *locks = arg;
	const struct lock_wait *wait;
	uint64_t open = 0, key;
	size_t at = 0;

	if (!locks->seen && !locks->rows.len && !locks->waits.len && !locks->pass->filter.shape)
		return PASS_NOTHING;
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
	if (locks->joins)
		findings_note(
			findings,
			"%s time%s a task waited for the end of a thread (pthread_join): these are no waits for locks",
			text_count((char[TEXT_HUMAN]){ 0 }, locks->joins), text_plural(locks->joins));
	tell_callers(locks, findings);
	return locks->pass->failed || locks->roles.failed ? fail_memory(fail) : 0;
}
