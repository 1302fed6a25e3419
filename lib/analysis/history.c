// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/history_internal.h"

#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <stdlib.h>

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

void history_see(struct history *history, const struct state *state, const struct event *event)
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
	/* Need-resched stays set until the task leaves the CPU; an interrupt's events also have it. */
	step = newest(cpu);
	if (event->kind == EVENT_RECORD && !step->resched && event->flags & EVENT_NEED_RESCHED &&
	    event->pid == now->pid)
		step->resched = state->now;
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
