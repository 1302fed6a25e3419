// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why_log_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

void why_log_init(struct why_log *log, struct state *state, size_t most)
{
	*log = (struct why_log){ .state = state, .most = most };
	if (most == WHY_RECORDS_MAX)
		state->causes.cap = WHY_CAUSES_MAX;
	labels_init(&log->names);
	u64_map_init(&log->tasks, sizeof(struct why_task));
}

void why_log_release(struct why_log *log)
{
	labels_release(&log->names);
	u64_map_release(&log->tasks);
	free(log->moments);
	free(log->occupants);
	free(log->talks);
	free(log->cpus);
	free(log->cause_names);
}

uint32_t why_log_name(struct why_log *log, const char *text)
{
	bool fresh;
	uint32_t label = *text ? labels_add(&log->names, text, strlen(text), &fresh) : LABEL_NONE;

	log->failed |= *text && label == LABEL_NONE;
	return label == LABEL_NONE ? 0 : label + 1;
}

const char *why_log_text(const struct why_log *log, uint32_t name)
{
	return name && name <= log->names.nr ? log->names.at[name - 1].text : "";
}

const struct why_moment *why_moment_at(const struct why_log *log, uint32_t number)
{
	return number && log->nr_moments - number < log->moments_room ? &log->moments[(number - 1) % log->most] : NULL;
}

const struct why_occupant *why_occupant_at(const struct why_log *log, uint32_t number)
{
	return number && log->nr_occupants - number < log->occupants_room ? &log->occupants[(number - 1) % log->most] :
									    NULL;
}

const struct why_talk *why_talk_at(const struct why_log *log, uint32_t number)
{
	return number && log->nr_talks - number < log->talks_room ? &log->talks[(number - 1) % log->most] : NULL;
}

static struct why_cpu *cpu_of(struct why_log *log, uint32_t number)
{
	while (log->nr_cpus <= number) {
		struct why_cpu *cpu = vec_push(log->cpus, log->nr_cpus);

		if (!cpu) {
			log->failed = true;
			return NULL;
		}
		cpu->task = STATE_NO_TASK;
	}
	return &log->cpus[number];
}

/* To add one moves the others. */
__attribute__((noinline)) static struct why_task *look_up_task(struct why_log *log, int32_t pid)
{
	size_t len = log->tasks.len;
	struct why_task *task = u64_map_get(&log->tasks, (uint32_t)pid);

	if (log->tasks.len != len)
		memset(log->near, 0, sizeof(log->near));
	log->failed |= !task;
	log->near[(uint32_t)pid % WHY_NEAR] = (struct why_near){ .pid = pid, .task = task };
	return task;
}

static inline struct why_task *task_of(struct why_log *log, const struct state_task *task)
{
	const struct why_near *near = &log->near[(uint32_t)task->pid % WHY_NEAR];
	struct why_task *ret = near->task && near->pid == task->pid ? near->task : look_up_task(log, task->pid);

	if (!ret)
		return NULL;
	if (*task->comm && memcmp(ret->comm, task->comm, TASK_COMM_LEN)) {
		memcpy(ret->comm, task->comm, TASK_COMM_LEN);
		ret->name = why_log_name(log, task->comm);
	}
	return ret;
}

bool why_log_lost(const struct why_log *log, uint32_t cpu, uint64_t from, uint64_t to, struct why_gap *ret)
{
	uint64_t nr = log->nr_gaps < WHY_GAPS_MAX ? log->nr_gaps : WHY_GAPS_MAX;
	bool any = false;

	/* From the newest one back: they end one after the other. */
	for (uint64_t i = 1; i <= nr; i++) {
		const struct why_gap *gap = &log->gaps[(log->nr_gaps - i) % WHY_GAPS_MAX];

		if (gap->to <= from)
			break;
		if (gap->from >= to || (cpu != WHY_ANY_CPU && gap->cpu != cpu))
			continue;
		if (!any || gap->from < ret->from)
			ret->from = gap->from;
		if (!any || gap->to > ret->to)
			ret->to = gap->to;
		any = true;
	}
	return any;
}

bool why_log_gap(const struct why_log *log, uint64_t since, uint64_t *ret)
{
	struct why_gap lost;

	if (!why_log_lost(log, WHY_ANY_CPU, since, UINT64_MAX, &lost))
		return false;
	*ret = lost.from > since ? lost.from : since;
	return true;
}

/* Inline, as enter() is: a moment that is passed in memory is a copy that waits for what was only just written. */
__attribute__((always_inline)) static inline void add(struct why_log *log, struct why_task *task,
						      struct why_moment moment)
{
	const struct why_moment *last;

	if (log->moments_room < log->most && !vec_push(log->moments, log->moments_room)) {
		log->failed = true;
		return;
	}
	last = why_moment_at(log, task->last);
	if (last && moment.from < last->from)
		moment.from = last->from;
	moment.before = task->last;
	moment.name = task->name;
	log->moments[log->nr_moments % log->most] = moment;
	task->last = ++log->nr_moments;
	if (!task->first)
		task->first = task->last;
}

static void push(struct why_log *log, struct why_task *task, struct why_moment moment)
{
	add(log, task, moment);
}

/*
 * What the task did before is not what its last record says: it is unknown since events may have been lost. If none
 * were, only the event is missing that gave it a CPU: it waited as long as another task is known to have had this one,
 * until `had`; 0: it may have had others.
 */
static void doubt(struct why_log *log, struct why_task *task, const struct why_moment *last, uint64_t had)
{
	uint64_t from = last->from;
	bool lost = why_log_gap(log, last->from, &from);

	if (!lost && (last->mode == MODE_WAIT || last->mode == MODE_WAY) && had > from)
		from = had;
	push(log, task,
	     (struct why_moment){
		     .from = from, .waker = -1, .cpu = last->cpu, .reason = lost ? REASON_LOST : REASON_MISSING });
}

/* Whether a task in this mode can come to the other one by the event that says so; `leaves`: it lost its CPU. */
static bool follows(const struct why_log *log, const struct why_moment *last, const struct why_moment *next,
		    bool leaves)
{
	if (leaves)
		return last->mode == MODE_RUN && last->cpu == next->cpu;
	switch ((enum why_mode)next->mode) {
	case MODE_RUN:
		return last->mode == MODE_WAIT || last->mode == MODE_WAY ||
		       (last->mode == MODE_BLOCKED && !log->state->events[STATE_WAKING] &&
			!log->state->events[STATE_WAKEUP]);
	case MODE_WAY:
	case MODE_WAIT:
		return next->waker < 0 ? last->mode == MODE_WAIT || last->mode == MODE_WAY :
					 last->mode == MODE_BLOCKED || last->mode == MODE_NEW || last->mode == MODE_WAY;
	case MODE_NEW:
		return last->mode == MODE_DEAD;
	case MODE_BLOCKED:
	case MODE_DEAD:
	case MODE_UNKNOWN:
		break;
	}
	return true;
}

/* The mode of a task before the event that is its first one. */
static enum why_mode mode_before(const struct why_moment *next, bool leaves)
{
	if (leaves)
		return MODE_RUN;
	switch ((enum why_mode)next->mode) {
	case MODE_RUN:
		return MODE_WAIT;
	case MODE_WAY:
	case MODE_WAIT:
		return next->waker < 0 ? MODE_WAIT : MODE_BLOCKED;
	case MODE_NEW:
		return MODE_NEW;
	case MODE_BLOCKED:
	case MODE_DEAD:
	case MODE_UNKNOWN:
		break;
	}
	return MODE_UNKNOWN;
}

/* What a task did before its first event is known only from the last loss on: an earlier event of it may be lost. */
static void begin(struct why_log *log, struct why_task *task, const struct why_moment *next, bool leaves)
{
	uint64_t lost = log->nr_gaps ? log->gaps[(log->nr_gaps - 1) % WHY_GAPS_MAX].to : 0;

	task->was = (uint8_t)mode_before(next, leaves);
	if (!lost || next->mode == MODE_NEW || lost <= log->state->start)
		return;
	push(log, task,
	     (struct why_moment){
		     .from = lost, .mode = task->was, .waker = -1, .cpu = next->cpu, .reason = REASON_FIRST });
	task->was = MODE_UNKNOWN;
}

__attribute__((always_inline)) static inline void enter(struct why_log *log, uint32_t id, struct why_moment next,
							bool leaves)
{
	const struct state_task *of = &log->state->tasks[id];
	struct why_task *task = of->idle ? NULL : task_of(log, of);
	const struct why_moment *last = task ? why_moment_at(log, task->last) : NULL;
	struct why_moment first;

	if (!task)
		return;
	next.from = log->state->now;
	if (!task->last) {
		first = next;
		begin(log, task, &first, leaves);
	} else if (last && last->mode != MODE_UNKNOWN && !follows(log, last, &next, leaves)) {
		doubt(log, task, last, leaves ? log->cpus[next.cpu].last : 0);
	}
	add(log, task, next);
}

static enum why_mode mode_of(const struct state_task *task)
{
	switch ((enum task_mode)task->mode) {
	case TASK_RUNNING:
		return MODE_RUN;
	case TASK_PREEMPTED:
	case TASK_QUEUED:
		return MODE_WAIT;
	case TASK_WAKING:
		return MODE_WAY;
	case TASK_SLEEPING:
	case TASK_BLOCKED:
	case TASK_STOPPED:
		return MODE_BLOCKED;
	case TASK_DEAD:
		return MODE_DEAD;
	case TASK_NEW:
		return MODE_NEW;
	case TASK_UNKNOWN:
	case TASK_MODES:
		break;
	}
	return MODE_UNKNOWN;
}

/* What the CPU did since its last event is unknown, and so is what its task did. */
static void lose(struct why_log *log, const struct why_cpu *cpu, uint32_t id, enum why_reason reason)
{
	const struct state_task *of = id < log->state->nr_tasks ? &log->state->tasks[id] : NULL;
	struct why_task *task = of && !of->idle ? task_of(log, of) : NULL;
	const struct why_moment *last = task ? why_moment_at(log, task->last) : NULL;

	if (last && last->mode == MODE_RUN)
		push(log, task,
		     (struct why_moment){
			     .from = cpu->last, .waker = -1, .cpu = last->cpu, .reason = (uint8_t)reason });
}

static void see_wakeup(struct why_log *log, const struct event *event)
{
	const struct state_step *step = &log->state->step;
	const struct state_task *task = &log->state->tasks[step->task];
	bool again = step->kind == STEP_WOKEN && step->was == TASK_WAKING;
	int32_t waker = event->flags & EVENT_INTERRUPTS ? 0 : event->pid;

	enter(log, step->task,
	      (struct why_moment){ .mode = (uint8_t)mode_of(task),
				   .cause = again ? 0 : step->cause,
				   .waker = again ? -1 : waker,
				   .early = step->early,
				   .cpu = (uint16_t)task->cpu },
	      false);
}

static void see_switch(struct why_log *log, const struct event *event)
{
	const struct state_step *step = &log->state->step;

	if (step->other != STATE_NO_TASK)
		enter(log, step->other,
		      (struct why_moment){ .mode = (uint8_t)mode_of(&log->state->tasks[step->other]),
					   .waker = -1,
					   .cpu = event->cpu },
		      true);
	if (step->task != STATE_NO_TASK)
		enter(log, step->task, (struct why_moment){ .mode = MODE_RUN, .waker = -1, .cpu = event->cpu }, false);
}

static void see_fork(struct why_log *log, const struct event *event)
{
	struct why_task *task = task_of(log, &log->state->tasks[log->state->step.task]);

	if (task)
		task->born = event->ts;
	enter(log, log->state->step.task, (struct why_moment){ .mode = MODE_NEW, .waker = event->pid }, false);
}

/* An event shows that a task has the CPU, and no switch has told. */
static void see_other_task(struct why_log *log, const struct why_cpu *cpu, const struct event *event, uint32_t id)
{
	const struct state_task *of = &log->state->tasks[id];
	struct why_task *task;
	const struct why_moment *last;

	if (of->idle)
		return;
	task = task_of(log, of);
	last = task ? why_moment_at(log, task->last) : NULL;
	if (!task)
		return;
	if (!task->last)
		task->was = cpu->begun ? MODE_UNKNOWN : MODE_RUN;
	else if (last && last->mode != MODE_UNKNOWN)
		doubt(log, task, last, cpu->last);
	push(log, task,
	     (struct why_moment){ .from = log->state->now, .mode = MODE_RUN, .waker = -1, .cpu = event->cpu });
}

/*
 * From now on nobody known has the CPU; NULL without memory. The record is written in place, field by field: a copy of
 * what was only just written would have to wait for it.
 */
static struct why_occupant *occupy(struct why_log *log, struct why_cpu *cpu, uint64_t from)
{
	struct why_occupant *occupant;

	if (log->occupants_room < log->most && !vec_push(log->occupants, log->occupants_room)) {
		log->failed = true;
		return NULL;
	}
	occupant = &log->occupants[log->nr_occupants % log->most];
	occupant->from = from;
	occupant->before = cpu->list;
	occupant->pid = 0;
	occupant->name = 0;
	occupant->prio = 0;
	occupant->kind = OCCUPANT_UNKNOWN;
	cpu->list = ++log->nr_occupants;
	return occupant;
}

static void rename_task(struct why_log *log, const struct state_task *of, uint32_t number)
{
	struct why_task *task = task_of(log, of);
	const struct why_moment *last = task ? why_moment_at(log, task->last) : NULL;

	if (last && last->mode == MODE_RUN)
		push(log, task,
		     (struct why_moment){
			     .from = log->state->now, .mode = MODE_RUN, .waker = -1, .cpu = (uint16_t)number });
}

/* The same of a task; STATE_NO_TASK: of nobody. */
static struct why_occupant *occupy_by(struct why_log *log, struct why_cpu *cpu, uint32_t id, uint64_t from)
{
	const struct state_task *task = id == STATE_NO_TASK ? NULL : &log->state->tasks[id];
	const struct why_task *of = task && !task->idle ? task_of(log, task) : NULL;
	struct why_occupant *occupant = occupy(log, cpu, from);

	if (!occupant || !task)
		return occupant;
	occupant->pid = task->pid;
	occupant->name = of ? of->name : 0;
	occupant->prio = (int16_t)task->prio;
	occupant->kind = task->idle ? OCCUPANT_IDLE : OCCUPANT_TASK;
	return occupant;
}

/* A name of the state's causes. */
static uint32_t name_of_cause(struct why_log *log, uint32_t name)
{
	while (log->nr_cause_names <= name)
		if (!vec_push(log->cause_names, log->nr_cause_names)) {
			log->failed = true;
			return 0;
		}
	if (!log->cause_names[name])
		log->cause_names[name] = why_log_name(log, causes_name(&log->state->causes, name));
	return log->cause_names[name];
}

/*
 * A run that a task began as another one and ends as a real-time task, as under chrt(1), was one of a real-time task:
 * no event says since when.
 */
static void see_real_time(struct why_log *log, const struct why_cpu *cpu)
{
	const struct state_step *step = &log->state->step;
	const struct state_task *task = step->other == STATE_NO_TASK ? NULL : &log->state->tasks[step->other];

	if (step->kind != STEP_SWITCH || !step->ran_since || !task || !state_is_real_time(task->prio))
		return;
	for (uint32_t number = cpu->list; why_occupant_at(log, number);) {
		struct why_occupant *occupant = &log->occupants[(number - 1) % log->most];

		if (occupant->from < step->ran_since ||
		    (occupant->kind == OCCUPANT_TASK && occupant->pid != task->pid) ||
		    (occupant->kind == OCCUPANT_TASK && occupant->prio == task->prio))
			return;
		if (occupant->kind == OCCUPANT_TASK)
			occupant->prio = (int16_t)task->prio;
		number = occupant->before;
	}
}

/* Notes who has the CPU from now on. */
static void see_occupant(struct why_log *log, struct why_cpu *cpu, uint32_t number)
{
	const struct state *state = log->state;
	uint32_t id = state_running(state, number), nested, name;
	const struct state_task *task = id == STATE_NO_TASK ? NULL : &state->tasks[id];
	struct why_occupant *occupant;

	see_real_time(log, cpu);
	/* Who had a CPU at its first event had it before. */
	if (!cpu->begun) {
		uint32_t before = state->step.kind == STEP_SWITCH ? state->step.other : id;

		(void)occupy_by(log, cpu, before, 0);
	}
	nested = causes_where(&state->causes, number, &name);
	if (cpu->begun && cpu->task == id && cpu->nested == nested &&
	    (!task || !memcmp(cpu->comm, task->comm, TASK_COMM_LEN)))
		return;
	/* An exec gives the task that runs another name. */
	if (cpu->begun && cpu->task == id && task && !task->idle && *cpu->comm &&
	    memcmp(cpu->comm, task->comm, TASK_COMM_LEN))
		rename_task(log, task, number);
	if (task)
		memcpy(cpu->comm, task->comm, TASK_COMM_LEN);
	cpu->task = id;
	cpu->nested = nested;
	cpu->begun = true;
	occupant = occupy_by(log, cpu, id, state->now);
	if (occupant && nested) {
		occupant->kind = OCCUPANT_INTERRUPT;
		occupant->name = name_of_cause(log, name);
	}
}

static void see_loss(struct why_log *log, struct why_cpu *cpu, uint32_t number)
{
	struct why_gap *newest = log->nr_gaps ? &log->gaps[(log->nr_gaps - 1) % WHY_GAPS_MAX] : NULL;

	if (log->state->step.since)
		cpu->last = log->state->step.since;
	/* One gap goes on where the data of a CPU has ended (analysis_ops::across). */
	if (newest && newest->cpu == number && newest->to == cpu->last)
		newest->to = log->state->now;
	else
		log->gaps[log->nr_gaps++ % WHY_GAPS_MAX] = (struct why_gap){ cpu->last, log->state->now, number };
	lose(log, cpu, cpu->task, REASON_LOST);
	cpu->task = STATE_NO_TASK;
	cpu->nested = 0;
	if (cpu->begun)
		(void)occupy(log, cpu, cpu->last);
	cpu->begun = true;
}

/* Since when the task that a CPU had is no longer known to have it: events of no role have shown that to the state. */
static uint64_t lost_since(const struct why_log *log, const struct why_cpu *cpu)
{
	const struct state_task *task = cpu->task < log->state->nr_tasks ? &log->state->tasks[cpu->task] : NULL;

	return task && task->mode == TASK_UNKNOWN && task->since > cpu->last ? task->since : cpu->last;
}

void why_log_see(struct why_log *log, const struct event *event)
{
	const struct state *state = log->state;
	const struct state_step *step = &state->step;
	struct why_cpu *cpu = cpu_of(log, event->cpu);
	uint32_t id = state_running(state, event->cpu);

	if (!cpu)
		return;
	if (!cpu->last)
		cpu->last = state->now;
	if (step->kind == STEP_LOST || event->kind != EVENT_RECORD) {
		see_loss(log, cpu, event->cpu);
	} else {
		if (cpu->begun && (step->kind == STEP_SWITCH ? step->other : id) != cpu->task) {
			cpu->last = lost_since(log, cpu);
			lose(log, cpu, cpu->task, REASON_MISSING);
			(void)occupy(log, cpu, cpu->last);
		}
		if (step->kind != STEP_SWITCH && id != cpu->task && id != STATE_NO_TASK)
			see_other_task(log, cpu, event, id);
		if (step->kind == STEP_SWITCH)
			see_switch(log, event);
		else if (step->kind == STEP_WAKING || step->kind == STEP_WOKEN)
			see_wakeup(log, event);
		else if (step->kind == STEP_MIGRATE && state_waits((enum task_mode)state->tasks[step->task].mode))
			enter(log, step->task,
			      (struct why_moment){ .mode = (uint8_t)mode_of(&state->tasks[step->task]),
						   .waker = -1,
						   .cpu = (uint16_t)step->cpu },
			      false);
		else if (step->kind == STEP_FORK)
			see_fork(log, event);
		see_occupant(log, cpu, event->cpu);
	}
	cpu->last = state->now;
}

void why_log_talk(struct why_log *log, const struct state_task *of, bool sends)
{
	struct why_task *task = task_of(log, of);

	if (!task || (log->talks_room < log->most && !vec_push(log->talks, log->talks_room))) {
		log->failed = true;
		return;
	}
	log->talks[log->nr_talks % log->most] =
		(struct why_talk){ .at = log->state->now, .before = task->talk, .sends = sends };
	task->talk = ++log->nr_talks;
}
