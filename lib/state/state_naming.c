// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/state/state_internal.h"

#include "lib/base/vec.h"

#include <string.h>

_Static_assert((int)NAMING_COMM == (int)STATE_COMM && (int)NAMING_MODES == (int)TASK_MODES, "those of the state");

void state_follow_names(struct state *state, naming_wants *wants, const void *arg)
{
	state->naming = (struct naming){ .wants = wants, .arg = arg };
}

static struct naming_task *add(struct state *state, uint32_t task)
{
	struct naming *naming = &state->naming;

	while (naming->nr <= task) {
		if (!vec_push(naming->tasks, naming->nr)) {
			state->failed = true;
			return NULL;
		}
	}
	return &naming->tasks[task];
}

/* The task has had another name until now, which no event has. */
static void begin_before(const struct state *state, const struct state_task *task, struct naming_task *named)
{
	struct state_task before = *task;

	memset(before.comm, 0, sizeof(before.comm));
	named->now = state->naming.wants(state->naming.arg, &before);
	named->ever = named->now;
	named->others = !named->now;
}

void naming_see(struct state *state, uint32_t id, bool renamed)
{
	const struct state_task *task = &state->tasks[id];
	struct naming_task *named = add(state, id);
	bool wanted;

	if (!named || (named->known && !strncmp(named->comm, task->comm, NAMING_COMM)))
		return;
	wanted = state->naming.wants(state->naming.arg, task);
	if (!named->known && renamed)
		begin_before(state, task, named);
	if ((named->ever || named->others) && named->now != wanted)
		named->changed = state->now;
	if (named->now && !wanted)
		named->until = state->now;
	named->known = true;
	named->now = wanted;
	named->ever |= wanted;
	named->others |= !wanted;
	memcpy(named->comm, task->comm, NAMING_COMM);
	memcpy(wanted ? named->wanted : named->other, task->comm, NAMING_COMM);
}

const struct naming_task *state_names_of(const struct state *state, const struct state_task *task)
{
	uintptr_t at = (uintptr_t)task, first = (uintptr_t)state->tasks;
	size_t index = (at - first) / sizeof(*task);

	/* The caller may have made the task itself. */
	return at >= first && index < state->nr_tasks && index < state->naming.nr && state->naming.tasks[index].known ?
		       &state->naming.tasks[index] :
		       NULL;
}

bool state_had_name(const struct state *state, const struct state_task *task, uint64_t since)
{
	const struct naming_task *named = state_names_of(state, task);

	if (!state->naming.wants)
		return false;
	if (!named)
		return state->naming.wants(state->naming.arg, task);
	return named->now || (named->ever && named->until > since);
}

void naming_count(struct state *state, uint32_t id, uint64_t since, unsigned mode, uint64_t lasted)
{
	struct naming_task *named = state_had_name(state, &state->tasks[id], since) ? NULL : add(state, id);

	if (named)
		named->elsewhere[mode] += lasted;
}
