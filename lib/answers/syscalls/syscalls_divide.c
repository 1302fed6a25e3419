// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that the end of an interval cuts: each counts where it ends, its time in each interval in which it lasts. */
#include "lib/answers/syscalls/syscalls_internal.h"

#include <string.h>

#include "lib/ground/base/vec.h"

/* What only the end of a call tells is not known before: then all its time is where it ends. */
static bool is_known(const struct syscalls_analysis *syscalls)
{
	return !syscalls->options.failures && !syscalls->of_files && syscalls->options.rows.by != SYSCALLS_BY_ERROR &&
	       syscalls->options.rows.by != SYSCALLS_BY_CPU && !syscalls->pass->filter.cpus;
}

/* What was added of the call's time so far; NULL without memory. */
static struct call_time *paid_of(struct syscalls_analysis *syscalls, uint32_t task)
{
	while (syscalls->nr_paid <= task) {
		if (!vec_push(syscalls->paid, syscalls->nr_paid)) {
			syscalls->pass->failed = true;
			return NULL;
		}
	}
	return &syscalls->paid[task];
}

static void pay(struct syscalls_analysis *syscalls, struct open_call *call, uint32_t id)
{
	const struct state *state = &syscalls->pass->state;
	const struct state_task *task = &state->tasks[id];
	struct call_time time = syscalls_time(task, call, task->died ? task->died : state->now);
	struct call_time named = syscalls_named_time(syscalls, call, task, time), *paid = paid_of(syscalls, id);
	struct call_row *row = paid ? syscalls_row(syscalls, call->number, 0, id, task->cpu, call->file) : NULL;

	if (!row)
		return;
	if (!call->paid)
		*paid = (struct call_time){ .wall = 0 };
	syscalls_add_time(row, &named, paid);
	*paid = named;
	call->paid = true;
}

/* What the task has spent counts from 0 in the next interval, so that these may be below 0. */
static void rebase(const struct pass *pass, const struct state_task *task, struct open_call *call)
{
	call->losses -= pass->state.losses;
	call->blocked -= state_blocked(task);
	call->waiting -= state_waited(task);
	call->unknown -= task->spent[TASK_UNKNOWN];
	call->slept -= task->spent[TASK_SLEEPING];
	if (pass->state.naming.wants) {
		struct pass_away away = pass_away(pass, task);

		call->away.all -= away.all;
		call->away.running -= away.running;
		call->away.blocked -= away.blocked;
		call->away.waiting -= away.waiting;
	}
}

void syscalls_divide(void *arg)
{
	struct syscalls_analysis *syscalls = arg;
	struct state *state = &syscalls->pass->state;

	for (uint32_t i = 0; i < syscalls->nr_calls; i++) {
		struct open_call *call = &syscalls->calls[i];
		const struct state_task *task = &state->tasks[i];
		const struct call_kind *kind = call->open ? syscalls_kind(syscalls, call->number, NULL) : NULL;

		/* On x86 a sigreturn may have no exit, so it counts where it has one. */
		if (kind && !kind->ends && !kind->restores) {
			if (!task->died)
				state_hold(state, i);
			if (is_known(syscalls) && !syscalls_is_broken(state, call, task) &&
			    syscalls_wants(syscalls, call, task, call->since))
				pay(syscalls, call, i);
		}
		rebase(syscalls->pass, task, call);
	}
	for (uint32_t i = 0; i < syscalls->nr_left; i++)
		syscalls->left[i] -= state_blocked(&state->tasks[i]);
}

/* Where a task is blocked stays behind: the stacks are those of the interval. */
static bool carry_block(struct syscalls_analysis *syscalls, const struct syscalls_analysis *before, uint32_t from,
			uint32_t to)
{
	while (syscalls->nr_blocks <= to)
		if (!vec_push(syscalls->blocks, syscalls->nr_blocks))
			return false;
	while (syscalls->nr_left <= to)
		if (!vec_push(syscalls->left, syscalls->nr_left))
			return false;
	syscalls->blocks[to] = before->blocks[from];
	syscalls->blocks[to].stack = 0;
	syscalls->left[to] = before->left[from];
	return true;
}

void syscalls_carry(void *arg, void *earlier)
{
	struct syscalls_analysis *syscalls = arg, *before = earlier;
	struct u64_map kinds = syscalls->kinds;
	bool open = false;

	for (uint32_t i = 0; i < before->nr_calls; i++) {
		uint32_t to = state_moved(&syscalls->pass->state, i);
		struct open_call *call = to == STATE_NO_TASK ? NULL : syscalls_call(syscalls, to);
		struct call_time *paid;

		if (!call)
			continue;
		*call = before->calls[i];
		open |= call->open;
		paid = call->paid ? paid_of(syscalls, to) : NULL;
		if (paid)
			*paid = before->paid[i];
		if (i < before->nr_blocks && i < before->nr_left && !carry_block(syscalls, before, i, to))
			syscalls->pass->failed = true;
	}
	memcpy(syscalls->near_kinds, before->near_kinds, sizeof(syscalls->near_kinds));
	syscalls->kinds = before->kinds;
	before->kinds = kinds;
	syscalls->raw = open && before->raw;
	syscalls->named = open && before->named;
}
