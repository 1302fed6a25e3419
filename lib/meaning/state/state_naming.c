// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

#include <string.h>

#include "lib/ground/base/vec.h"

_Static_assert((int)NAMING_MODES == (int)TASK_MODES, "those of the state");

void state_follow_names(struct state *state, naming_wants *wants, const void *arg)
{
	state->naming.wants = wants;
	state->naming.arg = arg;
}

void state_follow_wanted(struct state *state, naming_wants *wants, naming_away *away, const void *arg)
{
	state->naming.wants = wants;
	state->naming.away = away;
	state->naming.arg = arg;
}

void state_follow_spent(struct state *state, naming_spent *spent, void *arg)
{
	state->naming.spent = spent;
	state->naming.spent_arg = arg;
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

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* The name changes now from a wanted one to one that is not, or back. */
static void change(struct state *state, struct state_task *task, struct naming_task *named)
{
	/* Of a wait beside an idle CPU the part before counts no more. */
	if (!named->now && state_waits((enum task_mode)task->mode))
		task->idle_then = cpus_others_idled(state, task->cpu);
	if (!named->now)
		named->away += state->now - later(task->since, named->changed);
	named->changed = state->now;
}

void naming_see(struct state *state, uint32_t id, bool renamed)
{
	struct state_task *task = &state->tasks[id];
	struct naming_task *named = state->naming.away ? NULL : add(state, id);
	bool wanted;

	if (!named || (named->known && !strncmp(named->comm, task->comm, TASK_COMM_LEN)))
		return;
	wanted = state->naming.wants(state->naming.arg, task);
	if (!named->known && renamed)
		begin_before(state, task, named);
	if ((named->ever || named->others) && named->now != wanted)
		change(state, task, named);
	if (named->now && !wanted)
		named->until = state->now;
	named->known = true;
	named->now = wanted;
	named->ever |= wanted;
	named->others |= !wanted;
	memcpy(named->comm, task->comm, TASK_COMM_LEN);
	memcpy(wanted ? named->wanted : named->other, task->comm, TASK_COMM_LEN);
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

/* Whether it was wanted at any moment of its life since then. */
static bool was_wanted(const struct state *state, const struct state_task *task, uint64_t since)
{
	uint64_t from = later(since, task->born), to = task->died ? task->died : state->now;

	return from >= to ? state->naming.wants(state->naming.arg, task) :
			    state->naming.away(state->naming.arg, task, from, to) < to - from ||
				    state->naming.wants(state->naming.arg, task);
}

bool state_had_name(const struct state *state, const struct state_task *task, uint64_t since)
{
	const struct naming_task *named = state_names_of(state, task);

	if (!state->naming.wants)
		return false;
	if (state->naming.away)
		return was_wanted(state, task, since);
	if (!named)
		return state->naming.wants(state->naming.arg, task);
	return named->now || (named->ever && named->until > since);
}

/* How long a task had other names, of its present mode up to `to`. */
static uint64_t away_until(const struct state *state, const struct state_task *task, uint64_t to)
{
	const struct naming_task *named = state_names_of(state, task);
	uint64_t from = later(task->since, named ? named->changed : 0);
	bool now = named ? named->now : state->naming.wants(state->naming.arg, task);

	return (named ? named->away : 0) + (now || to < from ? 0 : to - from);
}

/* What was not wanted of a mode that began at `since` and ends now. */
static void count_away(struct state *state, uint32_t id, unsigned mode, uint64_t lasted, uint64_t unknown)
{
	const struct naming *naming = &state->naming;
	const struct state_task *task = &state->tasks[id];
	uint64_t known_until = task->since + lasted, away = naming->away(naming->arg, task, task->since, known_until),
		 more = unknown ? naming->away(naming->arg, task, known_until, known_until + unknown) : 0;
	struct naming_task *named = away || more ? add(state, id) : NULL;

	if (!named)
		return;
	named->elsewhere[mode] += away;
	named->elsewhere[TASK_UNKNOWN] += more;
}

static uint64_t elsewhere(const struct state *state, const struct state_task *task, enum task_mode mode)
{
	const struct naming *naming = &state->naming;
	size_t index = ((uintptr_t)task - (uintptr_t)state->tasks) / sizeof(*task);
	uint64_t until = task->died ? 0 : tasks_known_until(state, task);

	uint64_t away = index < naming->nr ? naming->tasks[index].elsewhere[mode] : 0;

	if (mode == task->mode && until > task->since)
		away += naming->away(naming->arg, task, task->since, until);
	if (mode == TASK_UNKNOWN && !task->died && state->now > until)
		away += naming->away(naming->arg, task, until, state->now);
	return away;
}

static void tell_spent(const struct state *state, uint32_t id, unsigned mode, uint64_t lasted, uint64_t unknown)
{
	const struct naming *naming = &state->naming;
	const struct state_task *task = &state->tasks[id];
	uint64_t known_until = task->since + lasted;

	if (lasted)
		naming->spent(naming->spent_arg, task, mode, task->since, known_until);
	if (unknown)
		naming->spent(naming->spent_arg, task, TASK_UNKNOWN, known_until, known_until + unknown);
}

void naming_count(struct state *state, uint32_t id, unsigned mode, uint64_t lasted, uint64_t unknown)
{
	if (state->naming.spent)
		tell_spent(state, id, mode, lasted, unknown);
	if (!state->naming.wants)
		return;
	if (state->naming.away) {
		count_away(state, id, mode, lasted, unknown);
		return;
	}

	const struct state_task *task = &state->tasks[id];
	uint64_t away = away_until(state, task, task->since + lasted + unknown), known = away < lasted ? away : lasted;
	struct naming_task *named = away ? add(state, id) : NULL;

	if (!named)
		return;
	named->away = 0;
	named->elsewhere[mode] += known;
	named->elsewhere[TASK_UNKNOWN] += away - known < unknown ? away - known : unknown;
}

uint64_t state_elsewhere(const struct state *state, const struct state_task *task, enum task_mode mode)
{
	const struct naming_task *named = state_names_of(state, task);
	uint64_t until = tasks_known_until(state, task), away;

	if (state->naming.wants && state->naming.away)
		return elsewhere(state, task, mode);
	if (!state->naming.wants || (task->died && !named))
		return 0;
	if (task->died)
		return named->elsewhere[mode];
	away = mode == task->mode ? away_until(state, task, until) : 0;
	return (named ? named->elsewhere[mode] : 0) + (away < until - task->since ? away : until - task->since);
}
