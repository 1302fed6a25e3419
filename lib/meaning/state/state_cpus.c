// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

#include "lib/ground/base/vec.h"

struct state_cpu *cpus_begin(struct state *state, uint32_t number)
{
	struct state_cpu *cpu;

	while (state->nr_cpus <= number) {
		cpu = vec_push(state->cpus, state->nr_cpus);
		if (!cpu) {
			state->failed = true;
			return NULL;
		}
		cpu->task = STATE_NO_TASK;
	}
	cpu = &state->cpus[number];
	if (!cpu->seen)
		*cpu = (struct state_cpu){ .since = state->start,
					   .last = state->start,
					   .task = STATE_NO_TASK,
					   .idle_task = STATE_NO_TASK,
					   .seen = true };
	return cpu;
}

/* What is unknown already needs nothing: its time goes on, and gaps do not matter to idle tasks. */
static inline bool is_known(const struct state *state, uint32_t idle_task)
{
	return state->tasks[idle_task].mode != TASK_UNKNOWN || state->tasks[idle_task].exact;
}

void cpus_lose(struct state *state, uint32_t number)
{
	struct state_cpu *cpu = &state->cpus[number];
	uint64_t from = cpu->last > cpu->since ? cpu->last : cpu->since;

	if (cpu->task != STATE_NO_TASK)
		tasks_lose(state, cpu->task, from);
	if (cpu->idle_task != STATE_NO_TASK && cpu->idle_task != cpu->task && is_known(state, cpu->idle_task))
		tasks_lose(state, cpu->idle_task, from);
	cpu->spent[cpu->mode] += from - cpu->since;
	cpu->spent[CPU_UNKNOWN] += state->now - from;
	cpu->since = state->now;
	cpu->mode = CPU_UNKNOWN;
	cpu->hard = 0;
	cpu->soft = 0;
	cpus_set_task(state, number, STATE_NO_TASK);
}

uint32_t cpus_idle_task(struct state *state, uint32_t number)
{
	uint32_t id = state->cpus[number].idle_task;

	if (id == STATE_NO_TASK) {
		id = tasks_add(state, 0);
		state->cpus[number].idle_task = id;
	}
	return id;
}
