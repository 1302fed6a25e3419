// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the time of a span was spent on: the state's modes of its task, system calls, and what CPUs did meanwhile. */
#include "lib/answers/marks/marks_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/uapi/names.h"

struct marks_task *marks_task(struct marks_analysis *marks, uint32_t id)
{
	while (marks->nr_tasks <= id) {
		if (!vec_push(marks->tasks, marks->nr_tasks)) {
			marks->pass->failed = true;
			return NULL;
		}
	}
	return &marks->tasks[id];
}

/* For how long the CPU has been in interrupts, up to now. */
static uint64_t irq_of(const struct state *state, uint32_t number)
{
	const struct state_cpu *cpu = number < state->nr_cpus ? &state->cpus[number] : NULL;

	if (!cpu)
		return 0;
	return cpu->spent[CPU_HARDIRQ] + cpu->spent[CPU_SOFTIRQ] +
	       (cpu->mode == CPU_HARDIRQ || cpu->mode == CPU_SOFTIRQ ? state->now - cpu->since : 0);
}

static uint64_t spent(const struct state *state, uint32_t id, const enum task_mode *modes, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += state_spent(state, id, modes[i]);
	return sum;
}

struct marks_time marks_time_of(const struct marks_analysis *marks, uint32_t id)
{
	static const enum task_mode waits[] = { TASK_PREEMPTED, TASK_WAKING, TASK_QUEUED };
	static const enum task_mode blocks[] = { TASK_SLEEPING, TASK_BLOCKED, TASK_STOPPED };
	const struct state *state = &marks->pass->state;
	const struct marks_task *task = id < marks->nr_tasks ? &marks->tasks[id] : &(struct marks_task){ .irq = 0 };

	return (struct marks_time){ .running = state_spent(state, id, TASK_RUNNING),
				    .waiting = spent(state, id, waits, 3),
				    .blocked = spent(state, id, blocks, 3),
				    .irq = task->irq +
					   (task->runs ? irq_of(state, task->irq_cpu) - task->irq_base : 0) };
}

void marks_parts_of(const struct marks_analysis *marks, const struct marks_note *note, uint64_t lasted,
		    uint64_t parts[MARKS_PARTS])
{
	const struct marks_time now = marks_time_of(marks, note->task);
	uint64_t running = now.running - note->then.running, irq = now.irq - note->then.irq, known;

	if (irq > running)
		irq = running;
	parts[MARKS_ON_CPU] = running - irq;
	parts[MARKS_IRQ] = irq;
	parts[MARKS_WAIT] = now.waiting - note->then.waiting;
	parts[MARKS_BLOCKED] = now.blocked - note->then.blocked;
	known = running + parts[MARKS_WAIT] + parts[MARKS_BLOCKED];
	parts[MARKS_UNKNOWN] = lasted > known ? lasted - known : 0;
}

uint32_t marks_text(struct marks_analysis *marks, const char *text, size_t len)
{
	uint32_t label = 0;
	bool is_new;

	/* The first one is "", that of what is not known, or of too many texts. */
	if (!marks->texts.nr)
		marks->pass->failed |= labels_add(&marks->texts, "", 0, &is_new) == LABEL_NONE;
	if (marks->texts.nr < MARKS_TEXTS_MAX)
		label = labels_add(&marks->texts, text, len, &is_new);
	return label == LABEL_NONE ? 0 : label;
}

static uint32_t task_text(struct marks_analysis *marks, uint32_t id)
{
	const struct state_task *task = &marks->pass->state.tasks[id];
	const char *name = pass_comm(marks->pass, task);
	char text[64];

	if (!*name)
		name = text;
	snprintf(text, sizeof(text), "%" PRId32, task->pid);
	return marks_text(marks, name, strlen(name));
}

/* Who woke the task last. */
static uint32_t waker_text(struct marks_analysis *marks, struct waker waker)
{
	char text[PASS_WAKER];
	const char *name = pass_waker(marks->pass, waker, text);

	return marks_text(marks, name, strlen(name));
}

/* The details of spans. */

static struct marks_details *details_of(struct marks_analysis *marks, struct marks_note *note)
{
	if (!note->details && marks->free_pool) {
		note->details = marks->free_pool;
		marks->free_pool = marks->pool[note->details - 1].next_free;
	} else if (!note->details) {
		if (!vec_push(marks->pool, marks->nr_pool)) {
			marks->pass->failed = true;
			return NULL;
		}
		note->details = (uint32_t)marks->nr_pool;
	}
	return &marks->pool[note->details - 1];
}

void marks_details_add(struct marks_analysis *marks, struct marks_note *note, const struct marks_detail *detail)
{
	struct marks_details *details = detail->time ? details_of(marks, note) : NULL;
	struct marks_detail *item;

	if (!details)
		return;
	for (size_t i = 0; i < details->nr; i++) {
		item = &details->items[i];
		if (item->part == detail->part && item->call == detail->call && item->whom == detail->whom) {
			item->time += detail->time;
			item->count += detail->count;
			return;
		}
	}
	if (details->nr >= MARKS_DETAILS_MAX && (detail->call || detail->whom)) {
		const struct marks_detail other = { .part = detail->part,
						    .time = detail->time,
						    .count = detail->count };

		marks_details_add(marks, note, &other);
		return;
	}
	item = vec_push(details->items, details->nr);
	marks->pass->failed |= !item;
	if (item)
		*item = *detail;
}

static void add_to_row(struct marks_analysis *marks, uint32_t row, const struct marks_detail *detail)
{
	struct marks_detail *sum = u64_map_add(&marks->details, marks_detail_key(row, detail));

	marks->pass->failed |= !sum;
	if (!sum)
		return;
	sum->part = detail->part;
	sum->call = detail->call;
	sum->whom = detail->whom;
	sum->time += detail->time;
	sum->count += detail->count;
}

void marks_details_end(struct marks_analysis *marks, struct marks_note *note, uint32_t row,
		       struct marks_detail *ret_most)
{
	uint32_t index = note->details;

	if (!index)
		return;
	for (size_t i = 0; i < marks->pool[index - 1].nr; i++) {
		const struct marks_detail detail = marks->pool[index - 1].items[i];

		if (row != UINT32_MAX)
			add_to_row(marks, row, &detail);
		if (detail.time > ret_most->time)
			*ret_most = detail;
		if (note->outer)
			marks_details_add(marks, note->outer, &detail);
	}
	marks->pool[index - 1].nr = 0;
	free(marks->pool[index - 1].items);
	marks->pool[index - 1].items = NULL;
	marks->pool[index - 1].next_free = marks->free_pool;
	marks->free_pool = index;
	note->details = 0;
}

/* What happens to tasks that have open spans. */

void marks_parts_call(struct marks_analysis *marks, const struct event *event, bool enters, int64_t number,
		      const char *name)
{
	uint32_t id = state_acting(&marks->pass->state, event);
	struct marks_task *task = id == STATE_NO_TASK ? NULL : marks_task(marks, id);
	char text[32];

	if (!task)
		return;
	task->call = 0;
	if (!enters || !task->top)
		return;
	if (!name)
		name = system_call_name(marks->pass->machine, number);
	if (!name) {
		snprintf(text, sizeof(text), "syscall_%" PRId64, number);
		name = text;
	}
	task->call = marks_text(marks, name, strlen(name)) + 1;
}

/* What the CPUs did on whose queues it stood: of the tasks by their names. The rest of the wait is not known. */
static void add_wait(struct marks_analysis *marks, struct marks_task *task, uint64_t waited)
{
	struct marks_detail detail = { .part = MARKS_WAIT, .count = 1 };
	struct marks_note *note = task->top;
	struct history_sum sum;
	uint64_t key, known = 0;
	const uint64_t *time;

	history_sum_init(&sum);
	if (task->wait && task->wait->cpu != STATE_NO_CPU)
		history_wait_sum(&marks->history, task->wait, marks->pass->state.now, &sum);
	for (enum cpu_mode mode = CPU_IDLE; mode < CPU_MODES; mode++) {
		detail.whom =
			mode == CPU_IDLE ? marks_text(marks, "an idle CPU", 11) : marks_text(marks, "interrupts", 10);
		detail.time = sum.modes[mode];
		known += detail.time;
		if (known <= waited)
			marks_details_add(marks, note, &detail);
	}
	detail.time = sum.before + sum.after;
	known += detail.time;
	if (task->wait && task->wait->before != STATE_NO_TASK && known <= waited) {
		detail.whom = task_text(marks, task->wait->before);
		marks_details_add(marks, note, &detail);
	} else {
		known -= detail.time;
	}
	for (size_t at = 0; (time = u64_map_next(&sum.tasks, &at, &key));) {
		if (known + *time > waited)
			continue;
		detail.whom = task_text(marks, (uint32_t)key);
		detail.time = *time;
		known += *time;
		marks_details_add(marks, note, &detail);
	}
	detail.whom = 0;
	detail.time = waited - (known < waited ? known : waited);
	marks_details_add(marks, note, &detail);
	history_sum_release(&sum);
}

void marks_parts_run(const struct marks_analysis *marks, struct marks_task *task, uint32_t cpu)
{
	task->irq_cpu = cpu;
	task->irq_base = irq_of(&marks->pass->state, cpu);
	task->runs = true;
}

static void see_in(struct marks_analysis *marks, uint32_t id, uint32_t cpu)
{
	const struct state *state = &marks->pass->state;
	const struct state_task *task = &state->tasks[id];
	struct marks_task *mine = marks_task(marks, id);
	uint64_t blocked, waited;

	if (!mine)
		return;
	marks_parts_run(marks, mine, cpu);
	if (!mine->top)
		return;
	blocked = state_blocked(task) - mine->left_blocked;
	waited = state_waited(task) - mine->left_waited;
	if (blocked) {
		const struct marks_detail detail = { .part = MARKS_BLOCKED,
						     .call = mine->call ? mine->call - 1 : 0,
						     .whom = waker_text(marks, task->waker),
						     .time = blocked,
						     .count = 1 };

		marks_details_add(marks, mine->top, &detail);
	}
	if (waited)
		add_wait(marks, mine, waited);
	if (mine->wait)
		history_wait_end(&marks->history, mine->wait);
}

static void wait_begins(struct marks_analysis *marks, struct marks_task *task, uint32_t cpu)
{
	if (!task->wait) {
		task->wait = malloc(sizeof(*task->wait));
		marks->pass->failed |= !task->wait;
		if (!task->wait)
			return;
		history_wait_init(task->wait);
	}
	history_wait_begin(&marks->history, task->wait, cpu, marks->pass->state.now);
}

static void see_out(struct marks_analysis *marks, uint32_t id, uint32_t cpu)
{
	const struct state *state = &marks->pass->state;
	const struct state_task *task = &state->tasks[id];
	struct marks_task *mine = marks_task(marks, id);

	if (!mine)
		return;
	if (mine->runs)
		mine->irq += irq_of(state, mine->irq_cpu) - mine->irq_base;
	mine->runs = false;
	if (!mine->top)
		return;
	mine->left_blocked = state_blocked(task);
	mine->left_waited = state_waited(task);
	if (task->mode == TASK_PREEMPTED)
		wait_begins(marks, mine, cpu);
}

/* The task is woken, or moved to the queue of another CPU. */
static void see_queue(struct marks_analysis *marks)
{
	const struct state *state = &marks->pass->state;
	const struct state_step *step = &state->step;
	struct marks_task *task = step->task < marks->nr_tasks ? &marks->tasks[step->task] : NULL;

	if (!task || !task->top)
		return;
	if (step->kind == STEP_MIGRATE || (task->wait && task->wait->cpu != STATE_NO_CPU)) {
		if (task->wait)
			history_wait_move(&marks->history, task->wait, step->cpu, state->now);
		return;
	}
	wait_begins(marks, task, step->cpu);
}

void marks_parts_see(struct marks_analysis *marks, const struct event *event)
{
	const struct state_step *step = &marks->pass->state.step;

	history_see(&marks->history, &marks->pass->state, event);
	switch ((enum step_kind)step->kind) {
	case STEP_SWITCH:
		if (step->other != STATE_NO_TASK)
			see_out(marks, step->other, event->cpu);
		if (step->task != STATE_NO_TASK)
			see_in(marks, step->task, event->cpu);
		break;
	case STEP_WAKING:
	case STEP_WOKEN:
	case STEP_MIGRATE:
		see_queue(marks);
		break;
	case STEP_NONE:
	case STEP_LOST:
	case STEP_FORK:
		break;
	}
}

void marks_parts_release(struct marks_analysis *marks)
{
	for (size_t i = 0; i < marks->nr_tasks; i++) {
		if (marks->tasks[i].wait)
			history_wait_end(&marks->history, marks->tasks[i].wait);
		free(marks->tasks[i].wait);
	}
	free(marks->tasks);
	for (size_t i = 0; i < marks->nr_pool; i++)
		free(marks->pool[i].items);
	free(marks->pool);
	history_release(&marks->history);
}
