/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_LAST_TASKS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_LAST_TASKS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/meaning/event/event.h"

/*
 * The task of each CPU's last event. Most events of a CPU are of the task of the one before, and what has to be noted
 * of a task, or of it on a CPU, is noted already. All zero: there was no event.
 */
struct last_tasks {
	uint64_t keys[64]; /* CPUs share them; a number of keys that is a power of two */
};

/* Takes the next event. Returns whether it is of the same CPU and task as the one before with its key. */
static inline bool last_tasks_same(struct last_tasks *tasks, const struct event *event)
{
	uint64_t key = (uint64_t)(event->cpu + 1) << 32 | (uint32_t)event->pid,
		 *last = &tasks->keys[event->cpu % (sizeof(tasks->keys) / sizeof(tasks->keys[0]))];
	bool same = *last == key;

	*last = key;
	return __builtin_expect(same, 1);
}

#endif
