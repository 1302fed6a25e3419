// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of tasks off their CPU, as lib/state counts it for weft sched: blocked until they were woken, then runnable.
 * The stack is the one recorded with the sched_switch that switched the task out, if there is one.
 */
#include "formats/export/firefox_internal.h"

#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <stdlib.h>

static struct firefox_off *off_of(struct firefox_buffer *buffer, uint32_t id)
{
	while (buffer->nr_offs <= id) {
		struct firefox_off *off = vec_push(buffer->offs, buffer->nr_offs);

		if (!off) {
			export_no_memory(&buffer->firefox->export);
			return NULL;
		}
		*off = (struct firefox_off){ .node = TIMED_NO_NODE };
	}
	return &buffer->offs[id];
}

static void add(struct firefox_buffer *buffer, uint32_t node, const char *what, size_t len, uint64_t ts,
		uint64_t lasted)
{
	struct timed *samples = &buffer->firefox->samples[FIREFOX_OFF_CPU];

	if (lasted && node != TIMED_NO_NODE)
		timed_add(samples, timed_on(samples, node, firefox_label(buffer->firefox, what, len)), ts, lasted);
}

/* Reports the time that was added since the last report. */
static void report(struct firefox_buffer *buffer, uint32_t id)
{
	const struct state_task *task = &buffer->state.tasks[id];
	uint64_t runnable = task->spent[TASK_PREEMPTED] + task->spent[TASK_WAKING] + task->spent[TASK_QUEUED];
	uint64_t blocked = task->spent[TASK_SLEEPING] + task->spent[TASK_BLOCKED], now = buffer->state.now;
	struct firefox_off *off = off_of(buffer, id);
	uint64_t waited, slept;

	if (!off || task->idle)
		return;
	waited = runnable - off->runnable;
	slept = blocked - off->blocked;
	off->runnable = runnable;
	off->blocked = blocked;
	if (!waited && !slept)
		return;
	if (off->node == TIMED_NO_NODE)
		off->node = firefox_task_root(buffer, FIREFOX_OFF_CPU, task->pid);
	firefox_task_since(buffer, task->pid, now - waited - slept);
	add(buffer, off->node, "[blocked]", 9, now - waited - slept, slept);
	add(buffer, off->node, "[runnable]", 10, now - waited, waited);
	off->node = TIMED_NO_NODE;
}

void firefox_off_see(struct firefox_buffer *buffer, const struct event *event)
{
	const struct state_step *step = &buffer->state.step;
	uint32_t *left;

	state_see(&buffer->state, event);
	left = u64_map_add(&buffer->left, event->cpu);
	if (!left) {
		export_no_memory(&buffer->firefox->export);
		return;
	}
	buffer->left_before = *left;
	*left = 0;
	if (event->kind != EVENT_RECORD || step->kind != STEP_SWITCH)
		return;
	if (step->task < buffer->state.nr_tasks)
		report(buffer, step->task);
	*left = step->other < buffer->state.nr_tasks ? step->other + 1 : 0;
}

void firefox_off_stack(struct firefox_buffer *buffer, uint32_t node)
{
	struct firefox_off *off = buffer->left_before ? off_of(buffer, buffer->left_before - 1) : NULL;

	if (off)
		off->node = node;
}

void firefox_off_end(struct firefox_buffer *buffer)
{
	state_settle(&buffer->state);
	for (uint32_t i = 0; i < buffer->state.nr_tasks; i++)
		report(buffer, i);
}
