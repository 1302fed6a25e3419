// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The time of tasks off their CPU, from the states of lib/meaning/timeline: blocked until they were woken, then
 * runnable. The stack is the one recorded with the sched_switch that switched the task out, if there is one.
 */
#include "formats/export/firefox/firefox_internal.h"

#include <string.h>

#include "lib/meaning/event/event.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/timeline.h"

void firefox_off_state(struct firefox_buffer *buffer, const struct timeline_slice *slice)
{
	enum runs_off what = runs_off(slice->mode->mode);
	const char *name = what == RUNS_WAITS ? "[runnable]" : "[blocked]";
	struct timed *samples = &buffer->firefox->samples[FIREFOX_OFF_CPU];
	const uint32_t *off;
	uint32_t node;

	if (what == RUNS_NOT_OFF || timeline_state(buffer->timeline)->tasks[slice->task].idle)
		return;
	off = u64_map_find(&buffer->offs, slice->task);
	node = off && *off ? *off - 1 : firefox_task_root(buffer, FIREFOX_OFF_CPU, slice->pid);
	firefox_task_since(buffer, slice->pid, slice->start);
	if (node != TIMED_NO_NODE)
		timed_add(samples, timed_on(samples, node, firefox_label(buffer->firefox, name, strlen(name))),
			  slice->start, slice->to - slice->start);
}

void firefox_off_see(struct firefox_buffer *buffer, const struct event *event)
{
	const struct state_step *step = &timeline_state(buffer->timeline)->step;
	uint32_t *left = u64_map_get(&buffer->left, event->cpu), *off;

	buffer->left_before = 0;
	if (!left)
		return;
	buffer->left_before = *left;
	*left = step->kind == STEP_SWITCH && step->other != STATE_NO_TASK ? step->other + 1 : 0;
	off = *left ? u64_map_find(&buffer->offs, step->other) : NULL;
	if (off)
		*off = 0;
}

void firefox_off_stack(struct firefox_buffer *buffer, uint32_t left, uint32_t node)
{
	uint32_t *off = left ? u64_map_add(&buffer->offs, left - 1) : NULL;

	if (off && node != TIMED_NO_NODE)
		*off = node + 1;
}
