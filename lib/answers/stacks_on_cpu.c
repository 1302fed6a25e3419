// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/stack_store.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/follow/tick.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/reader/reader.h"

/* What CPUs did, by the ticks that interrupted it: the samples of record --profile. */

/* As those of stacks_analysis. */
enum on_cpu_by { ON_CPU_BY_STACK, ON_CPU_BY_FUNCTION, ON_CPU_BY_TASK, ON_CPU_BY_WHO };

enum role { KERNEL = 1, USER };

static const struct role_name names[] = { { "ftrace", "kernel_stack", KERNEL },
					  { "ftrace", "user_stack", USER },
					  { NULL, NULL, 0 } };

static const struct analysis_want wants[] = { { NULL, NULL, NULL } };

/* The last tick of a CPU, until its stacks are known. */
struct tick {
	bool counts;
	uint32_t task, kernel, program;
	int32_t pid;
	uint64_t ts;
};

struct row {
	uint64_t samples;
	uint32_t kernel, program; /* stacks; 0: none */
	uint32_t task, who;       /* who: as pass_group() */
};

struct on_cpu {
	struct pass *pass;
	enum on_cpu_by by;
	enum who_part part; /* of ON_CPU_BY_WHO */
	struct roles roles;
	struct place callers[2], tgid; /* kernel stack, user stack */
	const struct context *context;
	struct user_stacks *unwound; /* of programs, at ticks */
	struct stack_store store;
	struct u64_map ticks; /* by CPU: struct tick */
	struct u64_map rows;  /* by the user's choice: struct row */
	uint64_t samples;
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct on_cpu *on_cpu = arg;
	const struct row_options *rows = options;

	on_cpu->pass = pass;
	on_cpu->context = pass->reader->buffers[0].context;
	if (rows)
		on_cpu->by = rows->by < ON_CPU_BY_WHO ? (enum on_cpu_by)rows->by : ON_CPU_BY_WHO;
	if (on_cpu->by == ON_CPU_BY_WHO)
		on_cpu->part = (enum who_part)(rows->by - ON_CPU_BY_WHO);
	roles_init(&on_cpu->roles, names);
	u64_map_init(&on_cpu->ticks, sizeof(struct tick));
	u64_map_init(&on_cpu->rows, sizeof(struct row));
	if (!stack_store_init(&on_cpu->store))
		return false;
	on_cpu->store.of_timer = true;
	on_cpu->unwound = user_stacks_new(on_cpu->context);
	return on_cpu->unwound;
}

static void release(void *arg)
{
	struct on_cpu *on_cpu = arg;

	u64_map_release(&on_cpu->ticks);
	u64_map_release(&on_cpu->rows);
	stack_store_release(&on_cpu->store);
	user_stacks_free(on_cpu->unwound);
	roles_release(&on_cpu->roles);
}

static uint32_t who_of(const struct on_cpu *on_cpu, uint32_t task)
{
	return on_cpu->by == ON_CPU_BY_WHO ? pass_group(on_cpu->pass, on_cpu->part, task) : (uint32_t)WHO_NOBODY;
}

/* The innermost stack that there is. */
static uint32_t inner(uint32_t kernel, uint32_t program)
{
	return kernel ? kernel : program;
}

static uint64_t row_key(const struct on_cpu *on_cpu, const struct tick *tick)
{
	switch (on_cpu->by) {
	case ON_CPU_BY_STACK:
		return (uint64_t)tick->kernel << 32 | tick->program;
	case ON_CPU_BY_FUNCTION:
		return stack_store_function(&on_cpu->store, inner(tick->kernel, tick->program));
	case ON_CPU_BY_TASK:
		return tick->task;
	case ON_CPU_BY_WHO:
		return who_of(on_cpu, tick->task);
	}
	return 0;
}

/* The scheduler's part of a tick comes behind its timer's. */
static void unwind(struct on_cpu *on_cpu, struct tick *tick)
{
	struct stack stack;
	int32_t tgid;

	if (user_stacks_find(on_cpu->unwound, USER_STACKS_TICK, tick->pid, tick->ts,
			     tick->ts + tick_ns(on_cpu->context) / 2, &stack, &tgid))
		tick->program = stack_store_add(&on_cpu->store, on_cpu->context, &stack, tgid);
}

static void count(struct on_cpu *on_cpu, struct tick *tick)
{
	struct row *row;

	if (!tick->counts)
		return;
	tick->counts = false;
	unwind(on_cpu, tick);
	row = u64_map_add(&on_cpu->rows, row_key(on_cpu, tick));
	if (!row) {
		on_cpu->pass->failed = true;
		return;
	}
	on_cpu->samples++;
	if (!row->samples++) {
		row->kernel = tick->kernel;
		row->program = tick->program;
		row->task = tick->task;
		row->who = who_of(on_cpu, tick->task);
	}
}

static uint8_t look(void *arg, const struct event *event)
{
	struct on_cpu *on_cpu = arg;
	bool fresh;
	uint8_t role = roles_of(&on_cpu->roles, event, &fresh);

	if (role && fresh) {
		on_cpu->context = event->type->context;
		(void)place_find(&on_cpu->callers[role == USER], event->type, "caller");
		if (role == USER)
			(void)place_find(&on_cpu->tgid, event->type, "tgid");
	}
	return role ? role : ROLES_MAX;
}

static void see_stack(struct on_cpu *on_cpu, const struct event *event, bool user, struct tick *tick)
{
	struct stack stack;
	uint32_t id;

	if (!tick->counts)
		return;
	if (user)
		stack_of_user(&on_cpu->callers[1], event, &stack);
	else
		stack_of_kernel(&on_cpu->callers[0], event, &stack);
	id = stack_store_add(&on_cpu->store, on_cpu->context, &stack,
			     user ? (int32_t)place_u64(&on_cpu->tgid, event) : 0);
	if (user)
		tick->program = id;
	else
		tick->kernel = id;
}

static void see_tick(struct on_cpu *on_cpu, const struct event *event, struct tick *tick)
{
	const struct state *state = &on_cpu->pass->state;
	uint32_t task = state_acting(state, event);

	*tick = (struct tick){ .task = task, .pid = event->pid, .ts = event->ts };
	tick->counts = !tick_is_idle(event) && reader_shows(on_cpu->pass->reader, event) &&
		       pass_wants_cpu(on_cpu->pass, event->cpu) && task < state->nr_tasks &&
		       pass_wants_since(on_cpu->pass, &state->tasks[task], UINT64_MAX);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct on_cpu *on_cpu = arg;
	struct tick *tick = u64_map_add(&on_cpu->ticks, event->cpu);

	if (!tick) {
		on_cpu->pass->failed = true;
		return;
	}
	if (event->kind == EVENT_RECORD && role != ROLES_MAX) {
		see_stack(on_cpu, event, role == USER, tick);
		return;
	}
	count(on_cpu, tick);
	if (event->kind == EVENT_RECORD)
		see_tick(on_cpu, event, tick);
}

static void put_function(struct table *table, const struct on_cpu *on_cpu, const struct row *row)
{
	if (row->kernel || row->program)
		stack_store_put_function(table, &on_cpu->store, on_cpu->context, inner(row->kernel, row->program));
	else
		table_cell(table, "(no stack)");
}

enum {
	BY_STACK = WHEN << ON_CPU_BY_STACK,
	BY_FUNCTION = WHEN << ON_CPU_BY_FUNCTION,
	BY_TASK = WHEN << ON_CPU_BY_TASK,
	BY_WHO = WHEN << ON_CPU_BY_WHO,
	ROW_OF_WHO = WHEN << (ON_CPU_BY_WHO + 1),
};

#define ON_CPU_COLUMNS(X)                                                                                    \
	X("WHO", TEXT, "who", DATA | TEXT_ONLY | BY_WHO | ROW_OF_WHO, table_cell,                            \
	  on_cpu->by == ON_CPU_BY_WHO ? pass_group_text(on_cpu->pass, on_cpu->part, row->who) : "")          \
	X("FUNCTION", TEXT, NULL, BY_STACK | BY_FUNCTION, put_function, on_cpu, row)                         \
	X("TASK", TEXT, "comm", DATA | BY_TASK, pass_put_comm, on_cpu->pass, row->task)                      \
	X("PID", NUMBER, NULL, DATA, pass_put_pid, on_cpu->pass, row->task)                                  \
	X("SAMPLES", COUNT, NULL, ADDS, table_cell_u64, row->samples)                                        \
	X("TIME", TIME, NULL, ADDS, table_cell_u64, row->samples *tick_ns(on_cpu->context))                  \
	X("STACK", TEXT, NULL, BY_STACK, stack_store_put_both, &on_cpu->store, on_cpu->context, row->kernel, \
	  row->program)

static const struct table_column columns[] = COLUMNS(ON_CPU_COLUMNS);

static void put_rows(const struct on_cpu *on_cpu, struct findings *findings)
{
	struct table *table = findings_table(findings, "on_cpu", "what CPUs spent their time on", "samples", columns);
	const struct row *row;
	uint64_t key;
	size_t at = 0;

	if (!table)
		return;
	findings_flag(findings, (uint32_t)WHEN << on_cpu->by, SAME, true);
	if (on_cpu->by == ON_CPU_BY_WHO) {
		findings_flag(findings, ROW_OF_WHO, DATA | TEXT_ONLY, false);
		pass_group_head(findings, on_cpu->part, 0);
	}
	while ((row = u64_map_next(&on_cpu->rows, &at, &key))) {
		ON_CPU_COLUMNS(CELL)
	}
	/* Rows that are equal in the column of the order then stand by their names, and not by a hash of addresses. */
	if (!table_sort_by(table, "stack") || !table_sort_by(table, "function"))
		findings->failed = true;
	if (on_cpu->by == ON_CPU_BY_TASK)
		findings_show(findings, BY_TASK, true);
	/* Of all that a task did, a single stack tells little. */
	if (on_cpu->by >= ON_CPU_BY_TASK)
		findings_show(findings, BY_STACK, false);
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct on_cpu *on_cpu = arg;
	char count_text[TEXT_HUMAN], time[TEXT_HUMAN];
	struct tick *tick;
	uint64_t key;

	for (size_t at = 0; (tick = u64_map_next(&on_cpu->ticks, &at, &key));)
		count(on_cpu, tick);
	put_rows(on_cpu, findings);
	findings_note(findings,
		      "%s sample%s, one at each tick of a CPU that is not idle: %" PRIu64
		      " a second (HZ of this kernel), so each stands for %s: TIME is an estimate from them; "
		      "weft sched has exact times, of a recording of sched:sched_switch",
		      text_count(count_text, on_cpu->samples), text_plural(on_cpu->samples), tick_hz(on_cpu->context),
		      text_time(time, tick_ns(on_cpu->context)));
	stack_store_tell_unwound(findings, on_cpu->unwound);
	if (on_cpu->store.nr >= STORED_MAX)
		findings_note(findings, "there are more than %d different stacks: the others are counted together",
			      STORED_MAX);
	return on_cpu->pass->failed || on_cpu->roles.failed || on_cpu->store.failed ? fail_memory(fail) : 0;
}

static const char *const by[] = { [ON_CPU_BY_STACK] = "stack",
				  [ON_CPU_BY_FUNCTION] = "function",
				  [ON_CPU_BY_TASK] = "task",
				  [ON_CPU_BY_WHO] = WHO_WORDS,
				  NULL };

const struct analysis_ops stacks_on_cpu_analysis = {
	.name = "stacks",
	.summary = "show what CPUs spent their time on",
	.columns = columns,
	.by = by,
	.wants = wants,
	.size = sizeof(struct on_cpu),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};
