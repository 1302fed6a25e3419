// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state.h"

#include <errno.h>
#include <inttypes.h>

#include "lib/ground/base/fail.h"

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
