// SPDX-License-Identifier: GPL-2.0-only
#include "lib/state/state_internal.h"

#include "lib/base/vec.h"

struct state_cpu *cpus_of(struct state *state, uint32_t number)
{
	struct state_cpu *cpu;

	while (state->nr_cpus <= number) {
		if (!vec_push(state->cpus, state->nr_cpus)) {
			state->failed = true;
			return NULL;
		}
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

static bool idles(const struct state *state, const struct state_cpu *cpu)
{
	return cpu->task != STATE_NO_TASK && state->tasks[cpu->task].idle;
}

static void count_idle(struct state *state)
{
	uint64_t lasted = state->now - state->idle_since;

	if (state->nr_idle)
		state->idle_any += lasted;
	if (state->nr_idle == 1 && state->idle_sum < state->nr_cpus)
		state->cpus[state->idle_sum].idle_alone += lasted;
	state->idle_since = state->now;
}

uint64_t cpus_others_idled(struct state *state, uint32_t number)
{
	count_idle(state);
	return state->idle_any - (number < state->nr_cpus ? state->cpus[number].idle_alone : 0);
}

void cpus_account(struct state *state, struct state_cpu *cpu)
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
		cpu->mode = idles(state, cpu) ? CPU_IDLE : CPU_TASK;
}

static void set_task(struct state *state, uint32_t number, uint32_t id)
{
	struct state_cpu *cpu = &state->cpus[number];
	bool before = idles(state, cpu), after;

	cpu->task = id;
	cpu->pid = id == STATE_NO_TASK ? 0 : state->tasks[id].pid;
	after = idles(state, cpu);
	if (before == after)
		return;
	count_idle(state);
	state->nr_idle = after ? state->nr_idle + 1 : state->nr_idle - 1;
	state->idle_sum = after ? state->idle_sum + number : state->idle_sum - number;
}

void cpus_give(struct state *state, uint32_t number, uint32_t id)
{
	set_task(state, number, id);
	cpus_account(state, &state->cpus[number]);
}

void cpus_lose(struct state *state, uint32_t number)
{
	struct state_cpu *cpu = &state->cpus[number];
	uint64_t from = cpu->last > cpu->since ? cpu->last : cpu->since;

	if (cpu->task != STATE_NO_TASK)
		tasks_lose(state, cpu->task, from);
	if (cpu->idle_task != STATE_NO_TASK && cpu->idle_task != cpu->task)
		tasks_lose(state, cpu->idle_task, from);
	cpu->spent[cpu->mode] += from - cpu->since;
	cpu->spent[CPU_UNKNOWN] += state->now - from;
	cpu->since = state->now;
	cpu->mode = CPU_UNKNOWN;
	cpu->hard = 0;
	cpu->soft = 0;
	set_task(state, number, STATE_NO_TASK);
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
