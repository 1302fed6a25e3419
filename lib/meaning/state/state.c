// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/state/state_internal.h"

/*
 * The functions with a parameter `whole` are inline: a compiler makes two of each of their callers. If it is true, the
 * record has all fields where most kernels have them (state_places::whole).
 */
#define INLINE __attribute__((always_inline)) static inline

static inline bool is_whole(const struct state_places *places, const struct event *event)
{
	return __builtin_expect(event->len >= places->whole, 1);
}

/* Returns a number from the event; 0 if the event has no such field. */
INLINE int64_t number_of(const struct place *place, const struct event *event, bool whole)
{
	return whole ? (int32_t)load_u32(event->data + place->offset, false) : place_s64(place, event);
}

INLINE void set_comm(struct state *state, struct state_task *task, const struct place *place, const struct event *event,
		     bool whole)
{
	if (task->idle)
		return;
	if (whole) {
		memcpy(task->comm, event->data + place->offset, TASK_COMM_LEN);
		task->comm[TASK_COMM_LEN - 1] = '\0';
	} else {
		tasks_set_comm(task, place, event);
	}
	if (__builtin_expect(state->naming.wants && *task->comm, 0))
		naming_see(state, (uint32_t)(task - state->tasks), false);
}

INLINE void set_prio(struct state_task *task, const struct place *place, const struct event *event, bool whole)
{
	if (whole || place->field)
		task->prio = (int32_t)number_of(place, event, whole);
}

/*
 * If the state has the task running on another CPU, an event was missed: what that CPU did since its last event is
 * unknown.
 */
static inline void take_from_others(struct state *state, const struct state_task *task, uint32_t id, uint32_t number)
{
	if (task->mode == TASK_RUNNING && task->cpu != number && task->cpu < state->nr_cpus &&
	    state->cpus[task->cpu].task == id) {
		state->breaks++;
		cpus_lose(state, task->cpu);
	}
}

/* An event shows that this task is running on the CPU, but the time of the switch to it is unknown. */
static void take_over(struct state *state, uint32_t number, int32_t pid)
{
	const struct state_cpu *cpu = &state->cpus[number];
	bool broken = cpu->task != STATE_NO_TASK && state->events[STATE_SWITCH];
	struct state_task *task;
	uint32_t id;

	state->breaks += broken;
	if (cpu->task != STATE_NO_TASK)
		cpus_lose(state, number);
	id = pid ? tasks_of(state, pid) : cpus_idle_task(state, number);
	if (id == STATE_NO_TASK)
		return;
	task = &state->tasks[id];
	take_from_others(state, task, id, number);
	/* It got the CPU at some time after the last event there. */
	if (broken && task->mode != TASK_RUNNING && tasks_known_until(state, task) > cpu->last)
		tasks_lose(state, id, cpu->last);
	(void)tasks_enter(state, task, TASK_RUNNING);
	task->exact = false;
	task->cpu = number;
	cpus_give(state, number, id);
}

/* A name has room for more than is compared. */
static inline bool is_softirq_thread(const struct state_task *task)
{
	return !memcmp(task->comm, "ksoftirqd/", 10);
}

/*
 * The task in which softirqs run at this event, and which waits for a CPU as any task does: ksoftirqd, or on PREEMPT_RT
 * whichever task has the CPU. 0: softirqs interrupt a task.
 */
static int32_t softirq_thread(const struct state *state, const struct event *event)
{
	uint32_t id = state->cpus[event->cpu].task;

	if (!(event->flags & EVENT_SOFTIRQ) || event->flags & (EVENT_HARDIRQ | EVENT_NMI) || !event->pid)
		return 0;
	return state->preempt_rt || (id != STATE_NO_TASK && is_softirq_thread(&state->tasks[id])) ? event->pid : 0;
}

/* The cause of a wakeup that an interrupt does, and of a worker's. */
static uint32_t cause_of(struct state *state, const struct state_task *task, const struct event *event)
{
	uint32_t cause;

	if (state->no_causes)
		return 0;
	cause = causes_now(&state->causes, event, softirq_thread(state, event));
	if (event->flags & EVENT_HARDIRQ && !memcmp(task->comm, "irq/", 4))
		causes_wake_handler(&state->causes, event, task->pid);
	if (!cause && event->flags & EVENT_INTERRUPTS &&
	    (is_softirq_thread(task) || !memcmp(task->comm, "ktimers/", 8)))
		cause = causes_of_thread(&state->causes, event);
	return cause;
}

static void begin_wait(struct state *state, struct state_task *task, uint32_t cpu)
{
	task->cpu = cpu;
	task->idle_then = cpus_others_idled(state, cpu);
}

INLINE void leave(struct state *state, uint32_t number, uint32_t id, const struct event *event, bool whole)
{
	const struct state_places *places = &state->places[STATE_SWITCH];
	struct state_task *task = &state->tasks[id];
	enum task_mode mode;

	state->step.ran_since = task->exact ? task->since : 0;
	if (task->idle) {
		(void)tasks_enter(state, task, TASK_SLEEPING);
		return;
	}
	task->letter = letters_of(&state->letters, place_u64(&places->state, event));
	set_comm(state, task, &places->other_comm, event, whole);
	set_prio(task, &places->other_prio, event, whole);
	mode = tasks_mode_of(task->letter);
	(void)tasks_enter(state, task, mode);
	task->waking = 0;
	task->woken = 0;
	if (mode == TASK_PREEMPTED)
		begin_wait(state, task, number);
	if (mode == TASK_DEAD)
		tasks_end(state, id);
	task->soft = state->preempt_rt ? state->cpus[number].soft : 0;
}

INLINE void come(struct state *state, uint32_t number, uint32_t id, const struct event *event, bool whole)
{
	const struct state_places *places = &state->places[STATE_SWITCH];
	struct state_task *task = &state->tasks[id];
	struct state_step *step = &state->step;

	take_from_others(state, task, id, number);
	set_comm(state, task, &places->comm, event, whole);
	set_prio(task, &places->prio, event, whole);
	step->was = task->mode;
	step->since = task->since;
	if (state_waits(task->mode)) {
		step->waking = task->waking;
		step->woken = task->woken;
	}
	step->intact = tasks_enter(state, task, TASK_RUNNING) && !task->unsure;
	step->first = task->first;
	task->waking = 0;
	task->woken = 0;
	task->unsure = false;
	task->first = false;
	task->cpu = number;
	state->cpus[number].hard = 0;
	state->cpus[number].soft = task->soft;
}

/* Whether a tracer has told of this switch, while its events stood in for sched_switch. */
static bool is_known(const struct state *state, uint32_t number, int32_t prev_pid, int32_t next_pid)
{
	const struct state_cpu *cpu = &state->cpus[number];

	return state->stood_in && cpu->task != STATE_NO_TASK && cpu->left == prev_pid && cpu->pid == next_pid;
}

INLINE void see_switch_of(struct state *state, const struct event *event, bool whole)
{
	const struct state_places *places = &state->places[STATE_SWITCH];
	int32_t prev_pid = (int32_t)number_of(&places->other, event, whole),
		next_pid = (int32_t)number_of(&places->pid, event, whole);
	uint32_t number = event->cpu, prev, next;
	struct state_cpu *cpu;

	if (!whole && (!places->other.field || !places->pid.field))
		return;
	if (state->cpus[number].task == STATE_NO_TASK || prev_pid != state->cpus[number].pid) {
		if (is_known(state, number, prev_pid, next_pid))
			return;
		take_over(state, number, prev_pid);
	}
	prev = state->cpus[number].task;
	next = next_pid ? tasks_of(state, next_pid) : cpus_idle_task(state, number);
	if (prev == STATE_NO_TASK || next == STATE_NO_TASK)
		return;
	state->step.kind = STEP_SWITCH;
	state->step.task = next;
	state->step.other = prev;
	leave(state, number, prev, event, whole);
	/* The same PID comes back after its task ended: it belongs to a new task. */
	if (next == prev && state->tasks[prev].died)
		next = tasks_of(state, next_pid);
	if (next == STATE_NO_TASK)
		return;
	state->step.task = next;
	come(state, number, next, event, whole);
	cpu = &state->cpus[number];
	cpu->switches++;
	cpu->tail = cpu->events + 1;
	cpu->left = prev_pid;
	cpu->left_flags = event->flags;
	cpu->left_task = prev;
	causes_switch(&state->causes, event, prev_pid, next_pid);
	cpus_give(state, number, next);
}

static void see_switch(struct state *state, const struct event *event)
{
	if (is_whole(&state->places[STATE_SWITCH], event))
		see_switch_of(state, event, true);
	else
		see_switch_of(state, event, false);
}

/* Returns whether the task can be woken: it sleeps, or lost events make its mode unknown. */
static bool can_wake(const struct state *state, const struct state_task *task)
{
	uint64_t from;

	switch ((enum task_mode)task->mode) {
	case TASK_UNKNOWN:
	case TASK_SLEEPING:
	case TASK_BLOCKED:
	case TASK_STOPPED:
	case TASK_NEW:
		return true;
	case TASK_PREEMPTED:
	case TASK_WAKING:
	case TASK_QUEUED:
		return gaps_find(&state->gaps, task->gap, &from);
	case TASK_RUNNING:
	case TASK_DEAD:
	case TASK_MODES:
		break;
	}
	return false;
}

static void begin_wakeup(struct state *state, struct state_task *task, uint8_t role, bool again)
{
	if (role == STATE_WAKING) {
		task->waking = state->now;
		task->woken = 0;
		task->unsure = false;
		return;
	}
	/* The wait continues after this event, so task->waking stays only if the first part of the wait is known. */
	if (!again || !state->step.intact)
		task->waking = 0;
	/* The kernel records sched_waking before each sched_wakeup, on a CPU that may have lost it. */
	task->unsure = role == STATE_WAKEUP && !task->waking && !task->early && state->events[STATE_WAKING];
	task->woken = state->now;
}

INLINE void wake(struct state *state, const struct event *event, uint8_t role, uint32_t id, bool whole)
{
	const struct state_places *places = &state->places[role];
	struct state_task *task = &state->tasks[id];
	struct state_step *step = &state->step;
	uint64_t cpu =
		whole || places->cpu.field ? (uint64_t)number_of(&places->cpu, event, whole) : (uint64_t)event->cpu;
	bool again = role == STATE_WAKEUP && task->mode == TASK_WAKING && !task->woken;

	set_comm(state, task, &places->comm, event, whole);
	set_prio(task, &places->prio, event, whole);
	/*
	 * try_to_wake_up() wakes only a task that sleeps. So this task has run and slept since it was queued, and the
	 * events that would show it are missing.
	 */
	if (role == STATE_WAKING && task->mode == TASK_QUEUED && task->woken) {
		state->breaks++;
		tasks_lose(state, id, task->since);
	}
	if (!again && !can_wake(state, task)) {
		task->early = role == STATE_WAKING && task->mode == TASK_RUNNING;
		if (task->early)
			task->waker = causes_waker(&state->causes, event, cause_of(state, task, event), task->pid);
		return;
	}
	step->kind = role == STATE_WAKING ? STEP_WAKING : STEP_WOKEN;
	step->task = id;
	step->was = task->mode;
	step->since = task->since;
	step->other = state->cpus[event->cpu].task;
	step->cpu = cpu < UINT16_MAX ? (uint32_t)cpu : event->cpu;
	if (again)
		lives_move_wait(state, task, step->cpu);
	step->intact = tasks_enter(state, task, role == STATE_WAKING ? TASK_WAKING : TASK_QUEUED);
	task->first = role == STATE_WAKEUP_NEW;
	step->first = task->first;
	step->early = role == STATE_WAKEUP && task->early;
	begin_wakeup(state, task, role, again);
	task->early = false;
	if (again && step->intact)
		return;
	/* An interrupt has nothing to do with the task that it interrupted. */
	step->cause = cause_of(state, task, event);
	if (!step->early)
		task->waker = causes_waker(&state->causes, event, step->cause, task->pid);
	begin_wait(state, task, step->cpu);
}

INLINE void see_wake_of(struct state *state, const struct event *event, uint8_t role, bool whole)
{
	const struct state_places *places = &state->places[role];
	int32_t pid = (int32_t)number_of(&places->pid, event, whole);
	uint32_t id;

	if (!pid || (!whole && !places->pid.field))
		return;
	id = tasks_of(state, pid);
	if (id == STATE_NO_TASK)
		return;
	/* sched_wakeup_new is about a new task: the PID was reused, and the end of its former task was not seen. */
	if (role == STATE_WAKEUP_NEW && state->tasks[id].mode != TASK_NEW && state->tasks[id].mode != TASK_UNKNOWN &&
	    state->tasks[id].mode != TASK_RUNNING) {
		(void)tasks_enter(state, &state->tasks[id], TASK_UNKNOWN);
		tasks_end(state, id);
		id = tasks_add(state, pid);
	}
	if (id != STATE_NO_TASK)
		wake(state, event, role, id, whole);
}

static void see_wake(struct state *state, const struct event *event, uint8_t role)
{
	if (is_whole(&state->places[role], event))
		see_wake_of(state, event, role, true);
	else
		see_wake_of(state, event, role, false);
}

static void nest(struct state *state, struct state_cpu *cpu, uint8_t *depth, int by)
{
	if (by > 0 ? *depth < UINT8_MAX : *depth > 0)
		*depth = (uint8_t)(*depth + by);
	cpus_account(state, cpu);
}

static void see_role(struct state *state, struct state_cpu *cpu, const struct event *event, uint8_t role)
{
	if (role >= STATE_HARD_ENTRY && !state->no_causes)
		causes_see(&state->causes, event, role, softirq_thread(state, event));
	switch ((enum state_role)role) {
	case STATE_SWITCH:
		see_switch(state, event);
		return;
	case STATE_WAKING:
	case STATE_WAKEUP:
	case STATE_WAKEUP_NEW:
		see_wake(state, event, role);
		return;
	case STATE_FORK:
	case STATE_NEWTASK:
		lives_see_new(state, event, role);
		return;
	case STATE_MIGRATE:
		lives_see_migrate(state, event);
		return;
	case STATE_RENAME:
		lives_see_rename(state, event);
		return;
	case STATE_EXEC:
		lives_see_exec(state, event);
		return;
	case STATE_HARD_ENTRY:
		nest(state, cpu, &cpu->hard, 1);
		return;
	case STATE_HARD_EXIT:
		nest(state, cpu, &cpu->hard, -1);
		return;
	case STATE_SOFT_ENTRY:
		nest(state, cpu, &cpu->soft, 1);
		return;
	case STATE_SOFT_EXIT:
		nest(state, cpu, &cpu->soft, -1);
		return;
	default:
		return;
	}
}

static void see_loss(struct state *state, struct state_cpu *cpu, uint32_t number)
{
	state->losses++;
	if (!gaps_add(&state->gaps, cpu->last))
		state->failed = true;
	cpus_lose(state, number);
	causes_lose(&state->causes, number);
	state->step.kind = STEP_LOST;
	state->step.since = cpu->last;
}

/*
 * Returns whether the event belongs to the tail of a sched_switch: __schedule() records the switch before
 * context_switch() changes `current`, so that what it does in between (tlb_flush, x86_fpu_regs_deactivated, functions,
 * the stack of the switch) has the PID of the task that lost the CPU. Interrupts are off until `current` has changed;
 * what has no flags, as an imported text, does not have that one at the switch, either. Nothing is woken, forked or
 * switched in between.
 */
static bool is_tail(const struct state_cpu *cpu, const struct event *event)
{
	return state_follows_switch(cpu, event->pid) && !(cpu->left_flags & ~event->flags & EVENT_IRQS_OFF) &&
	       !((cpu->left_flags ^ event->flags) & (EVENT_HARDIRQ | EVENT_SOFTIRQ));
}

static void start(struct state *state, uint64_t ts)
{
	state->started = true;
	state->start = ts;
	state->now = ts;
	state->idle_since = ts;
}

static inline uint8_t look(struct state *state, const struct event *event)
{
	bool fresh;
	uint8_t role = roles_of(&state->roles, event, &fresh);

	if (__builtin_expect(fresh, 0))
		state_bind(state, event, role);
	if (__builtin_expect(state->roles.failed || state->causes.failed, 0))
		state->failed = true;
	return role;
}

uint8_t state_look(struct state *state, const struct event *event)
{
	return look(state, event);
}

static void begin_step(struct state *state, uint64_t ts)
{
	if (__builtin_expect(!state->started, 0))
		start(state, ts);
	if (ts > state->now)
		state->now = ts;
	if (state->step.kind != STEP_NONE)
		state->step = state_no_step;
}

/* Updates the task and the interrupts of the CPU on which an event was recorded. */
void state_see_record(struct state *state, const struct event *event, uint8_t role)
{
	/* It stays where it is: only cpus_of() adds CPUs. */
	struct state_cpu *cpu;
	bool tail;

	if (__builtin_expect(state->stood_in, 0) && state_has_ended(state, event, role))
		role = ROLE_NONE;
	begin_step(state, event->ts);
	if (__builtin_expect(event->type->context->told, 0))
		return;
	cpu = cpus_of(state, event->cpu);
	if (!cpu)
		return;
	tail = (cpu->task == STATE_NO_TASK || cpu->pid != event->pid) &&
	       (!role || role >= STATE_SOFT_RAISE || (role == STATE_SWITCH && state->stood_in)) && is_tail(cpu, event);
	if (tail)
		cpu->tail++;
	else if (cpu->task == STATE_NO_TASK || cpu->pid != event->pid)
		take_over(state, event->cpu, event->pid);
	if (__builtin_expect(state->listed.filtered, 0))
		listed_see(&state->listed, event);
	if (role) {
		state->events[role]++;
		see_role(state, cpu, event, role);
	}
	if (__builtin_expect(state->listed.filtered, 0))
		filter_hide(state, event->cpu);
	/* What seems to be the tail of a switch after a CPU was offline does not tell that its task still runs. */
	if (!tail)
		cpu->last = state->now;
	cpu->events++;
}

static void see_gap(struct state *state, const struct event *event)
{
	struct state_cpu *cpu;

	begin_step(state, event->ts);
	cpu = cpus_of(state, event->cpu);
	if (!cpu)
		return;
	if (event->lost == EVENT_LOST_REST) {
		state->ends++;
		state->rest = true;
		state->rest_cpu = event->cpu;
		cpu->absent |= event->first;
	}
	see_loss(state, cpu, event->cpu);
	cpu->last = state->now;
	cpu->events++;
}

void state_see(struct state *state, const struct event *event)
{
	if (__builtin_expect(event->kind == EVENT_LOST, 0))
		see_gap(state, event);
	else
		state_see_as(state, event, look(state, event));
}

bool state_adds_up(const struct state *state, struct fail *fail)
{
	for (size_t i = 0; i < state->nr_cpus; i++) {
		const struct state_cpu *cpu = &state->cpus[i];
		uint64_t sum = 0;

		for (int mode = 0; mode < CPU_MODES; mode++)
			sum += cpu->spent[mode];
		if (cpu->seen && sum != state->now - state->start) {
			(void)fail_set(fail, -EPROTO,
				       "the times of CPU %zu add up to %" PRIu64 " ns of %" PRIu64
				       "; this is a bug in weft",
				       i, sum, state->now - state->start);
			return false;
		}
	}
	for (size_t i = 0; i < state->nr_tasks; i++) {
		const struct state_task *task = &state->tasks[i];
		uint64_t sum = 0, life = (task->died ? task->died : state->now) - task->born;

		for (int mode = 0; mode < TASK_MODES; mode++)
			sum += task->spent[mode];
		if (sum != life) {
			(void)fail_set(fail, -EPROTO,
				       "the times of task %d add up to %" PRIu64 " ns of %" PRIu64
				       "; this is a bug in weft",
				       task->pid, sum, life);
			return false;
		}
	}
	return true;
}
