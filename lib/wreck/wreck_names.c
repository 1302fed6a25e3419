// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/base/u64_map.h"
#include "lib/wreck/wreck_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Names of tasks: those that tracing has saved, and those of all tasks that were alive. */
enum { COMM = 16, SAVED_MAX = 1 << 20, SOME = 256 };

static bool add_name(struct wreck *wreck, struct u64_map *known, uint32_t pid, const char comm[COMM])
{
	uint8_t *seen = u64_map_add(known, pid);

	if (!seen)
		return false;
	if (*seen)
		return true;
	*seen = 1;
	wreck->facts.tasks++;
	return buf_addf(&wreck->names, "%" PRIu32 " %.*s\n", pid, (int)strnlen(comm, COMM), comm);
}

/* The names that tracing saved (struct saved_cmdlines_buffer), which stand behind it or where a pointer says. */
static bool add_saved(struct wreck *wreck, struct u64_map *known)
{
	const struct wreck_layout *layout = &wreck->layout;
	uint64_t symbol, saved = 0, pids, names, nr;
	uint32_t pid[SOME];
	char comm[COMM];

	if (!layout->names_map.found || !wreck_symbol(wreck, "savedcmd", &symbol) ||
	    !memory_u64(&wreck->memory, symbol, &saved) || !saved)
		return true;
	pids = wreck_at(wreck, saved, &layout->names_map);
	nr = wreck_at(wreck, saved, &layout->names_nr);
	names = layout->names_names.size ? wreck_at(wreck, saved, &layout->names_names) :
					   saved + layout->names_names.offset;
	nr = nr < SAVED_MAX ? nr : SAVED_MAX;
	for (uint64_t i = 0; i < nr && pids && names; i += SOME) {
		size_t some = nr - i < SOME ? (size_t)(nr - i) : SOME;

		if (!memory_read(&wreck->memory, pids + i * sizeof(*pid), pid, some * sizeof(*pid)))
			break;
		for (size_t j = 0; j < some; j++)
			if ((int32_t)pid[j] > 0 &&
			    memory_read(&wreck->memory, names + (i + j) * COMM, comm, sizeof(comm)) &&
			    !add_name(wreck, known, pid[j], comm))
				return false;
	}
	return true;
}

static bool add_task(struct wreck *wreck, struct u64_map *known, uint64_t task)
{
	const struct wreck_layout *layout = &wreck->layout;
	uint64_t pid = wreck_at(wreck, task, &layout->task_pid);
	char comm[COMM];

	if (!pid || pid > INT32_MAX ||
	    !memory_read(&wreck->memory, task + layout->task_comm.offset, comm, sizeof(comm)))
		return true;
	return add_name(wreck, known, (uint32_t)pid, comm);
}

/* The threads of a process hang on its signal structure. */
static bool add_threads(struct wreck *wreck, struct u64_map *known, uint64_t task)
{
	const struct wreck_layout *layout = &wreck->layout;
	uint64_t group = wreck_at(wreck, task, &layout->task_group), thread;
	struct wreck_walk walk;

	if (!group || !layout->task_threads.found || !layout->signal_threads.found ||
	    !wreck_walk_begin(&walk, wreck, group + layout->signal_threads.offset, &layout->task_threads,
			      WRECK_TASKS_MAX))
		return add_task(wreck, known, task);
	while (wreck_walk_next(&walk, &thread))
		if (!add_task(wreck, known, thread))
			return false;
	return true;
}

static bool add_alive(struct wreck *wreck, struct u64_map *known)
{
	const struct layout_member *tasks = &wreck->layout.task_tasks;
	struct wreck_walk walk;
	uint64_t first, task;

	if (!tasks->found || !wreck_symbol(wreck, "init_task", &first) ||
	    !wreck_walk_begin(&walk, wreck, first + tasks->offset, tasks, WRECK_TASKS_MAX))
		return true;
	while (wreck_walk_next(&walk, &task))
		if (!add_threads(wreck, known, task))
			return false;
	return true;
}

int wreck_names_read(struct wreck *wreck, struct fail *fail)
{
	struct u64_map known;
	bool ok;

	u64_map_init(&known, sizeof(uint8_t));
	ok = add_saved(wreck, &known) && add_alive(wreck, &known);
	u64_map_release(&known);
	return ok ? 0 : fail_memory(fail);
}
