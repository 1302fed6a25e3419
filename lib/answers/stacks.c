// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/answers/frame/stack_store.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/reader/reader.h"

/*
 * Where events happen, by the stacks that were recorded after them; and where tasks left their CPUs, how long they were
 * off, and who woke them.
 */

/* From STACKS_BY_WHO on enum who_part, in its order. */
enum stacks_by { STACKS_BY_STACK, STACKS_BY_FUNCTION, STACKS_BY_TASK, STACKS_BY_WHO };

static const struct analysis_want wants[] = {
	{ "sched:sched_switch", NULL, "with -T: where tasks leave their CPUs" },
	{ "sched:sched_waking", NULL, "blocked or waiting for a CPU, and who ended it" },
	ANALYSIS_WANTS_TASKS,
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
	uint32_t woken; /* the task that it wakes, or STATE_NO_TASK */
	bool unwound;   /* the stack of the program is known and counted */
};

struct event_row {
	const struct format *format;
	uint64_t count;
	uint32_t stack, task, who; /* who: as pass_group() */
	struct samples times;      /* samples of length 0: they only count; only for a comparison */
};

/* Where a task was woken: stacks of the waker's kernel and program; 0: not known. */
struct wake_stacks {
	uint32_t kernel, program;
};

/* A task that is off its CPU. */
struct off {
	uint64_t since, blocked, waiting, unknown; /* the last three: the task's times in its life up to then */
	uint64_t paid_blocked, paid_waiting;       /* what earlier intervals have of it */
	uint32_t stack, program;                   /* program: behind a stack of the kernel; 0: none */
	uint32_t unwound;                          /* that of the program, by user_stacks_find() */
	struct wake_stacks woken;
	bool has_stack, is_unwound;
};

struct off_row {
	uint64_t times, blocked, waiting;
	uint32_t stack, program, task; /* of the longest time off */
	uint32_t who;
	struct waker waker; /* of the longest time off; pid -1: nobody woke the task */
	struct wake_stacks woken;
	struct extreme longest;
	struct samples parts[2]; /* blocked, runnable; only for a comparison */
};

/* One time off a CPU. */
struct off_slow {
	uint64_t lasted, at, blocked, waiting;
	uint32_t stack, program, task, cpu;
	struct waker waker;
	struct wake_stacks woken;
};

struct stacks_analysis {
	struct pass *pass;
	enum stacks_by by;
	enum who_part part; /* of STACKS_BY_WHO */
	struct roles roles;
	struct place callers[2], tgid; /* kernel stack, user stack */
	const struct context *context; /* of the buffer with stacks */
	struct user_stacks *unwound;   /* of programs, at switches */
	struct stack_store store;
	struct u64_map last;   /* by buffer and CPU: struct stacked */
	struct u64_map offs;   /* by task: struct off */
	struct u64_map events; /* by event and the user's choice of rows: struct event_row */
	struct u64_map off_rows;
	struct slowest slowest;          /* struct off_slow */
	bool has_woken;                  /* a waker's stack */
	uint64_t stacks, broken, faults; /* faults: page faults of programs, whose kernel stack is the entry only */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct stacks_analysis *stacks = arg;
	const struct row_options *rows = options;

	stacks->pass = pass;
	stacks->context = pass->reader->buffers[0].context;
	if (rows)
		stacks->by = rows->by < STACKS_BY_WHO ? (enum stacks_by)rows->by : STACKS_BY_WHO;
	if (stacks->by == STACKS_BY_WHO)
		stacks->part = (enum who_part)(rows->by - STACKS_BY_WHO);
	roles_init(&stacks->roles, names);
	u64_map_init(&stacks->last, sizeof(struct stacked));
	u64_map_init(&stacks->offs, sizeof(struct off));
	u64_map_init(&stacks->events, sizeof(struct event_row));
	u64_map_init(&stacks->off_rows, sizeof(struct off_row));
	slowest_init_rows(&stacks->slowest, sizeof(struct off_slow), options);
	stacks->unwound = user_stacks_new(stacks->context);
	return stack_store_init(&stacks->store) && stacks->unwound;
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
	slowest_release(&stacks->slowest);
	stack_store_release(&stacks->store);
	user_stacks_free(stacks->unwound);
	roles_release(&stacks->roles);
}

static uint32_t who_of(const struct stacks_analysis *stacks, uint32_t task)
{
	return stacks->by == STACKS_BY_WHO ? pass_group(stacks->pass, stacks->part, task) : (uint32_t)WHO_NOBODY;
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
	case STACKS_BY_WHO:
		return who_of(stacks, task);
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
		*row = (struct event_row){ .format = stacked->format,
					   .count = 1,
					   .stack = stack,
					   .task = stacked->task,
					   .who = who_of(stacks, stacked->task) };
	if (pass_compares(stacks->pass))
		samples_add(&row->times, &stacks->pass->budget, 0);
}

static void keep_woken(struct stacks_analysis *stacks, uint32_t task, uint32_t stack, enum role role)
{
	struct off *off = u64_map_find(&stacks->offs, task);

	if (off && role == USER)
		off->woken.program = stack;
	else if (off)
		off->woken.kernel = stack;
	stacks->has_woken |= off != NULL;
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
	if (role == USER && stacked->unwound)
		return;
	id = stack_store_add(&stacks->store, context, &stack,
			     role == USER ? (int32_t)place_u64(&stacks->tgid, event) : 0);
	if (is_wanted(stacks, stacked->task, event->cpu, UINT64_MAX)) {
		count_event(stacks, stacked, id);
		stacks->faults += stacks->store.stacks[id].only_entry;
	}
	if (stacked->woken != STATE_NO_TASK)
		keep_woken(stacks, stacked->woken, id, role);
	off = stacked->switched ? u64_map_find(&stacks->offs, stacked->task) : NULL;
	/* The stack of the program comes behind that of the kernel, if both were recorded. */
	if (off && off->is_unwound && role == USER) {
		/* It has more frames than the kernel finds. */
	} else if (off && role == USER && off->has_stack) {
		off->program = id;
	} else if (off) {
		off->program = off->is_unwound ? off->unwound : 0;
		off->stack = id;
		off->has_stack = true;
	}
	/* A user stack may follow the kernel stack. */
	if (role == USER)
		stacked->format = NULL;
}

static void keep_slow(struct stacks_analysis *stacks, const struct off_slow *slow)
{
	struct off_slow *kept;

	if (!slowest_wants(&stacks->slowest, slow->lasted))
		return;
	kept = slowest_add(&stacks->slowest, slow->lasted, &stacks->pass->failed);
	if (kept)
		*kept = *slow;
}

static void count_off(struct stacks_analysis *stacks, const struct off *off, uint32_t id, const struct event *event)
{
	static const struct waker none = WAKER_NONE;
	const struct state_task *task = &stacks->pass->state.tasks[id];
	struct extreme whole = {
		.lasted = event->ts - off->since, .from = off->since, .to = event->ts, .cpu = event->cpu, .task = id
	};
	uint64_t blocked = state_blocked(task) - off->blocked, waiting = state_waited(task) - off->waiting;
	bool was_woken = blocked && stacks->pass->state.events[STATE_WAKING];
	struct waker waker = was_woken ? task->waker : none;
	struct wake_stacks woken = was_woken ? off->woken : (struct wake_stacks){ .kernel = 0 };
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
	row->who = who_of(stacks, id);
	row->times++;
	row->blocked += blocked - off->paid_blocked;
	row->waiting += waiting - off->paid_waiting;
	if (pass_compares(stacks->pass) && blocked)
		samples_add(&row->parts[0], &stacks->pass->budget, blocked);
	if (pass_compares(stacks->pass) && waiting)
		samples_add(&row->parts[1], &stacks->pass->budget, waiting);
	if (!row->longest.to || whole.lasted > row->longest.lasted) {
		row->stack = off->stack;
		row->program = off->program;
		row->task = id;
		row->waker = waker;
		row->woken = woken;
	}
	extreme_see(&row->longest, &whole);
	keep_slow(stacks, &(struct off_slow){ .lasted = whole.lasted,
					      .at = event->ts,
					      .blocked = blocked,
					      .waiting = waiting,
					      .stack = off->stack,
					      .program = off->program,
					      .task = id,
					      .cpu = event->cpu,
					      .waker = waker,
					      .woken = woken });
}

/* Until the stack of the kernel is known, that of the program is the whole. */
static void unwind(struct stacks_analysis *stacks, struct off *off, uint32_t task, uint64_t ts)
{
	const struct state *state = &stacks->pass->state;
	struct stack stack;
	int32_t tgid;

	/* A copy from before it had the CPU is of another time off. */
	if (!state->step.ran_since || !user_stacks_find(stacks->unwound, USER_STACKS_SWITCH, state->tasks[task].pid,
							state->step.ran_since, ts, &stack, &tgid))
		return;
	off->unwound = off->stack = stack_store_add(&stacks->store, stacks->context, &stack, tgid);
	off->has_stack = off->is_unwound = true;
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
	if (reader_shows(stacks->pass->reader, event))
		unwind(stacks, off, out, event->ts);
}

/* Of system calls and probes of programs, the stack of the program may have been copied. */
static void unwind_event(struct stacks_analysis *stacks, const struct event *event, struct stacked *stacked)
{
	struct stack stack;
	int32_t tgid;

	if (!user_stacks_of(stacks->unwound, event, &stack, &tgid))
		return;
	stacks->stacks++;
	stacked->unwound = true;
	if (is_wanted(stacks, stacked->task, event->cpu, UINT64_MAX))
		count_event(stacks, stacked, stack_store_add(&stacks->store, stacks->context, &stack, tgid));
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
				     .woken = step->kind == STEP_WAKING ? step->task : STATE_NO_TASK,
				     .switched = step->kind == STEP_SWITCH,
				     .task = step->kind == STEP_SWITCH ? step->other :
									 state_acting(&stacks->pass->state, event) };
	if (shown)
		unwind_event(stacks, event, stacked);
}

/*
 * The columns that name a row in every recording. The function stands in front of its stack, because the first
 * functions of the stack may belong to the scheduler.
 */
enum {
	BY_STACK = WHEN << STACKS_BY_STACK,
	BY_FUNCTION = WHEN << STACKS_BY_FUNCTION,
	BY_TASK = WHEN << STACKS_BY_TASK,
	BY_WHO = WHEN << STACKS_BY_WHO,
	ROW_OF_WHO = WHEN << (STACKS_BY_WHO + 1),
	WAKERS = WHEN << (STACKS_BY_WHO + 2),
};

/* In front of the others: whom the tasks of the row belong to, which only rows by who have. */
#define WHO_COLUMN(X)                                                             \
	X("WHO", TEXT, "who", DATA | TEXT_ONLY | BY_WHO | ROW_OF_WHO, table_cell, \
	  stacks->by == STACKS_BY_WHO ? pass_group_text(stacks->pass, stacks->part, row->who) : "")

#define EVENT_COLUMNS(X)                                                                                             \
	WHO_COLUMN(X)                                                                                                \
	X("FUNCTION", TEXT, NULL, BY_STACK | BY_FUNCTION, stack_store_put_function, &stacks->store, stacks->context, \
	  row->stack)                                                                                                \
	X("TASK", TEXT, "comm", DATA | BY_TASK, pass_put_comm, stacks->pass, row->task)                              \
	X("PID", NUMBER, NULL, DATA, pass_put_pid, stacks->pass, row->task)                                          \
	X("EVENT", TEXT, NULL, BY_STACK | BY_FUNCTION | BY_TASK | BY_WHO, table_cellf, "%s:%s", row->format->system, \
	  row->format->name)                                                                                         \
	X("COUNT", COUNT, NULL, ADDS, table_cell_u64, row->count)                                                    \
	X("STACK", TEXT, NULL, BY_STACK, stack_store_put, &stacks->store, stacks->context, row->stack)

#define OFF_COLUMNS(X)                                                                                               \
	WHO_COLUMN(X)                                                                                                \
	X("FUNCTION", TEXT, NULL, BY_STACK | BY_FUNCTION, stack_store_put_function, &stacks->store, stacks->context, \
	  row->stack)                                                                                                \
	X("TASK", TEXT, "comm", BY_TASK | KEEP, pass_put_comm, stacks->pass, row->task)                              \
	X("PID", NUMBER, NULL, SPARE, pass_put_pid, stacks->pass, row->task)                                         \
	X("TIMES", COUNT, NULL, ADDS, table_cell_u64, row->times)                                                    \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, row->blocked + row->waiting)                                    \
	X("BLOCKED", TIME, NULL, ADDS, table_cell_u64, row->blocked)                                                 \
	X("RUNNABLE", TIME, NULL, ADDS | SPARE, table_cell_u64, row->waiting)                                        \
	X("MAX", TIME, NULL, 0, table_cell_u64, row->longest.lasted)                                                 \
	X("MAX AT", NUMBER, "max_at", SPARE, table_cell_when, row->longest.to)                                       \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_known, row->longest.to, row->longest.cpu)                       \
	X("WOKEN BY", TEXT, "woken_by", 0, pass_put_waker, stacks->pass, row->waker)                                 \
	X("WAKER PID", NUMBER, "woken_by_pid", DATA, table_cell_known_s64, row->waker.pid > 0, row->waker.pid)       \
	X("STACK", TEXT, NULL, BY_STACK, stack_store_put_both, &stacks->store, stacks->context, row->stack,          \
	  row->program)                                                                                              \
	X("STACK OF THE WAKER", TEXT, "waker_stack", DATA | WAKERS, stack_store_put_both, &stacks->store,            \
	  stacks->context, row->woken.kernel, row->woken.program)

#define SLOW_COLUMNS(X)                                                                                           \
	X("LASTED", TIME, NULL, 0, table_cell_u64, slow->lasted)                                                  \
	X("TASK", TEXT, "comm", KEEP, pass_put_comm, stacks->pass, slow->task)                                    \
	X("PID", NUMBER, NULL, 0, pass_put_pid, stacks->pass, slow->task)                                         \
	X("CPU", NUMBER, NULL, DATA, table_cell_u64, slow->cpu)                                                   \
	X("FROM", NUMBER, "since", KEEP, table_cell_moment, slow->at - slow->lasted)                              \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, slow->at)                                            \
	X("BLOCKED", TIME, NULL, SPARE, table_cell_u64, slow->blocked)                                            \
	X("RUNNABLE", TIME, NULL, SPARE, table_cell_u64, slow->waiting)                                           \
	X("WOKEN BY", TEXT, "woken_by", DATA, pass_put_waker, stacks->pass, slow->waker)                          \
	X("WAKER PID", NUMBER, "woken_by_pid", DATA, table_cell_known_s64, slow->waker.pid > 0, slow->waker.pid)  \
	X("CAUSE", TEXT, NULL, KEEP, put_cause, stacks, slow)                                                     \
	X("FUNCTION", TEXT, NULL, 0, stack_store_put_function, &stacks->store, stacks->context, slow->stack)      \
	X("STACK", TEXT, NULL, DATA, stack_store_put_both, &stacks->store, stacks->context, slow->stack,          \
	  slow->program)                                                                                          \
	X("STACK OF THE WAKER", TEXT, "waker_stack", DATA, stack_store_put_both, &stacks->store, stacks->context, \
	  slow->woken.kernel, slow->woken.program)

static const struct table_column event_columns[] = COLUMNS(EVENT_COLUMNS), off_columns[] = COLUMNS(OFF_COLUMNS),
				 slow_columns[] = COLUMNS(SLOW_COLUMNS);

/* What most of it was, and who ended it. */
static void put_cause(struct table *table, const struct stacks_analysis *stacks, const struct off_slow *slow)
{
	if (slow->waiting > slow->blocked)
		table_cell(table, "ready, without a CPU");
	else if (slow->waker.pid < 0)
		table_cell(table, "blocked");
	else
		pass_put_ended_by(table, stacks->pass, "woken by ", slow->waker);
}

static void put_slowest(const struct stacks_analysis *stacks, struct findings *findings)
{
	struct table *table = slowest_table(&stacks->slowest, findings, "the longest times off the CPU", slow_columns);

	for (size_t i = 0; table && i < stacks->slowest.nr; i++) {
		const struct off_slow *slow = slowest_at(&stacks->slowest, i);

		SLOW_COLUMNS(CELL)
	}
	slowest_tell(&stacks->slowest, findings, "time");
}

static void head(const struct stacks_analysis *stacks, struct findings *findings)
{
	if (stacks->by != STACKS_BY_WHO)
		return;
	findings_flag(findings, ROW_OF_WHO, DATA | TEXT_ONLY, false);
	pass_group_head(findings, stacks->part, 0);
}

static void put_events(const struct stacks_analysis *stacks, struct findings *findings)
{
	struct table *table = findings_table(findings, "events", "where events happened", "count", event_columns);
	const struct event_row *row;
	uint64_t key;
	size_t at = 0;

	if (!table)
		return;
	findings_flag(findings, (uint32_t)WHEN << stacks->by, SAME, true);
	head(stacks, findings);
	while ((row = u64_map_next(&stacks->events, &at, &key))) {
		table_attach_columns(table, &row->times, (uint32_t)WHEN << stacks->by, NULL);
		EVENT_COLUMNS(CELL)
	}
	/* Rows that are equal in the column of the order then stand by their names, and not by a hash of addresses. */
	if (!table_sort_by(table, "stack") || !table_sort_by(table, "event") || !table_sort_by(table, "function"))
		findings->failed = true;
	if (stacks->by == STACKS_BY_TASK)
		findings_show(findings, BY_TASK, true);
}

static void put_offs(const struct stacks_analysis *stacks, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "off_cpu", "where tasks left their CPUs, and how long they were off",
			       "blocked", off_columns);
	struct extreme longest = { .to = 0 };
	const struct off_row *row;
	uint64_t key;
	size_t at = 0;

	if (!table)
		return;
	findings_flag(findings, (uint32_t)WHEN << stacks->by, SAME, true);
	head(stacks, findings);
	while ((row = u64_map_next(&stacks->off_rows, &at, &key))) {
		table_attach_columns(table, &row->parts[0], (uint32_t)WHEN << stacks->by, "blocked");
		table_attach_columns(table, &row->parts[1], (uint32_t)WHEN << stacks->by, "runnable");
		OFF_COLUMNS(CELL)
		if (row->longest.to)
			extreme_see(&longest, &row->longest);
	}
	if (!table_sort_by(table, "stack") || !table_sort_by(table, "function"))
		findings->failed = true;
	findings_show(findings, WAKERS, stacks->has_woken && stacks->by == STACKS_BY_STACK);
	extreme_tell(stacks->pass, findings, "time off the CPU", &longest);
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct stacks_analysis *stacks = arg;
	const struct off *off;
	uint64_t open = 0, key;
	size_t at = 0;

	if (!stacks->stacks && !stacks->off_rows.len && !stacks->pass->filter.shape)
		return fail_set(fail, -ENODATA, "there are no stacks among the events%s",
				pass_is_part(stacks->pass) ? ": only a part of the file was looked at" :
							     "; record with -T, as in -e sched -T");
	put_events(stacks, findings);
	if (stacks->pass->state.events[STATE_SWITCH] || stacks->pass->filter.shape)
		put_offs(stacks, findings);
	put_slowest(stacks, findings);
	while ((off = u64_map_next(&stacks->offs, &at, &key)))
		open += off->has_stack &&
			(stacks->pass->divides ? 0 : stacks->pass->state.tasks[key].spent[TASK_UNKNOWN]) ==
				off->unknown;
	findings_cut(findings, open, "times off the CPU at the end");
	findings_broken(findings, stacks->broken, "times off the CPU");
	if (stacks->faults)
		findings_note(findings,
			      "%s page fault%s of programs: the kernel's stack is the entry code alone; "
			      "record -T -O userstacktrace stores the stacks of programs, too",
			      text_count((char[TEXT_HUMAN]){ 0 }, stacks->faults), text_plural(stacks->faults));
	stack_store_tell_unwound(findings, stacks->unwound);
	if (stacks->store.nr >= STORED_MAX)
		findings_note(findings, "there are more than %d different stacks: the others are counted together",
			      STORED_MAX);
	return stacks->pass->failed || stacks->roles.failed || stacks->store.failed ? fail_memory(fail) : 0;
}

/* Adds what a task has been off its CPU so far to its row. */
static void pay(struct stacks_analysis *stacks, struct off *off, uint32_t id)
{
	const struct state_task *task = &stacks->pass->state.tasks[id];
	uint64_t blocked = state_blocked(task) - off->blocked, waiting = state_waited(task) - off->waiting;
	struct off_row *row = NULL;

	/* The CPU to which it comes back is not known before. */
	if (!stacks->pass->filter.cpus && off->has_stack && task->spent[TASK_UNKNOWN] == off->unknown &&
	    is_wanted(stacks, id, 0, off->since))
		row = u64_map_add(&stacks->off_rows, row_key(stacks, off->stack, id));
	if (!row)
		return;
	if (!row->longest.to) {
		row->stack = off->stack;
		row->task = id;
		row->waker = (struct waker)WAKER_NONE;
		row->woken = (struct wake_stacks){ .kernel = 0 };
	}
	row->who = who_of(stacks, id);
	row->blocked += blocked - off->paid_blocked;
	row->waiting += waiting - off->paid_waiting;
	off->paid_blocked = blocked;
	off->paid_waiting = waiting;
}

/* A time off that the end of an interval cuts counts where it ends, its length in each interval in which it lasts. */
static void divide(void *arg)
{
	struct stacks_analysis *stacks = arg;
	struct state *state = &stacks->pass->state;
	struct off *off;
	uint64_t key;

	for (size_t at = 0; (off = u64_map_next(&stacks->offs, &at, &key));) {
		const struct state_task *task = &state->tasks[key];

		if (task->died)
			continue;
		state_hold(state, (uint32_t)key);
		pay(stacks, off, (uint32_t)key);
		/* What a task has spent counts from 0 in the next interval, so that these may be below 0. */
		off->blocked -= state_blocked(task);
		off->waiting -= state_waited(task);
		off->unknown -= task->spent[TASK_UNKNOWN];
	}
	stacks->pass->failed |= stacks->off_rows.starved;
}

/* The stacks of the interval before are known in this one, as long as there is much room for more. */
static void carry(void *arg, void *earlier)
{
	struct stacks_analysis *stacks = arg, *before = earlier;
	struct stack_store store = stacks->store;
	struct off *off, *moved;
	uint64_t key;

	if (before->store.nr > STORED_MAX / 2)
		return;
	stacks->store = before->store;
	before->store = store;
	stacks->context = before->context;
	for (size_t at = 0; (off = u64_map_next(&before->offs, &at, &key));) {
		uint32_t task = state_moved(&stacks->pass->state, (uint32_t)key);

		moved = task == STATE_NO_TASK ? NULL : u64_map_add(&stacks->offs, task);
		stacks->pass->failed |= stacks->offs.starved;
		if (moved)
			*moved = *off;
	}
}

static const char *const by[] = { [STACKS_BY_STACK] = "stack",
				  [STACKS_BY_FUNCTION] = "function",
				  [STACKS_BY_TASK] = "task",
				  [STACKS_BY_WHO] = WHO_WORDS,
				  NULL };

const struct analysis_ops stacks_analysis = {
	.name = "stacks",
	.summary = "show where events happened, and where tasks left their CPUs",
	.columns = event_columns,
	.by = by,
	.compared_by = by,
	.wants = wants,
	.stacks = "sched:sched_switch",
	.size = sizeof(struct stacks_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = divide,
	.carry = carry,
	.finish = finish,
	.release = release,
};
