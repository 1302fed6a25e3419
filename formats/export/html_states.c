// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/html_states_internal.h"

#include "formats/export/bands_internal.h"
#include "formats/export/labels_internal.h"
#include "lib/event/tasks.h"
#include "lib/state/state.h"

#include <string.h>

/* The names by which the script colours the modes; NULL: not shown. */
static const char *const mode_names[TASK_MODES] = {
	[TASK_NEW] = "new",         [TASK_RUNNING] = "running", [TASK_PREEMPTED] = "preempted",
	[TASK_WAKING] = "waking",   [TASK_QUEUED] = "runnable", [TASK_SLEEPING] = "sleeping",
	[TASK_BLOCKED] = "blocked", [TASK_STOPPED] = "stopped",
};

static uint32_t label_of(struct html_states *states, const char *name)
{
	bool is_new;
	uint32_t label = labels_add(states->labels, name, strnlen(name, HTML_NAME_MAX), &is_new);

	states->failed |= label == LABEL_NONE;
	return label;
}

static void add(struct html_states *states, enum band_kind kind, uint32_t id, uint64_t from, uint64_t to, uint32_t name)
{
	const struct slice slice = { .start = from - states->start, .lasted = to - from, .name = name };

	if (name != LABEL_NONE)
		bands_add(states->bands, kind, 0, id, 0, &slice);
}

static uint32_t begin(void *arg, uint32_t id)
{
	struct html_states *states = arg;
	const struct state_task *task = &states->turns.state->tasks[id];

	return label_of(states, *task->comm ? task->comm : task_name(states->names, task->pid).text);
}

static void turn(void *arg, uint32_t cpu, const struct turns_turn *turn, uint64_t to, enum turns_end end)
{
	struct html_states *states = arg;

	(void)end;
	if (!states->turns.state->tasks[turn->task].idle)
		add(states, BAND_CPU, cpu, turn->since, to, turn->note);
}

static void mode(void *arg, const struct turns_mode *mode, uint64_t to, enum turns_end end)
{
	struct html_states *states = arg;
	const struct state_task *task = &states->turns.state->tasks[mode->task];

	(void)end;
	if (!task->idle && mode_names[mode->mode])
		add(states, BAND_STATE, (uint32_t)task->pid, mode->since, to, label_of(states, mode_names[mode->mode]));
}

void html_states_init(struct html_states *states, const struct state *state)
{
	states->turns = (struct turns){
		.state = state,
		.calls = { .arg = states, .begin = begin, .turn = turn, .mode = mode },
	};
}
