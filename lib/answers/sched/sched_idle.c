// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/sched/sched_idle_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

struct waiter {
	bool waits;
	/* How long each CPU had been idle when the wait, or the interval, began; owned; NULL: it does not wait. */
	uint64_t *idled;
	uint64_t *earlier; /* how long each was idle during the wait in the intervals before; owned; NULL: none */
	bool owed;         /* `earlier` is in no row yet: which CPU the task waits for is only known when it is woken */
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
		free(idle->waiters[i].earlier);
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
	free(waiter->earlier);
	waiter->earlier = NULL;
	waiter->owed = false;
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

/* A loss can make idle time unknown that was counted before. */
static uint64_t idled_since(const struct state *state, const struct waiter *waiter, uint32_t cpu)
{
	uint64_t now = idled(state, cpu), then = waiter->idled[cpu];

	return now > then ? now - then : 0;
}

/* A wait that ends. */
static void count(struct sched_idle *idle, uint32_t task, const struct waiter *waiter)
{
	const struct state *state = &idle->pass->state;

	if (!pass_wants_since(idle->pass, &state->tasks[task], waiter->since) ||
	    !pass_wants_cpu(idle->pass, waiter->cpu))
		return;
	for (uint32_t i = 0; i < waiter->nr_idled; i++) {
		uint64_t here = idled_since(state, waiter, i);
		uint64_t lasted = here + (waiter->earlier ? waiter->earlier[i] : 0);
		struct idle_row *row = i != waiter->cpu && lasted ? row_of(idle, task, waiter->cpu, i) : NULL;

		if (!row)
			continue;
		row->times++;
		row->total += waiter->owed ? lasted : here;
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

/*
 * Until it is woken, a task is on no queue: it has waited for the CPU that it is to run on
 * (lib/meaning/state/state.c).
 */
static void move(struct sched_idle *idle, uint32_t id, struct waiter *waiter)
{
	const struct state *state = &idle->pass->state;
	const struct state_task *task = &state->tasks[id];

	if (waiter->cpu == task->cpu)
		return;
	if (state->step.kind == STEP_WOKEN || (task->mode == TASK_WAKING && !task->woken)) {
		waiter->cpu = task->cpu;
		return;
	}
	if (waiter->losses == state->losses)
		count(idle, id, waiter);
	begin(idle, waiter, task->cpu);
}

static void see_task(struct sched_idle *idle, uint32_t id, const struct event *event)
{
	const struct state *state = &idle->pass->state;
	const struct state_task *task = &state->tasks[id];
	struct waiter *waiter = task->idle ? NULL : waiter_of(idle, id);
	bool waits = state_waits((enum task_mode)task->mode);

	if (!waiter)
		return;
	/* A task that waits and is woken once more has run meanwhile, and the events that would show it are missing. */
	if (waits && (!waiter->waits || (state->step.kind == STEP_WAKING && !state->step.intact))) {
		begin(idle, waiter, task->cpu);
	} else if (waits) {
		move(idle, id, waiter);
	} else if (!waits && waiter->waits) {
		if (task->mode == TASK_RUNNING && (state->step.intact || waiter->losses == state->losses))
			count(idle, id, waiter);
		waiter->waits = false;
		free(waiter->idled);
		free(waiter->earlier);
		waiter->idled = waiter->earlier = NULL;
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

/* What a wait has so far is of the interval that ends. */
static void divide(struct sched_idle *idle, uint32_t task, struct waiter *waiter)
{
	const struct state *state = &idle->pass->state;
	const struct state_task *waiting = &state->tasks[task];
	bool settled = waiting->mode != TASK_WAKING || waiting->woken;
	bool counts = settled && waiter->losses == state->losses &&
		      pass_wants_since(idle->pass, waiting, waiter->since) && pass_wants_cpu(idle->pass, waiter->cpu);

	if (!waiter->earlier)
		waiter->earlier = calloc((size_t)waiter->nr_idled + 1, sizeof(*waiter->earlier));
	idle->failed |= !waiter->earlier;
	for (uint32_t i = 0; waiter->earlier && i < waiter->nr_idled; i++) {
		uint64_t here = idled_since(state, waiter, i);
		uint64_t due = here + (waiter->owed ? waiter->earlier[i] : 0);
		struct idle_row *row = counts && i != waiter->cpu && due ? row_of(idle, task, waiter->cpu, i) : NULL;

		waiter->earlier[i] += here;
		if (row)
			row->total += due;
	}
	waiter->owed = !settled;
	/* The next interval counts losses from 0. */
	waiter->losses = waiter->losses == state->losses ? 0 : UINT64_MAX;
}

void sched_idle_divide(struct sched_idle *idle)
{
	for (uint32_t i = 0; i < idle->nr_waiters; i++)
		if (idle->waiters[i].waits)
			divide(idle, i, &idle->waiters[i]);
}

void sched_idle_carry(struct sched_idle *idle, struct sched_idle *before)
{
	const struct state *state = &idle->pass->state;

	for (uint32_t i = 0; i < before->nr_waiters; i++) {
		uint32_t id = state_moved(state, i);
		struct waiter *to = id == STATE_NO_TASK ? NULL : waiter_of(idle, id);

		if (!to)
			continue;
		*to = before->waiters[i];
		before->waiters[i] = (struct waiter){ .waits = false };
		if (to->losses != UINT64_MAX)
			to->losses = state->losses;
		for (uint32_t cpu = 0; to->waits && cpu < to->nr_idled; cpu++)
			to->idled[cpu] = idled(state, cpu);
	}
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

static void put_may(struct table *table, const struct sched_idle *idle, const struct idle_row *row)
{
	const struct waiter *waiter = &idle->waiters[row->task];
	uint32_t word = row->idle / 64;

	if (word < waiter->nr_ran_on && waiter->ran_on[word] >> row->idle % 64 & 1)
		table_cell(table, "yes: it ran there");
	else if (is_of_cpu(pass_comm(idle->pass, &idle->pass->state.tasks[row->task])))
		table_cell(table, "no: by its name, a thread of one CPU");
	else
		table_cell(table, "unknown");
}

/* A wait that goes on in the next interval has no length yet. */
static void put_longest(struct table *table, const struct idle_row *row)
{
	if (row->times)
		table_cell_u64(table, row->longest.lasted);
	else
		table_cell(table, "-");
}

static void put_longest_at(struct table *table, const struct idle_row *row)
{
	if (row->times)
		table_cell_moment(table, row->longest.to);
	else
		table_cell(table, "-");
}

#define IDLE_COLUMNS(X)                                                     \
	X("TASK", TEXT, "comm", KEEP, pass_put_comm, idle->pass, row->task) \
	X("PID", NUMBER, NULL, SAME, pass_put_pid, idle->pass, row->task)   \
	X("WAITED FOR", NUMBER, "cpu", SAME, table_cell_u64, row->waited)   \
	X("IDLE CPU", NUMBER, "idle_cpu", SAME, table_cell_u64, row->idle)  \
	X("TIMES", COUNT, NULL, ADDS, table_cell_u64, row->times)           \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, row->total)            \
	X("MAX", TIME, NULL, 0, put_longest, row)                           \
	X("MAX AT", NUMBER, "max_at", 0, put_longest_at, row)               \
	X("MAY IT RUN THERE", TEXT, "allowed", 0, put_may, idle, row)

static const struct table_column columns[] = COLUMNS(IDLE_COLUMNS);

bool sched_idle_put(const struct sched_idle *idle, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "idle_while_waiting",
			       "CPUs that were idle while a task waited for another one, and for how long", "total",
			       columns);
	struct extreme longest = { .to = 0 };

	for (size_t i = 0; table && i < idle->nr_rows; i++) {
		const struct idle_row *row = &idle->rows[i];

		IDLE_COLUMNS(CELL)
		if (row->times)
			extreme_see(&longest, &row->longest);
	}
	extreme_tell(idle->pass, findings, "wait beside an idle CPU", &longest);
	return table && !idle->failed && !idle->ids.starved;
}
