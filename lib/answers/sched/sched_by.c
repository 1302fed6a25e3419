// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/sched/sched_by_internal.h"

#include <stdlib.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/sched/sched_counts_internal.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"

struct group {
	uint64_t spent[TASK_MODES];
	struct sched_counts counts;
};

struct sched_by {
	struct pass *pass;
	enum who_part part;
	struct u64_map groups; /* by the number that who_is() gives: struct group */
};

static void spent(void *arg, uint32_t who, enum task_mode mode, uint64_t ns)
{
	struct sched_by *by = arg;
	struct group *group;

	/* Of a choice of tasks, nothing was spent in the groups of others. */
	if (!ns)
		return;
	group = u64_map_add(&by->groups, who);
	by->pass->failed |= !group;
	if (group)
		group->spent[mode] += ns;
}

struct sched_by *sched_by_new(struct pass *pass, enum who_part part)
{
	struct sched_by *by = calloc(1, sizeof(*by));

	if (!by)
		return NULL;
	by->pass = pass;
	by->part = part;
	u64_map_init(&by->groups, sizeof(struct group));
	pass_follow_groups(pass, part, spent, by);
	return by;
}

void sched_by_free(struct sched_by *by)
{
	struct group *group;
	size_t at = 0;
	uint64_t who;

	if (!by)
		return;
	while ((group = u64_map_next(&by->groups, &at, &who)))
		samples_release(&group->counts.delay);
	u64_map_release(&by->groups);
	free(by);
}

struct sched_counts *sched_by_counts(struct sched_by *by, uint32_t task)
{
	struct group *group = u64_map_add(&by->groups, pass_group(by->pass, by->part, task));

	by->pass->failed |= !group;
	return group ? &group->counts : NULL;
}

#define GROUP_COLUMNS(X)                                                                                      \
	X("WHO", TEXT, "who", BRIEF | SAME, table_cell, name)                                                 \
	X("PID", NUMBER, "pid", BRIEF | SAME | OF_PID, table_cell_known_s64, of_process && who, (int64_t)who) \
	X("RUN", TIME, NULL, BRIEF | ADDS, table_cell_u64, spent[TASK_RUNNING])                               \
	X("WAIT", TIME, NULL, BRIEF | ADDS, table_cell_u64,                                                   \
	  spent[TASK_PREEMPTED] + spent[TASK_WAKING] + spent[TASK_QUEUED])                                    \
	COUNTS_COLUMNS(X)

enum { OF_PID = WHEN };

static const struct table_column columns[] = COLUMNS(GROUP_COLUMNS);

static void put_group(const struct sched_by *by, struct table *table, uint32_t who, const struct group *group)
{
	const struct sched_counts *counts = &group->counts;
	const uint64_t *spent = group->spent;
	struct percentiles delay = percentiles_of(&counts->delay);
	bool migrates = by->pass->state.events[STATE_MIGRATE], of_process = by->part == WHO_PROCESS;
	const char *name = pass_group_text(by->pass, by->part, who);

	table_attach(table, &counts->delay);
	GROUP_COLUMNS(CELL)
}

void sched_by_put(struct sched_by *by, struct findings *findings)
{
	struct table *table = findings_table(
		findings, "groups",
		"tasks together: how long they ran, waited for a CPU and slept, summed over threads; the "
		"delay from waking until a task ran",
		"run", columns);
	const struct group *group;
	size_t at = 0;
	uint64_t who;

	if (!table)
		return;
	pass_group_head(findings, by->part, 0);
	findings_show(findings, OF_PID, by->part == WHO_PROCESS);
	while ((group = u64_map_next(&by->groups, &at, &who)))
		put_group(by, table, (uint32_t)who, group);
	pass_forget_unseen(by->pass, findings, &(struct pass_unseen){ "wakeups", PASS_WAKES }, 1);
}
