// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/sched_idle_internal.h"

#include "lib/analysis/extreme_internal.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/cpus.h"
#include "lib/base/u64_map.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiter {
	bool waits;
	uint64_t *idled; /* how long each CPU had been idle when the wait began; owned; NULL: it does not wait */
	uint32_t nr_idled;
	uint32_t cpu;           /* which it waits for */
	uint64_t since, losses; /* losses: state::losses at that time */
	uint64_t *ran_on;       /* a bit for each CPU on which the task has run; owned */
	uint32_t nr_ran_on;
};

/* By the task, the CPU that it waited for, and an idle one. */
struct idle_row {
	uint32_t task, waited, idle;
	uint64_t times, total;
	struct extreme longest;
};

struct sched_idle {
	struct pass *pass;
	struct waiter *waiters; /* by the task's index in the state */
	size_t nr_waiters;
	struct u64_map ids; /* by key_of(): index + 1 of rows */
	struct idle_row *rows;
	size_t nr_rows;
	bool failed;
};

struct sched_idle *sched_idle_new(struct pass *pass)
{
	struct sched_idle *idle = calloc(1, sizeof(*idle));

	if (!idle)
		return NULL;
	idle->pass = pass;
	u64_map_init(&idle->ids, sizeof(uint32_t));
	return idle;
}

void sched_idle_free(struct sched_idle *idle)
{
	if (!idle)
		return;
	for (size_t i = 0; i < idle->nr_waiters; i++) {
		free(idle->waiters[i].idled);
		free(idle->waiters[i].ran_on);
	}
	free(idle->waiters);
	free(idle->rows);
	u64_map_release(&idle->ids);
	free(idle);
}

static uint64_t idled(const struct state *state, uint32_t cpu)
{
	const struct state_cpu *at = &state->cpus[cpu];

	return at->spent[CPU_IDLE] + (at->mode == CPU_IDLE ? state->now - at->since : 0);
}

static struct waiter *waiter_of(struct sched_idle *idle, uint32_t task)
{
	while (idle->nr_waiters <= task) {
		if (!vec_push(idle->waiters, idle->nr_waiters)) {
			idle->failed = true;
			return NULL;
		}
	}
	return &idle->waiters[task];
}

static void begin(struct sched_idle *idle, struct waiter *waiter, uint32_t cpu)
{
	const struct state *state = &idle->pass->state;

	waiter->waits = true;
	waiter->cpu = cpu;
	waiter->since = state->now;
	waiter->losses = state->losses;
	waiter->nr_idled = 0;
	free(waiter->idled);
	waiter->idled = calloc((size_t)state->nr_cpus + 1, sizeof(*waiter->idled));
	idle->failed |= !waiter->idled;
	if (!waiter->idled)
		return;
	waiter->nr_idled = (uint32_t)state->nr_cpus;
	for (uint32_t i = 0; i < waiter->nr_idled; i++)
		waiter->idled[i] = idled(state, i);
}

/* A row's key has 28 bits for the task, and 18 for each CPU. */
static struct idle_row *row_of(struct sched_idle *idle, uint32_t task, uint32_t waited, uint32_t cpu)
{
	uint64_t key = (uint64_t)task << 36 | (uint64_t)(waited & 0x3ffff) << 18 | (cpu & 0x3ffff);
	uint32_t *id = u64_map_add(&idle->ids, key);
	struct idle_row *row;

	if (id && *id)
		return &idle->rows[*id - 1];
	row = id ? vec_push(idle->rows, idle->nr_rows) : NULL;
	idle->failed |= !row;
	if (!row)
		return NULL;
	*id = (uint32_t)idle->nr_rows;
	*row = (struct idle_row){ .task = task, .waited = waited, .idle = cpu };
	return row;
}

static void count(struct sched_idle *idle, uint32_t task, const struct waiter *waiter)
{
	const struct state *state = &idle->pass->state;

	if (!pass_wants_since(idle->pass, &state->tasks[task], waiter->since) ||
	    !pass_wants_cpu(idle->pass, waiter->cpu))
		return;
	for (uint32_t i = 0; i < waiter->nr_idled; i++) {
		uint64_t now = idled(state, i), then = waiter->idled[i];
		/* A loss can make idle time unknown that was counted then. */
		uint64_t lasted = now > then ? now - then : 0;
		struct idle_row *row = i != waiter->cpu && lasted ? row_of(idle, task, waiter->cpu, i) : NULL;

		if (!row)
			continue;
		row->times++;
		row->total += lasted;
		extreme_see(&row->longest, &(struct extreme){ .lasted = lasted,
							      .from = waiter->since,
							      .to = state->now,
							      .cpu = i,
							      .task = task });
	}
}

static void note_run(struct sched_idle *idle, struct waiter *waiter, uint32_t cpu)
{
	uint32_t words = cpu / 64 + 1;
	uint64_t *more;

	if (cpu >= CPUS_MAX)
		return;
	if (words > waiter->nr_ran_on) {
		more = realloc(waiter->ran_on, words * sizeof(*more));
		idle->failed |= !more;
		if (!more)
			return;
		memset(more + waiter->nr_ran_on, 0, (words - waiter->nr_ran_on) * sizeof(*more));
		waiter->ran_on = more;
		waiter->nr_ran_on = words;
	}
	waiter->ran_on[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static void see_task(struct sched_idle *idle, uint32_t id, const struct event *event)
{
	const struct state *state = &idle->pass->state;
	const struct state_task *task = &state->tasks[id];
	struct waiter *waiter = task->idle ? NULL : waiter_of(idle, id);
	bool waits = state_waits((enum task_mode)task->mode);

	if (!waiter)
		return;
	if (waits && !waiter->waits) {
		begin(idle, waiter, task->cpu);
	} else if (!waits && waiter->waits) {
		if (task->mode == TASK_RUNNING && (state->step.intact || waiter->losses == state->losses))
			count(idle, id, waiter);
		waiter->waits = false;
		free(waiter->idled);
		waiter->idled = NULL;
	}
	if (task->mode == TASK_RUNNING)
		note_run(idle, waiter, event->cpu);
}

void sched_idle_see(struct sched_idle *idle, const struct event *event)
{
	const struct state_step *step = &idle->pass->state.step;

	if (event->kind != EVENT_RECORD)
		return;
	if (step->task != STATE_NO_TASK)
		see_task(idle, step->task, event);
	if (step->kind == STEP_SWITCH && step->other != STATE_NO_TASK)
		see_task(idle, step->other, event);
}

/*
 * The kernel names its threads of one CPU "name/N" (kthread_create_on_cpu(), and ksoftirqd, migration, cpuhp and
 * kworker/N:); one that is bound runs nowhere else.
 */
static bool is_of_cpu(const char *comm)
{
	const char *slash = strrchr(comm, '/');
	size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;

	return digits && (!slash[1 + digits] || slash[1 + digits] == ':');
}

static void put_may(const struct sched_idle *idle, const struct idle_row *row, const char *comm, struct table *table)
{
	const struct waiter *waiter = &idle->waiters[row->task];
	uint32_t word = row->idle / 64;

	if (word < waiter->nr_ran_on && waiter->ran_on[word] >> row->idle % 64 & 1)
		table_cell(table, "yes: it ran there");
	else if (is_of_cpu(comm))
		table_cell(table, "no: by its name, a thread of one CPU");
	else
		table_cell(table, "unknown");
}

bool sched_idle_put(const struct sched_idle *idle, struct findings *findings)
{
	static const struct table_column columns[] = {
		{ "TASK", TABLE_TEXT, "comm" },
		{ "PID", TABLE_NUMBER, NULL },
		{ "WAITED FOR", TABLE_NUMBER, "cpu" },
		{ "IDLE CPU", TABLE_NUMBER, "idle_cpu" },
		{ "TIMES", TABLE_COUNT, NULL },
		{ "TOTAL", TABLE_TIME, NULL },
		{ "MAX", TABLE_TIME, NULL },
		{ "MAX AT", TABLE_NUMBER, "max_at" },
		{ "MAY IT RUN THERE", TABLE_TEXT, "allowed" },
	};
	struct table *table =
		findings_table(findings, "idle_while_waiting",
			       "CPUs that were idle while a task waited for another one, and for how long", "total",
			       columns, array_size(columns));
	struct extreme longest = { .to = 0 };

	findings_course(findings, 1 << 1 | 1 << 2 | 1 << 3, 1 << 4 | 1 << 5);
	for (size_t i = 0; table && i < idle->nr_rows; i++) {
		const struct idle_row *row = &idle->rows[i];
		const struct state_task *task = &idle->pass->state.tasks[row->task];
		const char *comm = pass_comm(idle->pass, task);

		table_cell(table, comm);
		table_cell_s64(table, task->pid);
		table_cell_u64(table, row->waited);
		table_cell_u64(table, row->idle);
		table_cell_u64(table, row->times);
		table_cell_u64(table, row->total);
		table_cell_u64(table, row->longest.lasted);
		table_cell_decimal(table, (int64_t)row->longest.to, 9);
		put_may(idle, row, comm, table);
		extreme_see(&longest, &row->longest);
	}
	extreme_tell(idle->pass, findings, "wait beside an idle CPU", &longest);
	return table && !idle->failed && !idle->ids.starved;
}
