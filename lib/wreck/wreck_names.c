// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/base/u64_map.h"
#include "lib/wreck/wreck_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Names of tasks: those that tracing has saved, and those of all tasks that were alive. */
enum { COMM = 16, SAVED_MAX = 1 << 20 };

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

	if (!layout->names_map.found || !image_symbol(&wreck->symbols, "savedcmd", &symbol) ||
	    !memory_u64(&wreck->memory, symbol, &saved) || !saved)
		return true;
	pids = wreck_at(wreck, saved, &layout->names_map);
	nr = wreck_at(wreck, saved, &layout->names_nr);
	names = layout->names_names.size ? wreck_at(wreck, saved, &layout->names_names) :
					   saved + layout->names_names.offset;
	for (uint64_t i = 0; i < nr && i < SAVED_MAX && pids && names; i++) {
		char comm[COMM];
		uint32_t pid;

		if (!memory_u32(&wreck->memory, pids + i * sizeof(pid), &pid))
			break;
		if (!pid || (int32_t)pid < 0 || !memory_read(&wreck->memory, names + i * COMM, comm, sizeof(comm)))
			continue;
		if (!add_name(wreck, known, pid, comm))
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
	uint64_t group = wreck_at(wreck, task, &layout->task_group), head = group + layout->signal_threads.offset, link;

	if (!group || !layout->task_threads.found || !layout->signal_threads.found ||
	    !memory_u64(&wreck->memory, head, &link))
		return add_task(wreck, known, task);
	for (size_t i = 0; link && link != head && i < WRECK_TASKS_MAX; i++) {
		if (!add_task(wreck, known, wreck_owner(link, &layout->task_threads)))
			return false;
		if (!memory_u64(&wreck->memory, link, &link))
			break;
	}
	return true;
}

static bool add_alive(struct wreck *wreck, struct u64_map *known)
{
	const struct wreck_layout *layout = &wreck->layout;
	uint64_t first, head, link;

	if (!layout->task_tasks.found || !image_symbol(&wreck->symbols, "init_task", &first))
		return true;
	head = first + layout->task_tasks.offset;
	if (!memory_u64(&wreck->memory, head, &link))
		return true;
	for (size_t i = 0; link && link != head && i < WRECK_TASKS_MAX; i++) {
		if (!add_threads(wreck, known, wreck_owner(link, &layout->task_tasks)))
			return false;
		if (!memory_u64(&wreck->memory, link, &link))
			break;
	}
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
