// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/tasks_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/sorts.h"
#include "lib/base/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table of tasks: in the order of their beginning, or as a tree. */

enum { KTHREADD = 2, INDENT = 2, DEEPEST = 20 };

enum column {
	TREE,
	COMM,
	PID,
	DEPTH,
	PARENT,
	PARENT_COMM,
	PARENT_PID,
	KIND,
	AT_LEAST,
	LIFE,
	RUN,
	EXIT,
	EXIT_STATUS,
	SIGNAL,
	CHILDREN,
	EXECS,
	RENAMES,
	BEGAN,
	ENDED,
	END,
	PROGRAM,
	COLUMNS
};
_Static_assert((int)COLUMNS <= (int)TABLE_COLUMNS_MAX, "as many as a table has");

static const struct table_column columns[COLUMNS] = {
	[TREE] = { "TASK", TABLE_TEXT, "tree" },
	[COMM] = { "TASK", TABLE_TEXT, "comm" },
	[PID] = { "PID", TABLE_NUMBER, NULL },
	[DEPTH] = { "DEPTH", TABLE_NUMBER, NULL },
	[PARENT] = { "PARENT", TABLE_TEXT, NULL },
	[PARENT_COMM] = { "PARENT COMM", TABLE_TEXT, "parent_comm" },
	[PARENT_PID] = { "PARENT PID", TABLE_NUMBER, "parent_pid" },
	[KIND] = { "KIND", TABLE_TEXT, NULL },
	[AT_LEAST] = { "", TABLE_TEXT, NULL },
	[LIFE] = { "LIFE", TABLE_TIME, NULL },
	[RUN] = { "RUN", TABLE_TIME, NULL },
	[EXIT] = { "EXIT", TABLE_TEXT, NULL },
	[EXIT_STATUS] = { "STATUS", TABLE_NUMBER, "exit_status" },
	[SIGNAL] = { "SIGNAL", TABLE_NUMBER, "exit_signal" },
	[CHILDREN] = { "CHILDREN", TABLE_COUNT, NULL },
	[EXECS] = { "EXECS", TABLE_COUNT, NULL },
	[RENAMES] = { "RENAMES", TABLE_COUNT, NULL },
	[BEGAN] = { "BEGAN", TABLE_NUMBER, NULL },
	[ENDED] = { "ENDED", TABLE_NUMBER, NULL },
	[END] = { "END", TABLE_TEXT, NULL },
	[PROGRAM] = { "PROGRAM", TABLE_TEXT, NULL },
};

const struct analysis_sorts tasks_sorts = { columns, COLUMNS,
					    1 << COMM | 1 << DEPTH | 1 << PARENT_COMM | 1 << PARENT_PID |
						    1 << EXIT_STATUS | 1 << SIGNAL | 1 << RENAMES | 1 << END };

static const char *kind_of(const struct life *life)
{
	if (life->parent_pid == KTHREADD)
		return "kernel";
	if (!(life->known & LIFE_FLAGS))
		return NULL;
	return life_is_thread(life) ? "thread" : "process";
}

static void put_name(const struct tasks_analysis *tasks, const struct life *life, unsigned depth, struct table *table)
{
	char text[DEEPEST * INDENT + 64];

	snprintf(text, sizeof(text), "%*s%s", (int)(depth < DEEPEST ? depth : DEEPEST) * INDENT, "",
		 tasks_name(tasks, life));
	table_cell(table, text);
	table_cell(table, tasks_name(tasks, life));
	table_cell_s64(table, life->pid);
	if (tasks->options.tree)
		table_cell_u64(table, depth);
	else
		table_cell_nothing(table);
}

static void put_parent(const struct tasks_analysis *tasks, const struct life *life, struct table *table)
{
	if (life->parent_pid < 0) {
		table_cell_nothing(table);
		table_cell_nothing(table);
		table_cell_nothing(table);
		return;
	}
	table_cellf(table, "%s-%" PRId32, tasks_parent_name(tasks, life), life->parent_pid);
	table_cell(table, tasks_parent_name(tasks, life));
	table_cell_s64(table, life->parent_pid);
}

static void put_status(const struct life *life, struct table *table)
{
	if (life->status == LIFE_STATUS_UNKNOWN) {
		table_cell_nothing(table);
		table_cell_nothing(table);
		table_cell_nothing(table);
	} else if (life->status > LIFE_BY_SIGNAL) {
		table_cellf(table, "signal %d", life->status - LIFE_BY_SIGNAL);
		table_cell_nothing(table);
		table_cell_u64(table, life->status - LIFE_BY_SIGNAL);
	} else {
		table_cellf(table, "%d", life->status);
		table_cell_u64(table, life->status);
		table_cell_nothing(table);
	}
}

static void put_time(struct table *table, bool known, uint64_t ts)
{
	if (known)
		table_cell_decimal(table, (int64_t)ts, 9);
	else
		table_cell(table, "-");
}

static void put_program(const struct tasks_analysis *tasks, const struct life *life, struct table *table)
{
	const char *path;
	size_t len;

	if (life->program == LIFE_NONE) {
		table_cell_nothing(table);
		return;
	}
	path = lives_program(tasks->lives, life->program, &len);
	table_cell_mem(table, path, len);
}

/* What it ran; "-" if no event shows it. */
static void put_run(const struct tasks_analysis *tasks, uint32_t number, struct table *table)
{
	const struct tasks_own *own = number < tasks->nr_owns ? &tasks->owns[number] : NULL;
	const struct state *state = &tasks->pass->state;

	if (!own || own->task == STATE_NO_TASK || !state->events[STATE_SWITCH])
		table_cell(table, "-");
	else
		table_cell_u64(table, own->ran + state_spent(state, own->task, TASK_RUNNING));
}

static void put_text(struct table *table, const char *text)
{
	if (text)
		table_cell(table, text);
	else
		table_cell_nothing(table);
}

static void put_row(const struct tasks_analysis *tasks, uint32_t number, unsigned depth, struct table *table)
{
	static const char *const ends[] = {
		[TASKS_ENDED] = "ended", [TASKS_ALIVE] = "alive", [TASKS_END_UNKNOWN] = "unknown"
	};
	const struct life *life = lives_at(tasks->lives, number);

	put_name(tasks, life, depth, table);
	put_parent(tasks, life, table);
	put_text(table, kind_of(life));
	put_text(table, life_is_whole(life) ? NULL : ">");
	table_cell_u64(table, tasks_lasted(tasks, life));
	put_run(tasks, number, table);
	put_status(life, table);
	table_cell_u64(table, life->started);
	table_cell_u64(table, life->execs);
	table_cell_u64(table, life->renames);
	put_time(table, life->known & LIFE_BEGAN, life->began);
	put_time(table, life->known & LIFE_ENDED, life->ended);
	table_cell(table, ends[tasks_end_of(tasks, life)]);
	put_program(tasks, life, table);
}

/* A task that no event is about: only its name and PID are known. */
static void put_root(const struct tasks_analysis *tasks, uint32_t number, struct table *table)
{
	const struct life *life = lives_at(tasks->lives, number);

	put_name(tasks, life, 0, table);
	for (int i = PARENT; i < CHILDREN; i++)
		table_cell_nothing(table);
	table_cell_u64(table, life->started);
	for (int i = EXECS; i < COLUMNS; i++)
		table_cell_nothing(table);
}

static void put_in_order(const struct tasks_analysis *tasks, struct table *table)
{
	for (uint32_t i = 0; i < tasks->nr_owns; i++)
		if (tasks->owns[i].wanted)
			put_row(tasks, i, 0, table);
}

/* The children of each task. The numbers are one more than the lives'; 0 is nobody, the parent of the roots. */
struct branch {
	uint32_t child, last, next;
	bool shown;
	unsigned depth;
};

static bool is_wanted(const struct tasks_analysis *tasks, uint32_t number)
{
	return number < tasks->nr_owns && tasks->owns[number].wanted;
}

static void grow(const struct tasks_analysis *tasks, struct branch *branches, uint32_t nr)
{
	/* A parent has a lower number than its children. */
	for (uint32_t i = nr; i-- > 0;) {
		uint32_t parent = lives_at(tasks->lives, i)->parent;

		branches[i + 1].shown |= is_wanted(tasks, i);
		if (branches[i + 1].shown && parent != LIFE_NONE &&
		    !(lives_at(tasks->lives, parent)->known & LIFE_TOLD))
			branches[parent + 1].shown |= tasks_wants(tasks, lives_at(tasks->lives, parent), NULL);
	}
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parent = lives_at(tasks->lives, i)->parent;
		struct branch *of = &branches[parent == LIFE_NONE ? 0 : parent + 1];

		branches[i + 1].depth = of->depth + of->shown;
		if (of->last)
			branches[of->last].next = i + 1;
		else
			of->child = i + 1;
		of->last = i + 1;
	}
}

/* Goes through the tree without recursion: a chain of tasks that start each other may have any length. */
static void put_tree(struct tasks_analysis *tasks, struct table *table)
{
	uint32_t nr = (uint32_t)lives_count(tasks->lives), at;
	struct branch *branches = calloc((size_t)nr + 1, sizeof(*branches));

	if (!branches) {
		tasks->pass->failed = true;
		return;
	}
	grow(tasks, branches, nr);
	for (at = branches[0].child; at;) {
		const struct life *life = lives_at(tasks->lives, at - 1);

		if (branches[at].shown && life->known & LIFE_TOLD)
			put_row(tasks, at - 1, branches[at].depth, table);
		else if (branches[at].shown)
			put_root(tasks, at - 1, table);
		if (branches[at].child) {
			at = branches[at].child;
			continue;
		}
		while (at && !branches[at].next) {
			uint32_t parent = lives_at(tasks->lives, at - 1)->parent;

			at = parent == LIFE_NONE ? 0 : parent + 1;
		}
		at = at ? branches[at].next : 0;
	}
	free(branches);
}

/* Leaves out the columns that have nothing to say in text. */
static void hide(const struct tasks_analysis *tasks, struct table *table)
{
	bool tree = tasks->options.tree, kinds = false, statuses = false, cut = false;

	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);

		if (!tasks->owns[i].wanted)
			continue;
		kinds |= kind_of(life) != NULL;
		statuses |= life->status != LIFE_STATUS_UNKNOWN;
		cut |= !life_is_whole(life);
	}
	table->text_only = 1 << TREE | 1 << PARENT | 1 << AT_LEAST | 1 << EXIT;
	table->data_only = tasks_sorts.data_only;
	if (tree)
		table->data_only |= 1 << PARENT;
	if (!kinds)
		table->data_only |= 1 << KIND;
	if (!cut)
		table->data_only |= 1 << AT_LEAST;
	if (!statuses)
		table->data_only |= 1 << EXIT;
	if (!tasks->pass->state.events[STATE_SWITCH])
		table->data_only |= 1 << RUN;
	table->spare = 1 << ENDED | 1 << BEGAN | 1 << EXECS | 1 << CHILDREN | 1 << KIND | 1 << RUN;
}

void tasks_put_rows(struct tasks_analysis *tasks, struct findings *findings)
{
	const char *title = tasks->options.tree ? "tasks, below the tasks that started them" :
						  "tasks that began, executed a program or ended";
	struct table *table = findings_table(findings, "tasks", title, NULL, columns, COLUMNS);

	if (!table)
		return;
	findings_ordered(findings);
	if (tasks->options.tree)
		put_tree(tasks, table);
	else
		put_in_order(tasks, table);
	hide(tasks, table);
}
