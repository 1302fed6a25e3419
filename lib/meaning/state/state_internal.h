/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_STATE_INTERNAL_H
#define WEFT_MEANING_STATE_STATE_INTERNAL_H

#include "lib/meaning/state/state.h"

/*
 * Private to lib/meaning/state: the tasks, and the CPUs that run them. Functions that return a task return
 * STATE_NO_TASK when memory ran out. The functions that run for each event are inline: calling a function in another
 * file would cost as much as the work itself.
 */

#define STATE_INLINE __attribute__((always_inline)) static inline

/* The names of the events that the state reads. state_bind() finds the fields of a role when its first event comes. */
extern const struct role_name state_names[];
void state_bind(struct state *state, const struct event *event, uint8_t role);
/* Whether the event stood in for another one with this role, which has come. */
bool state_has_ended(const struct state *state, const struct event *event, uint8_t role);

/* Adds a task as a new generation of its PID. */
uint32_t tasks_add(struct state *state, int32_t pid);
/* The task has ended: its PID may be reused. */
void tasks_end(struct state *state, uint32_t id);
/* Makes room for the CPU and begins to count its time. Returns NULL when memory runs out. */
struct state_cpu *cpus_begin(struct state *state, uint32_t number);
/* The CPU's mode has been unknown since its last event. */
void cpus_lose(struct state *state, uint32_t number);
/* Returns the idle task of a CPU. */
uint32_t cpus_idle_task(struct state *state, uint32_t number);

/* For a state with a PID filter, after an event has changed it: makes unknown what those do that are not listed. */
void filter_hide(struct state *state, uint32_t number);

/* If names are followed: the task has its name from now on; `renamed`: by an event that changes names. */
void naming_see(struct state *state, uint32_t task, bool renamed);
/* A task's time in a mode, which began at state_task::since, is added up, and then a time that is unknown. */
void naming_count(struct state *state, uint32_t task, unsigned mode, uint64_t lasted, uint64_t unknown);

/* state_lives.c: the events that make, name and move tasks. */
void lives_see_new(struct state *state, const struct event *event, uint8_t role);
void lives_see_rename(struct state *state, const struct event *event);
void lives_see_exec(struct state *state, const struct event *event);
void lives_see_migrate(struct state *state, const struct event *event);
void lives_move_wait(struct state *state, struct state_task *task, uint32_t cpu);
/* Sets the name of a task from a field, whatever its type. */
void tasks_set_comm(struct state_task *task, const struct place *place, const struct event *event);

/* The task's mode is unknown from the time `from` on. */
static inline void tasks_lose(struct state *state, uint32_t id, uint64_t from)
{
	struct state_task *task = &state->tasks[id];

	from = from > task->since ? from : task->since;
	task->spent[task->mode] += from - task->since;
	if (__builtin_expect(state->naming.wants || state->naming.spent, 0))
		naming_count(state, id, task->mode, from - task->since, 0);
	task->since = from;
	task->gap = state->gaps.number;
	task->mode = TASK_UNKNOWN;
	task->exact = false;
}

/* Finds the last task with this PID: its index + 1; 0: there is none. */
uint32_t tasks_search(struct state *state, int32_t pid);

static inline struct state_seat *tasks_seat(struct state *state, int32_t pid)
{
	return &state->seats[(uint32_t)pid % STATE_SEATS];
}

/* Returns the live task with this PID, or STATE_NO_TASK. */
static inline uint32_t tasks_find(struct state *state, int32_t pid)
{
	const struct state_seat *seat = tasks_seat(state, pid);
	uint32_t id = __builtin_expect(seat->pid == pid && seat->id, 1) ? seat->id : tasks_search(state, pid);

	return id && !state->tasks[id - 1].died ? id - 1 : STATE_NO_TASK;
}

/* Returns the task with this PID, and adds it if there is none. */
static inline uint32_t tasks_of(struct state *state, int32_t pid)
{
	uint32_t id = tasks_find(state, pid);

	return __builtin_expect(id == STATE_NO_TASK, 0) ? tasks_add(state, pid) : id;
}

/* Returns the CPU of an event; NULL when memory runs out. */
static inline struct state_cpu *cpus_of(struct state *state, uint32_t number)
{
	if (__builtin_expect(number < state->nr_cpus && state->cpus[number].seen, 1))
		return &state->cpus[number];
	return cpus_begin(state, number);
}

static inline bool cpus_idles(const struct state *state, const struct state_cpu *cpu)
{
	return cpu->task != STATE_NO_TASK && state->tasks[cpu->task].idle;
}

static inline void cpus_count_idle(struct state *state)
{
	uint64_t lasted = state->now - state->idle_since;

	if (state->nr_idle)
		state->idle_any += lasted;
	if (state->nr_idle == 1 && state->idle_sum < state->nr_cpus)
		state->cpus[state->idle_sum].idle_alone += lasted;
	state->idle_since = state->now;
}

/* Returns for how long, up to now, at least one CPU other than this one was idle. */
static inline uint64_t cpus_others_idled(struct state *state, uint32_t number)
{
	cpus_count_idle(state);
	return state->idle_any - (number < state->nr_cpus ? state->cpus[number].idle_alone : 0);
}

/* Whether at least one CPU other than this one idles now. */
static inline bool cpus_others_idle(const struct state *state, uint32_t number)
{
	return state->nr_idle > 1 || (state->nr_idle && state->idle_sum != number);
}

/* Adds the time of the CPU's mode up to now, then sets the mode from its task and its interrupts. */
STATE_INLINE void cpus_account(struct state *state, struct state_cpu *cpu)
{
	cpu->spent[cpu->mode] += state->now - cpu->since;
	cpu->since = state->now;
	if (cpu->task == STATE_NO_TASK)
		cpu->mode = CPU_UNKNOWN;
	else if (cpu->hard)
		cpu->mode = CPU_HARDIRQ;
	else if (cpu->soft)
		cpu->mode = CPU_SOFTIRQ;
	else
		cpu->mode = cpus_idles(state, cpu) ? CPU_IDLE : CPU_TASK;
}

STATE_INLINE void cpus_set_task(struct state *state, uint32_t number, uint32_t id)
{
	struct state_cpu *cpu = &state->cpus[number];
	bool before = cpus_idles(state, cpu), after;

	cpu->task = id;
	cpu->pid = id == STATE_NO_TASK ? 0 : state->tasks[id].pid;
	after = cpus_idles(state, cpu);
	if (before == after)
		return;
	cpus_count_idle(state);
	state->idle_changed = state->now;
	state->nr_idle = after ? state->nr_idle + 1 : state->nr_idle - 1;
	state->idle_sum = after ? state->idle_sum + number : state->idle_sum - number;
}

/* Gives the CPU to a task from now on. The mode of the CPU's former task does not change. */
STATE_INLINE void cpus_give(struct state *state, uint32_t number, uint32_t id)
{
	cpus_set_task(state, number, id);
	cpus_account(state, &state->cpus[number]);
}

/* Returns the time from which on the task's mode is unknown; now, if the mode is known. */
static inline uint64_t tasks_known_until(const struct state *state, const struct state_task *task)
{
	uint64_t from;

	/* Running tasks and idle tasks are affected only by gaps of their own CPU, which tasks_lose() handles. */
	if (task->mode == TASK_RUNNING || task->idle || !gaps_find(&state->gaps, task->gap, &from))
		return state->now;
	return from > task->since ? from : task->since;
}

/* Adds the time of the task's mode until now, of which it is known `until`, to that of a selection by name. */
STATE_INLINE void tasks_name(struct state *state, const struct state_task *task, uint64_t until)
{
	if (__builtin_expect(state->naming.wants || state->naming.spent, 0))
		naming_count(state, (uint32_t)(task - state->tasks), task->mode, until - task->since,
			     state->now - until);
}

/* Adds up the time of the task's mode until now. Returns whether the mode was known throughout. */
STATE_INLINE bool tasks_count(struct state *state, struct state_task *task)
{
	uint64_t until;
	bool intact;

	if (__builtin_expect(task->gap == state->gaps.number, 1)) {
		task->spent[task->mode] += state->now - task->since;
		tasks_name(state, task, state->now);
		task->since = state->now;
		return task->exact;
	}
	until = tasks_known_until(state, task);
	intact = task->exact && until == state->now;
	task->spent[task->mode] += until - task->since;
	task->spent[TASK_UNKNOWN] += state->now - until;
	tasks_name(state, task, until);
	task->since = state->now;
	task->gap = state->gaps.number;
	return intact;
}

/* Ends the mode of a task and begins another. Returns whether the former mode was known throughout. */
STATE_INLINE bool tasks_enter(struct state *state, struct state_task *task, enum task_mode mode)
{
	bool waited = state_waits((enum task_mode)task->mode), intact;

	intact = tasks_count(state, task);
	if (waited && intact && mode == TASK_RUNNING &&
	    (!state->naming.wants || state_had_name(state, task, UINT64_MAX)))
		task->beside_idle += cpus_others_idled(state, task->cpu) - task->idle_then;
	task->mode = (uint8_t)mode;
	task->exact = true;
	return intact;
}

#endif
