// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/stacks.h"

#include "lib/analysis/extreme_internal.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/sorts.h"
#include "lib/analysis/stack_store_internal.h"
#include "lib/base/fail.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * Where events happen, by the stacks that were recorded after them; and where tasks left their CPUs, how long they were
 * off, and who woke them.
 */

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "with -T: where tasks leave their CPUs" },
	{ "sched:sched_waking", NULL, "blocked or waiting for a CPU, and who ended it" },
	{ NULL, NULL, NULL },
};

enum role { KERNEL = 1, USER };

static const struct role_name names[] = { { "ftrace", "kernel_stack", KERNEL },
					  { "ftrace", "user_stack", USER },
					  { NULL, NULL, 0 } };

/* The event to which the next stack of its CPU belongs, by buffer and CPU. */
struct stacked {
	const struct format *format; /* NULL: its stack was seen already, it is not chosen, or nothing is known */
	uint32_t task;               /* the task of the stack; for a sched_switch, the task that lost the CPU */
	bool switched;
};

struct event_row {
	const struct format *format;
	uint64_t count;
	uint32_t stack, task;
	struct samples times; /* samples of length 0: they only count; only for a comparison */
};

/* A task that is off its CPU. */
struct off {
	uint64_t since, blocked, waiting, unknown; /* the last three: the task's times in its life up to then */
	uint32_t stack;
	bool has_stack;
};

struct off_row {
	uint64_t times, blocked, waiting;
	uint32_t stack, task; /* of the longest time off */
	int32_t waker;        /* of the longest time off; -1: nobody woke the task */
	struct extreme longest;
	struct samples parts[2]; /* blocked, runnable; only for a comparison */
};

struct stacks_analysis {
	struct pass *pass;
	enum stacks_by by;
	struct roles roles;
	struct place callers[2], tgid; /* kernel stack, user stack */
	const struct context *context; /* of the buffer with stacks */
	struct stack_store store;
	struct u64_map last;   /* by buffer and CPU: struct stacked */
	struct u64_map offs;   /* by task: struct off */
	struct u64_map events; /* by event and the user's choice of rows: struct event_row */
	struct u64_map off_rows;
	uint64_t stacks, broken, faults; /* faults: page faults of programs, whose kernel stack is the entry only */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct stacks_analysis *stacks = arg;

	stacks->pass = pass;
	stacks->context = pass->reader->buffers[0].context;
	if (options)
		stacks->by = (enum stacks_by)((const struct row_options *)options)->by;
	roles_init(&stacks->roles, names);
	u64_map_init(&stacks->last, sizeof(struct stacked));
	u64_map_init(&stacks->offs, sizeof(struct off));
	u64_map_init(&stacks->events, sizeof(struct event_row));
	u64_map_init(&stacks->off_rows, sizeof(struct off_row));
	return stack_store_init(&stacks->store);
}

static void release(void *arg)
{
	struct stacks_analysis *stacks = arg;
	struct event_row *row;
	struct off_row *off;
	uint64_t key;

	for (size_t at = 0; (row = u64_map_next(&stacks->events, &at, &key));)
		samples_release(&row->times);
	for (size_t at = 0; (off = u64_map_next(&stacks->off_rows, &at, &key));)
		for (size_t i = 0; i < array_size(off->parts); i++)
			samples_release(&off->parts[i]);
	u64_map_release(&stacks->last);
	u64_map_release(&stacks->offs);
	u64_map_release(&stacks->events);
	u64_map_release(&stacks->off_rows);
	stack_store_release(&stacks->store);
	roles_release(&stacks->roles);
}

static uint64_t row_key(const struct stacks_analysis *stacks, uint32_t stack, uint32_t task)
{
	switch (stacks->by) {
	case STACKS_BY_STACK:
		return stack;
	case STACKS_BY_FUNCTION:
		return stack_store_function(&stacks->store, stack);
	case STACKS_BY_TASK:
		return task;
	}
	return 0;
}

static bool is_wanted(const struct stacks_analysis *stacks, uint32_t task, uint32_t cpu, uint64_t since)
{
	const struct state *state = &stacks->pass->state;

	return pass_wants_cpu(stacks->pass, cpu) && task < state->nr_tasks &&
	       pass_wants_since(stacks->pass, &state->tasks[task], since);
}

static void count_event(struct stacks_analysis *stacks, const struct stacked *stacked, uint32_t stack)
{
	/* The upper 16 bits of a kernel address are copies of the next bit, so they may be shifted out. */
	uint64_t key = row_key(stacks, stack, stacked->task) << 16 | (stacked->format->id & 0xffff);
	struct event_row *row = u64_map_add(&stacks->events, key);

	if (!row) {
		stacks->pass->failed = true;
		return;
	}
	if (!row->count++)
		*row = (struct event_row){
			.format = stacked->format, .count = 1, .stack = stack, .task = stacked->task
		};
	if (pass_compares(stacks->pass))
		samples_add(&row->times, &stacks->pass->budget, 0);
}

static void see_stack(struct stacks_analysis *stacks, const struct event *event, enum role role)
{
	const struct context *context = event->type->context;
	struct stacked *stacked = u64_map_find(&stacks->last, (uint64_t)event->buffer << 16 | event->cpu);
	const struct place *callers = &stacks->callers[role == USER];
	struct stack stack;
	struct off *off;
	uint32_t id;

	stacks->stacks++;
	if (!stacked || !stacked->format)
		return;
	if (role == USER)
		stack_of_user(callers, event, &stack);
	else
		stack_of_kernel(callers, event, &stack);
	id = stack_store_add(&stacks->store, context, &stack,
			     role == USER ? (int32_t)place_u64(&stacks->tgid, event) : 0);
	if (is_wanted(stacks, stacked->task, event->cpu, UINT64_MAX)) {
		count_event(stacks, stacked, id);
		stacks->faults += stacks->store.stacks[id].only_entry;
	}
	off = role == KERNEL && stacked->switched ? u64_map_find(&stacks->offs, stacked->task) : NULL;
	if (off) {
		off->stack = id;
		off->has_stack = true;
	}
	/* A user stack may follow the kernel stack. */
	if (role == USER)
		stacked->format = NULL;
}

static void count_off(struct stacks_analysis *stacks, const struct off *off, uint32_t id, const struct event *event)
{
	const struct state_task *task = &stacks->pass->state.tasks[id];
	struct extreme whole = {
		.lasted = event->ts - off->since, .from = off->since, .to = event->ts, .cpu = event->cpu, .task = id
	};
	uint64_t blocked = state_blocked(task) - off->blocked, waiting = state_waited(task) - off->waiting;
	struct off_row *row;

	if (task->spent[TASK_UNKNOWN] != off->unknown) {
		stacks->broken++;
		return;
	}
	row = is_wanted(stacks, id, event->cpu, off->since) ?
		      u64_map_add(&stacks->off_rows, row_key(stacks, off->stack, id)) :
		      NULL;
	if (!row)
		return;
	row->times++;
	row->blocked += blocked;
	row->waiting += waiting;
	if (pass_compares(stacks->pass) && blocked)
		samples_add(&row->parts[0], &stacks->pass->budget, blocked);
	if (pass_compares(stacks->pass) && waiting)
		samples_add(&row->parts[1], &stacks->pass->budget, waiting);
	if (!row->longest.to || whole.lasted > row->longest.lasted) {
		row->stack = off->stack;
		row->task = id;
		row->waker = blocked && stacks->pass->state.events[STATE_WAKING] ? task->waker : -1;
	}
	extreme_see(&row->longest, &whole);
}

static void see_switch(struct stacks_analysis *stacks, const struct event *event)
{
	const struct state *state = &stacks->pass->state;
	uint32_t in = state->step.task, out = state->step.other;
	struct off *off = in == STATE_NO_TASK ? NULL : u64_map_find(&stacks->offs, in);

	if (off && off->has_stack)
		count_off(stacks, off, in, event);
	if (off)
		u64_map_remove(&stacks->offs, in);
	if (out == STATE_NO_TASK || state->tasks[out].idle || state->tasks[out].died)
		return;
	off = u64_map_add(&stacks->offs, out);
	if (!off) {
		stacks->pass->failed = true;
		return;
	}
	*off = (struct off){ .since = event->ts,
			     .blocked = state_blocked(&state->tasks[out]),
			     .waiting = state_waited(&state->tasks[out]),
			     .unknown = state->tasks[out].spent[TASK_UNKNOWN] };
}

/* A stack belongs to the event before it, so every event is needed. */
enum { NO_STACK = ROLES_MAX };

static uint8_t look(void *arg, const struct event *event)
{
	struct stacks_analysis *stacks = arg;
	bool fresh;
	uint8_t role = roles_of(&stacks->roles, event, &fresh);

	if (role && fresh) {
		const struct context *context = event->type->context;

		stacks->context = context;
		(void)place_find(&stacks->callers[role == USER], event->type, "caller");
		if (role == USER)
			(void)place_find(&stacks->tgid, event->type, "tgid");
	}
	return role ? role : NO_STACK;
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct stacks_analysis *stacks = arg;
	const struct state_step *step = &stacks->pass->state.step;
	bool shown = reader_shows(stacks->pass->reader, event);
	struct stacked *stacked;

	if (event->kind != EVENT_RECORD) {
		u64_map_clear(&stacks->last);
		return;
	}
	if (role != NO_STACK) {
		see_stack(stacks, event, (enum role)role);
		return;
	}
	if (step->kind == STEP_SWITCH)
		see_switch(stacks, event);
	stacked = u64_map_add(&stacks->last, (uint64_t)event->buffer << 16 | event->cpu);
	if (!stacked) {
		stacks->pass->failed = true;
		return;
	}
	*stacked = (struct stacked){ .format = shown ? event->type->format : NULL,
				     .switched = step->kind == STEP_SWITCH,
				     .task = step->kind == STEP_SWITCH ? step->other :
									 state_acting(&stacks->pass->state, event) };
}

enum event_column { EVENT_FUNCTION, EVENT_TASK, EVENT_PID, EVENT_NAME, EVENT_COUNT, EVENT_STACK };

static const struct table_column event_columns[] = {
	{ "FUNCTION", TABLE_TEXT, NULL }, { "TASK", TABLE_TEXT, "comm" }, { "PID", TABLE_NUMBER, NULL },
	{ "EVENT", TABLE_TEXT, NULL },    { "COUNT", TABLE_COUNT, NULL }, { "STACK", TABLE_TEXT, NULL },
};

const struct analysis_sorts stacks_sorts = { event_columns, array_size(event_columns),
					     1 << EVENT_PID | 1 << EVENT_TASK };

enum off_column {
	OFF_FUNCTION,
	OFF_TASK,
	OFF_PID,
	OFF_TIMES,
	OFF_TOTAL,
	OFF_BLOCKED,
	OFF_RUNNABLE,
	OFF_MAX,
	OFF_MAX_AT,
	OFF_CPU,
	OFF_WAKER,
	OFF_WAKER_PID,
	OFF_STACK,
	OFF_COLUMNS
};

static const struct table_column off_columns[OFF_COLUMNS] = {
	{ "FUNCTION", TABLE_TEXT, NULL },       { "TASK", TABLE_TEXT, "comm" },
	{ "PID", TABLE_NUMBER, NULL },          { "TIMES", TABLE_COUNT, NULL },
	{ "TOTAL", TABLE_TIME, NULL },          { "BLOCKED", TABLE_TIME, NULL },
	{ "RUNNABLE", TABLE_TIME, NULL },       { "MAX", TABLE_TIME, NULL },
	{ "MAX AT", TABLE_NUMBER, "max_at" },   { "CPU", TABLE_NUMBER, "max_cpu" },
	{ "WOKEN BY", TABLE_TEXT, "woken_by" }, { "WAKER PID", TABLE_NUMBER, "woken_by_pid" },
	{ "STACK", TABLE_TEXT, NULL },
};

/*
 * The columns that name a row in every recording. The function stands in front of its stack, because the first
 * functions of the stack may belong to the scheduler.
 */
static const uint32_t event_called[] = {
	[STACKS_BY_STACK] = 1 << EVENT_FUNCTION | 1 << EVENT_NAME | 1 << EVENT_STACK,
	[STACKS_BY_FUNCTION] = 1 << EVENT_FUNCTION | 1 << EVENT_NAME,
	[STACKS_BY_TASK] = 1 << EVENT_TASK | 1 << EVENT_NAME,
};
static const uint32_t off_called[] = {
	[STACKS_BY_STACK] = 1 << OFF_FUNCTION | 1 << OFF_STACK,
	[STACKS_BY_FUNCTION] = 1 << OFF_FUNCTION,
	[STACKS_BY_TASK] = 1 << OFF_TASK,
};

static void put_events(const struct stacks_analysis *stacks, struct findings *findings)
{
	struct table *table = findings_table(findings, "events", "where events happened", "count", event_columns,
					     array_size(event_columns));
	const struct event_row *row;
	uint64_t key;
	size_t at = 0;

	if (!table)
		return;
	findings_course(findings, event_called[stacks->by], 1 << EVENT_COUNT);
	while ((row = u64_map_next(&stacks->events, &at, &key))) {
		table_attach_columns(table, &row->times, event_called[stacks->by], NULL);
		stack_store_put_function(&stacks->store, stacks->context, row->stack, table);
		pass_put_task(stacks->pass, row->task, table);
		table_cellf(table, "%s:%s", row->format->system, row->format->name);
		table_cell_u64(table, row->count);
		stack_store_put(&stacks->store, stacks->context, row->stack, table);
	}
	table->data_only = stacks_sorts.data_only & ~(stacks->by == STACKS_BY_TASK ? 1U << EVENT_TASK : 0);
}

static void put_waker(const struct stacks_analysis *stacks, int32_t waker, struct table *table)
{
	pass_put_waker(stacks->pass, waker, table);
	if (waker >= 0)
		table_cell_s64(table, waker);
	else
		table_cell(table, "-");
}

static void put_offs(const struct stacks_analysis *stacks, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "off_cpu", "where tasks left their CPUs, and how long they were off",
			       "blocked", off_columns, OFF_COLUMNS);
	struct extreme longest = { .to = 0 };
	const struct off_row *row;
	uint64_t key;
	size_t at = 0;

	if (!table)
		return;
	findings_course(findings, off_called[stacks->by],
			1 << OFF_TIMES | 1 << OFF_TOTAL | 1 << OFF_BLOCKED | 1 << OFF_RUNNABLE);
	while ((row = u64_map_next(&stacks->off_rows, &at, &key))) {
		table_attach_columns(table, &row->parts[0], off_called[stacks->by], "blocked");
		table_attach_columns(table, &row->parts[1], off_called[stacks->by], "runnable");
		stack_store_put_function(&stacks->store, stacks->context, row->stack, table);
		pass_put_task(stacks->pass, row->task, table);
		table_cell_u64(table, row->times);
		table_cell_u64(table, row->blocked + row->waiting);
		table_cell_u64(table, row->blocked);
		table_cell_u64(table, row->waiting);
		table_cell_u64(table, row->longest.lasted);
		table_cell_decimal(table, (int64_t)row->longest.to, 9);
		table_cell_u64(table, row->longest.cpu);
		put_waker(stacks, row->waker, table);
		stack_store_put(&stacks->store, stacks->context, row->stack, table);
		extreme_see(&longest, &row->longest);
	}
	table->data_only = 1 << OFF_CPU | 1 << OFF_WAKER_PID;
	table->spare = 1 << OFF_MAX_AT | 1 << OFF_PID | 1 << OFF_RUNNABLE;
	extreme_tell(stacks->pass, findings, "time off the CPU", &longest);
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct stacks_analysis *stacks = arg;
	const struct off *off;
	uint64_t open = 0, key;
	size_t at = 0;

	if (!stacks->stacks)
		return fail_set(fail, -ENODATA, "there are no stacks among the events%s",
				pass_is_part(stacks->pass) ? ": only a part of the file was looked at" :
							     "; record with -T, as in -e sched -T");
	put_events(stacks, findings);
	if (stacks->pass->state.events[STATE_SWITCH])
		put_offs(stacks, findings);
	while ((off = u64_map_next(&stacks->offs, &at, &key)))
		open += off->has_stack && stacks->pass->state.tasks[key].spent[TASK_UNKNOWN] == off->unknown;
	findings_cut(findings, open, "times off the CPU at the end");
	findings_broken(findings, stacks->broken, "times off the CPU");
	if (stacks->faults)
		findings_note(findings,
			      "%" PRIu64 " page fault%s of programs: the kernel's stack is the entry code alone; "
			      "record -T -O userstacktrace stores the stacks of programs, too",
			      stacks->faults, text_plural(stacks->faults));
	if (stacks->store.nr >= STORED_MAX)
		findings_note(findings, "there are more than %d different stacks: the others are counted together",
			      STORED_MAX);
	return stacks->pass->failed || stacks->roles.failed || stacks->store.failed ? fail_memory(fail) : 0;
}

const struct analysis_ops stacks_analysis = {
	.name = "stacks",
	.summary = "show where events happened, and where tasks left their CPUs",
	.sorts = &stacks_sorts,
	.wants = wants,
	.stacks = "sched:sched_switch",
	.size = sizeof(struct stacks_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};
