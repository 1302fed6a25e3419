// SPDX-License-Identifier: LGPL-2.1-or-later
/* The row in which a call counts, and the list of the calls that tasks are in. */
#include "lib/answers/syscalls/syscalls_internal.h"

#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/reader.h"

static inline uint64_t row_key(struct syscalls_analysis *syscalls, int64_t number, int64_t error, uint32_t task,
			       uint32_t cpu, uint32_t file)
{
	const struct context *context = syscalls->pass->reader->buffers[0].context;
	const struct state *state = &syscalls->pass->state;
	int32_t pid = state->tasks[task].pid;
	enum who_part part = WHO_PROCESS;

	switch ((enum syscalls_by)syscalls->options.rows.by) {
	case SYSCALLS_BY_CALL:
		return (uint64_t)number;
	case SYSCALLS_BY_TASK:
		return task;
	case SYSCALLS_BY_PROCESS:
		return who_is(context, WHO_PROCESS, pid, state->now, NULL);
	case SYSCALLS_BY_ERROR:
		return (uint64_t)number << 16 | (uint64_t)error;
	case SYSCALLS_BY_CPU:
		return cpu;
	case SYSCALLS_BY_PROGRAM:
	case SYSCALLS_BY_UNIT:
	case SYSCALLS_BY_CONTAINER:
	case SYSCALLS_BY_POD:
	case SYSCALLS_BY_CGROUP:
	case SYSCALLS_BY_USER:
		part = syscalls_part((enum syscalls_by)syscalls->options.rows.by);
		return who_is(context, part, pid, state->now, NULL);
	case SYSCALLS_BY_FILE:
		return file;
	}
	return 0;
}

/* Finds or adds a row. To add one moves the others. */
static struct call_row *look_up_row(struct syscalls_analysis *syscalls, uint64_t key)
{
	struct call_row *row = u64_map_find(&syscalls->rows, key);

	if (!row) {
		memset(syscalls->near_rows, 0, sizeof(syscalls->near_rows));
		row = u64_map_add(&syscalls->rows, key);
	}
	syscalls->pass->failed |= !row;
	syscalls->near_rows[key % SYSCALLS_NEAR_ROWS].key = key;
	syscalls->near_rows[key % SYSCALLS_NEAR_ROWS].row = row;
	return row;
}

struct call_row *syscalls_find_row(struct syscalls_analysis *syscalls, int64_t number, int64_t error, uint32_t task,
				   uint32_t cpu, uint32_t file)
{
	uint64_t key = row_key(syscalls, number, error, task, cpu, file);
	struct call_row *row = syscalls->near_rows[key % SYSCALLS_NEAR_ROWS].row;

	if (__builtin_expect(!row || syscalls->near_rows[key % SYSCALLS_NEAR_ROWS].key != key, 0))
		row = look_up_row(syscalls, key);
	if (!row)
		return NULL;
	if (!row->calls) {
		row->number = number;
		row->error = error;
		row->task = task;
		row->cpu = cpu;
	}
	return row;
}

bool syscalls_add_calls(struct syscalls_analysis *syscalls, uint32_t task)
{
	while (syscalls->nr_calls <= task) {
		if (!vec_push(syscalls->calls, syscalls->nr_calls)) {
			syscalls->pass->failed = true;
			return false;
		}
	}
	return true;
}
