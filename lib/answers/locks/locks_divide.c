// SPDX-License-Identifier: LGPL-2.1-or-later
/* Waits that the end of an interval cuts: each counts where it ends, its time in each interval in which it lasts. */
#include "lib/answers/locks/locks_internal.h"

struct lock_time locks_time(const struct locks_analysis *locks, const struct lock_wait *wait, uint64_t until)
{
	const struct state_task *task = &locks->pass->state.tasks[wait->task];
	struct lock_time time = { .all = until - wait->since,
				  .slept = state_blocked(task) - wait->blocked,
				  .queued = state_waited(task) - wait->waiting };
	uint64_t off = time.slept + time.queued + task->spent[TASK_UNKNOWN] - wait->unknown;

	time.spun = time.all > off ? time.all - off : 0;
	return time;
}

/* Locks come and go: so many names are known in the next interval. */
enum { NAMES_MAX = 1 << 16 };

/* Adds what the wait has had so far to its row, and makes it count from 0 what its task spends. */
static void divide(struct locks_analysis *locks, struct lock_wait *wait, bool held)
{
	const struct state *state = &locks->pass->state;
	const struct state_task *task = &state->tasks[wait->task];
	struct lock_time time = locks_time(locks, wait, task->died ? task->died : state->now);
	bool whole = wait->since && wait->losses == state->losses && locks->by != LOCKS_BY_WAKER;
	/* Neither the CPU where a wait ends nor who ends it is known before. */
	struct lock_row *row =
		whole && (held || !locks->pass->filter.cpus) && pass_wants_since(locks->pass, task, wait->since) ?
			locks_row(locks, wait, (struct waker)WAKER_NONE) :
			NULL;

	if (row && held)
		row->held_all += time.all - wait->paid.all;
	else if (row)
		locks_add_time(&row->waited, &time, &wait->paid);
	if (row)
		wait->paid = time;
	wait->blocked -= state_blocked(task);
	wait->waiting -= state_waited(task);
	wait->unknown -= task->spent[TASK_UNKNOWN];
}

static void divide_all(struct locks_analysis *locks, const struct u64_map *map, bool held)
{
	struct state *state = &locks->pass->state;
	struct lock_wait *wait;
	size_t at = 0;
	uint64_t key;

	while ((wait = u64_map_next(map, &at, &key))) {
		if (!state->tasks[wait->task].died && wait->losses == state->losses)
			state_hold(state, wait->task);
		divide(locks, wait, held);
	}
}

void locks_divide(void *arg)
{
	struct locks_analysis *locks = arg;

	locks->losses = locks->pass->state.losses;
	divide_all(locks, &locks->waits, false);
	divide_all(locks, &locks->held, true);
}

/* The function that wanted the lock is shown if one of the waits has one. */
static void carry_waits(struct locks_analysis *locks, uint64_t losses, const struct u64_map *from, struct u64_map *to)
{
	struct lock_wait *wait, *moved;
	size_t at = 0;
	uint64_t key;

	while ((wait = u64_map_next(from, &at, &key))) {
		uint32_t task = state_moved(&locks->pass->state, wait->task);

		if (task == STATE_NO_TASK || wait->losses != losses)
			continue;
		moved = u64_map_add(to, locks_wait_key(wait->address, task));
		if (!moved) {
			locks->pass->failed = true;
			return;
		}
		*moved = *wait;
		moved->task = task;
		moved->losses = 0;
		locks->stacks |= moved->caller != 0;
	}
}

static void swap(struct u64_map *one, struct u64_map *other)
{
	struct u64_map map = *one;

	*one = *other;
	*other = map;
}

void locks_carry(void *arg, void *earlier)
{
	struct locks_analysis *locks = arg, *before = earlier;
	uint64_t *address, *moved, key;
	size_t at = 0;

	carry_waits(locks, before->losses, &before->waits, &locks->waits);
	carry_waits(locks, before->losses, &before->held, &locks->held);
	while ((address = u64_map_next(&before->calls, &at, &key))) {
		uint32_t task = state_moved(&locks->pass->state, (uint32_t)key);

		moved = task == STATE_NO_TASK ? NULL : u64_map_add(&locks->calls, task);
		locks->pass->failed |= task != STATE_NO_TASK && !moved;
		if (moved)
			*moved = *address;
	}
	if (before->names.len < NAMES_MAX)
		swap(&locks->names, &before->names);
	swap(&locks->callers, &before->callers);
	locks->contention = before->contention;
}
