// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a system call on a futex is: its number, whether it waits, and for what. */
#include "lib/answers/locks/locks_internal.h"

#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/uapi/names.h"

/* The numbers of mips end at 7000. */
enum { CALLS_MAX = 7000 };

enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, PRIVATE = 128, OPERATION = 0x3f };

void locks_find_futex(struct locks_analysis *locks)
{
	for (int64_t i = 0; locks->nr_futex < LOCKS_CALLS && i < CALLS_MAX; i++) {
		const char *name = system_call_name(locks->pass->machine, i);

		if (name && (!strcmp(name, "futex") || !strcmp(name, "futex_time64")))
			locks->futex[locks->nr_futex++] = i;
	}
}

bool locks_futex_waits(uint64_t operation)
{
	static const uint64_t waiting =
		1 << WAIT | 1 << LOCK_PI | 1 << WAIT_BITSET | 1 << WAIT_REQUEUE_PI | 1 << LOCK_PI2;

	return waiting >> (operation & OPERATION) & 1;
}

bool locks_futex_is_mutex(uint64_t operation)
{
	return (1 << WAIT | 1 << LOCK_PI | 1 << LOCK_PI2) >> (operation & OPERATION) & 1;
}

/*
 * The kernel clears the TID of a thread that ends and wakes who waits for that, as pthread_join() does: the value is
 * the TID of a thread of the same process, and the futex is not private, because the kernel wakes it as a shared one.
 * (A mutex that has the TID of its owner also has the bit of its waiters.) Where the file does not say which process a
 * task belongs to, a small number is no TID: 0 to 2 are states of a lock.
 */
bool locks_futex_joins(const struct locks_analysis *locks, uint32_t task, uint64_t operation, uint32_t value)
{
	const struct tasks *tasks = locks->pass->reader->buffers[0].context->tasks;
	uint64_t kind = operation & OPERATION;
	int32_t own, other;

	if ((kind != WAIT && kind != WAIT_BITSET) || operation & PRIVATE || value <= 2 || value > INT32_MAX)
		return false;
	if (state_task_once(&locks->pass->state, (int32_t)value) == STATE_NO_TASK)
		return false;
	own = task_tgid(tasks, locks->pass->state.tasks[task].pid);
	other = task_tgid(tasks, (int32_t)value);
	return own == other || !own || !other;
}
