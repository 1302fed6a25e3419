// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/timeline_internal.h"

#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <stdlib.h>

void timeline_release(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->nr_cpus; i++)
		free(timeline->cpus[i].steps);
	free(timeline->cpus);
	*timeline = (struct timeline){ .cpus = NULL };
}

struct timeline_cpu *timeline_cpu_of(struct timeline *timeline, uint32_t number)
{
	while (timeline->nr_cpus <= number) {
		if (!vec_push(timeline->cpus, timeline->nr_cpus)) {
			timeline->failed = true;
			return NULL;
		}
	}
	return &timeline->cpus[number];
}

/* Only CPUs that have events have a ring: a wait names the number of any CPU. */
static struct timeline_cpu *cpu_with_steps(struct timeline *timeline, uint32_t number)
{
	struct timeline_cpu *cpu = timeline_cpu_of(timeline, number);

	if (cpu && !cpu->steps)
		cpu->steps = calloc(TIMELINE_STEPS, sizeof(*cpu->steps));
	timeline->failed |= cpu && !cpu->steps;
	return cpu && cpu->steps ? cpu : NULL;
}

static struct timeline_step *newest(const struct timeline_cpu *cpu)
{
	return cpu->nr ? &cpu->steps[(cpu->nr - 1) % TIMELINE_STEPS] : NULL;
}

static void add(struct timeline *timeline, struct timeline_cpu *cpu, uint64_t from, uint32_t task, uint8_t mode)
{
	const struct timeline_step *last = newest(cpu);
	bool same = last && last->task == task;
	struct timeline_step step = { .from = from,
				      .resched = same ? last->resched : 0,
				      .run = !last ? 1 : last->run + !same,
				      .task = task,
				      .mode = mode };

	if (cpu->nr - cpu->forgotten == TIMELINE_STEPS) {
		timeline_waits_keep(timeline, cpu, cpu->forgotten + TIMELINE_STEPS / 2);
		cpu->forgotten += TIMELINE_STEPS / 2;
	}
	cpu->steps[cpu->nr++ % TIMELINE_STEPS] = step;
}

void timeline_see(struct timeline *timeline, const struct state *state, const struct event *event)
{
	const struct state_cpu *now = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;
	struct timeline_cpu *cpu = now ? cpu_with_steps(timeline, event->cpu) : NULL;
	struct timeline_step *step;

	if (!cpu)
		return;
	step = newest(cpu);
	/* The CPU's mode has been unknown since its last event. */
	if (step && step->mode != CPU_UNKNOWN && (state->step.kind == STEP_LOST || state->breaks != timeline->breaks))
		add(timeline, cpu, cpu->last, STATE_NO_TASK, CPU_UNKNOWN);
	timeline->breaks = state->breaks;
	step = newest(cpu);
	if (!step || step->task != now->task || step->mode != now->mode)
		add(timeline, cpu, state->now, now->task, now->mode);
	/* Need-resched stays set until the task leaves the CPU; an interrupt's events also have it. */
	step = newest(cpu);
	if (event->kind == EVENT_RECORD && !step->resched && event->flags & EVENT_NEED_RESCHED &&
	    event->pid == now->pid)
		step->resched = state->now;
	cpu->last = state->now;
}

bool timeline_back(const struct timeline *timeline, uint32_t cpu, size_t index, struct timeline_step *ret)
{
	const struct timeline_cpu *of = cpu < timeline->nr_cpus ? &timeline->cpus[cpu] : NULL;

	if (!of || index >= of->nr - of->forgotten)
		return false;
	*ret = of->steps[(of->nr - 1 - index) % TIMELINE_STEPS];
	return true;
}
