// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/history.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

/*
 * The waits of a CPU. Steps that the CPU forgets are added once: to the youngest wait that had begun. So the past of a
 * wait goes on in those of all waits that follow it in the list, and when a wait ends, its past becomes that of the one
 * before it.
 */

void history_sum_init(struct history_sum *sum)
{
	*sum = (struct history_sum){ .before = 0 };
	u64_map_init(&sum->tasks, sizeof(uint64_t));
}

void history_sum_release(struct history_sum *sum)
{
	u64_map_release(&sum->tasks);
	history_sum_init(sum);
}

void history_wait_init(struct history_wait *wait)
{
	*wait = (struct history_wait){ .cpu = STATE_NO_CPU };
	history_sum_init(&wait->past);
	history_sum_init(&wait->done);
}

static void add_task(struct history *history, struct history_sum *sum, uint32_t task, uint64_t lasted)
{
	uint64_t *spent;

	if (!lasted)
		return;
	spent = u64_map_add(&sum->tasks, task);
	history->failed |= !spent;
	if (spent)
		*spent += lasted;
}

/* Adds a span of a step. The run of the sum has this number; 0: none has. */
static void add_step(struct history *history, struct history_sum *sum, uint64_t run, const struct history_step *step,
		     uint64_t from, uint64_t to)
{
	uint64_t resched = to;

	if (from >= to)
		return;
	if (step->mode != CPU_TASK) {
		sum->modes[step->mode < CPU_MODES ? step->mode : CPU_UNKNOWN] += to - from;
		return;
	}
	if (step->run != run) {
		add_task(history, sum, step->task, to - from);
		return;
	}
	if (step->resched && step->resched < to)
		resched = step->resched > from ? step->resched : from;
	sum->before += resched - from;
	sum->after += to - resched;
}

/* Adds a sum to another. `task` is that of the run of the former; STATE_NO_TASK: both sums are of one run. */
static void add_sum(struct history *history, struct history_sum *sum, const struct history_sum *other, uint32_t task)
{
	const uint64_t *spent;
	uint64_t key;

	for (size_t i = 0; i < CPU_MODES; i++)
		sum->modes[i] += other->modes[i];
	if (task == STATE_NO_TASK) {
		sum->before += other->before;
		sum->after += other->after;
	} else {
		add_task(history, sum, task, other->before + other->after);
	}
	for (size_t at = 0; (spent = u64_map_next(&other->tasks, &at, &key));)
		add_task(history, sum, (uint32_t)key, *spent);
}

/* Adds the past of a wait to a sum that begins with this run. */
static void add_past(struct history *history, struct history_sum *sum, uint64_t run, const struct history_wait *wait)
{
	if (wait->full)
		add_sum(history, sum, &wait->past, wait->run == run ? (uint32_t)STATE_NO_TASK : wait->task);
}

void history_waits_keep(struct history *history, struct history_cpu *cpu, uint64_t until)
{
	struct history_wait *wait = NULL, *next = cpu->first_wait;

	for (uint64_t i = cpu->forgotten; i < until && cpu->first_wait; i++) {
		const struct history_step *step = &cpu->steps[i % HISTORY_STEPS];
		uint64_t from = step->from, to = cpu->steps[(i + 1) % HISTORY_STEPS].from;

		for (; next && next->since < to; wait = next, next = next->next) {
			if (wait)
				add_step(history, &wait->past, wait->run, step, from, next->since);
			from = next->since > from ? next->since : from;
			next->full = true;
		}
		if (wait)
			add_step(history, &wait->past, wait->run, step, from, to);
	}
}

/* Adds what the CPU of the present queue did until `to`; `run` is that of the sum. */
static void add_queue(struct history *history, const struct history_wait *wait, uint64_t to, uint64_t run,
		      struct history_sum *sum)
{
	struct history_step step;

	for (const struct history_wait *of = wait; of; of = of->next)
		add_past(history, sum, run, of);
	for (size_t i = 0; to > wait->since && history_back(history, wait->cpu, i, &step); i++) {
		uint64_t from = step.from > wait->since ? step.from : wait->since;

		add_step(history, sum, run, &step, from, to);
		to = from < to ? from : to;
	}
}

static void leave_queue(struct history *history, struct history_wait *wait)
{
	struct history_cpu *cpu = &history->cpus[wait->cpu];

	if (wait->prev) {
		add_past(history, &wait->prev->past, wait->prev->run, wait);
		wait->prev->full |= wait->full;
		wait->prev->next = wait->next;
	} else {
		cpu->first_wait = wait->next;
	}
	if (wait->next)
		wait->next->prev = wait->prev;
	else
		cpu->last_wait = wait->prev;
	history_sum_release(&wait->past);
	wait->full = false;
	wait->cpu = STATE_NO_CPU;
}

/* Puts the wait into the list of the CPU behind those that began before it, or at the same time. */
static void join_queue(struct history *history, struct history_wait *wait, uint32_t number, uint64_t since)
{
	struct history_cpu *cpu = history_cpu_of(history, number);
	struct history_step step;

	if (!cpu)
		return;
	wait->cpu = number;
	wait->since = since;
	wait->run = 0;
	wait->task = STATE_NO_TASK;
	wait->prev = cpu->last_wait;
	while (wait->prev && wait->prev->since > since)
		wait->prev = wait->prev->prev;
	wait->next = wait->prev ? wait->prev->next : cpu->first_wait;
	*(wait->prev ? &wait->prev->next : &cpu->first_wait) = wait;
	*(wait->next ? &wait->next->prev : &cpu->last_wait) = wait;
	for (size_t i = 0; history_back(history, number, i, &step); i++) {
		if (step.from > since)
			continue;
		wait->run = step.run;
		wait->task = step.task;
		return;
	}
}

void history_wait_begin(struct history *history, struct history_wait *wait, uint32_t cpu, uint64_t since)
{
	history_wait_end(history, wait);
	wait->began = since;
	wait->moved = false;
	join_queue(history, wait, cpu, since);
	wait->before = wait->task;
}

void history_wait_move(struct history *history, struct history_wait *wait, uint32_t cpu, uint64_t at)
{
	if (wait->cpu == STATE_NO_CPU)
		return;
	add_queue(history, wait, at, wait->moved ? 0 : wait->run, &wait->done);
	leave_queue(history, wait);
	wait->moved = true;
	join_queue(history, wait, cpu, at);
}

void history_wait_sum(struct history *history, const struct history_wait *wait, uint64_t to, struct history_sum *sum)
{
	if (wait->cpu == STATE_NO_CPU)
		return;
	add_sum(history, sum, &wait->done, STATE_NO_TASK);
	add_queue(history, wait, to, wait->moved ? 0 : wait->run, sum);
}

void history_wait_end(struct history *history, struct history_wait *wait)
{
	if (wait->cpu == STATE_NO_CPU)
		return;
	leave_queue(history, wait);
	history_sum_release(&wait->done);
}

void history_release(struct history *history)
{
	for (size_t i = 0; i < history->nr_cpus; i++)
		free(history->cpus[i].steps);
	free(history->cpus);
	*history = (struct history){ .cpus = NULL };
}

struct history_cpu *history_cpu_of(struct history *history, uint32_t number)
{
	while (history->nr_cpus <= number) {
		if (!vec_push(history->cpus, history->nr_cpus)) {
			history->failed = true;
			return NULL;
		}
	}
	return &history->cpus[number];
}

/* Only CPUs that have events have a ring: a wait names the number of any CPU. */
static struct history_cpu *cpu_with_steps(struct history *history, uint32_t number)
{
	struct history_cpu *cpu = history_cpu_of(history, number);

	if (cpu && !cpu->steps)
		cpu->steps = calloc(HISTORY_STEPS, sizeof(*cpu->steps));
	history->failed |= cpu && !cpu->steps;
	return cpu && cpu->steps ? cpu : NULL;
}

static struct history_step *newest(const struct history_cpu *cpu)
{
	return cpu->nr ? &cpu->steps[(cpu->nr - 1) % HISTORY_STEPS] : NULL;
}

static void add(struct history *history, struct history_cpu *cpu, uint64_t from, uint32_t task, uint8_t mode)
{
	const struct history_step *last = newest(cpu);
	bool same = last && last->task == task;
	struct history_step step = { .from = from,
				     .resched = same ? last->resched : 0,
				     .run = !last ? 1 : last->run + !same,
				     .task = task,
				     .mode = mode };

	if (cpu->nr - cpu->forgotten == HISTORY_STEPS) {
		history_waits_keep(history, cpu, cpu->forgotten + HISTORY_STEPS / 2);
		cpu->forgotten += HISTORY_STEPS / 2;
	}
	cpu->steps[cpu->nr++ % HISTORY_STEPS] = step;
}

/*
 * Need-resched stays set until the kernel has chosen whom the CPU gets next; an interrupt's events also have it. If it
 * chooses the same task, no sched_switch tells: an event of that task without need-resched does.
 */
static void see_resched(struct history *history, struct history_cpu *cpu, const struct event *event, uint64_t now)
{
	struct history_step *step = newest(cpu);

	if (!event_flags_known(event))
		return;
	if (event->flags & EVENT_NEED_RESCHED) {
		step->resched = step->resched ? step->resched : now;
	} else if (step->resched && !(event->flags & EVENT_INTERRUPTS)) {
		add(history, cpu, now, step->task, step->mode);
		newest(cpu)->resched = 0;
	}
}

void history_change(struct history *history, const struct state *state, const struct event *event)
{
	const struct state_cpu *now = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;
	struct history_cpu *cpu = now ? cpu_with_steps(history, event->cpu) : NULL;
	struct history_step *step;

	if (!cpu)
		return;
	step = newest(cpu);
	/* The CPU's mode has been unknown since its last event. */
	if (step && step->mode != CPU_UNKNOWN && (state->step.kind == STEP_LOST || state->breaks != history->breaks))
		add(history, cpu, cpu->last, STATE_NO_TASK, CPU_UNKNOWN);
	history->breaks = state->breaks;
	step = newest(cpu);
	if (!step || step->task != now->task || step->mode != now->mode)
		add(history, cpu, state->now, now->task, now->mode);
	if (event->kind == EVENT_RECORD && event->pid == now->pid)
		see_resched(history, cpu, event, state->now);
	cpu->last = state->now;
}

bool history_back(const struct history *history, uint32_t cpu, size_t index, struct history_step *ret)
{
	const struct history_cpu *of = cpu < history->nr_cpus ? &history->cpus[cpu] : NULL;

	if (!of || index >= of->nr - of->forgotten)
		return false;
	*ret = of->steps[(of->nr - 1 - index) % HISTORY_STEPS];
	return true;
}
