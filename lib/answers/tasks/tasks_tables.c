// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tasks/tasks_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/lives.h"
#include "lib/meaning/reader/reader.h"

/* The table of tasks: in the order of their beginning, or as a tree. */

enum { KTHREADD = 2, INDENT = 2, DEEPEST = 20 };

enum { OF_PARENTS = WHEN, OF_KINDS = WHEN << 1, OF_CUT = WHEN << 2, OF_SWITCHES = WHEN << 3, OF_STATUS = WHEN << 4 };

/* Of a task that no event is about (`told` false) only its name, its PID and the number of its children are known. */
#define TASK_COLUMNS(X)                                                                                       \
	X("TASK", TEXT, "tree", TEXT_ONLY, table_cellf, "%*s%s", indent, "", tasks_name(tasks, life))         \
	X("TASK", TEXT, "comm", DATA, table_cell, tasks_name(tasks, life))                                    \
	X("PID", NUMBER, NULL, 0, table_cell_s64, life->pid)                                                  \
	X("DEPTH", NUMBER, NULL, DATA, put_number, tasks->options.tree, depth)                                \
	X("PARENT", TEXT, NULL, TEXT_ONLY | OF_PARENTS, put_parent, tasks, life, parent)                      \
	X("PARENT COMM", TEXT, "parent_comm", DATA, put_text, parent ? tasks_parent_name(tasks, life) : NULL) \
	X("PARENT PID", NUMBER, "parent_pid", DATA, put_number, parent, (uint64_t)life->parent_pid)           \
	X("KIND", TEXT, NULL, SPARE | OF_KINDS, put_text, told ? kind_of(life) : NULL)                        \
	X("", TEXT, NULL, TEXT_ONLY | OF_CUT, put_text, told && !life_is_whole(life) ? ">" : NULL)            \
	X("LIFE", TIME, NULL, 0, put_number, told, told ? tasks_lasted(tasks, life) : 0)                      \
	X("RUN", TIME, NULL, SPARE | OF_SWITCHES, put_run, tasks, number, told)                               \
	X("EXIT", TEXT, NULL, TEXT_ONLY | OF_STATUS, put_exit, exited, life->status)                          \
	X("STATUS", NUMBER, "exit_status", DATA, put_number, exited && !killed, life->status)                 \
	X("SIGNAL", NUMBER, "exit_signal", DATA, put_number, killed, life->status - LIFE_BY_SIGNAL)           \
	X("CHILDREN", COUNT, NULL, SPARE, table_cell_u64, life->started)                                      \
	X("EXECS", COUNT, NULL, SPARE, put_number, told, life->execs)                                         \
	X("RENAMES", COUNT, NULL, DATA, put_number, told, life->renames)                                      \
	X("BEGAN", NUMBER, NULL, SPARE, put_time, told, life->known &LIFE_BEGAN, life->began)                 \
	X("ENDED", NUMBER, NULL, SPARE, put_time, told, life->known &LIFE_ENDED, life->ended)                 \
	X("END", TEXT, NULL, DATA, put_text, told ? ends[tasks_end_of(tasks, life)] : NULL)                   \
	X("PROGRAM", TEXT, NULL, 0, put_program, tasks, told ? life->program : LIFE_NONE)

const struct table_column tasks_columns[] = COLUMNS(TASK_COLUMNS);

static const char *kind_of(const struct life *life)
{
	if (life->parent_pid == KTHREADD)
		return "kernel";
	if (!(life->known & LIFE_FLAGS))
		return NULL;
	return life_is_thread(life) ? "thread" : "process";
}

static void put_number(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_cell_u64(table, value);
	else
		table_cell_nothing(table);
}

static void put_text(struct table *table, const char *text)
{
	if (text)
		table_cell(table, text);
	else
		table_cell_nothing(table);
}

static void put_parent(struct table *table, const struct tasks_analysis *tasks, const struct life *life, bool known)
{
	if (known)
		table_cellf(table, "%s-%" PRId32, tasks_parent_name(tasks, life), life->parent_pid);
	else
		table_cell_nothing(table);
}

static void put_exit(struct table *table, bool known, uint16_t status)
{
	if (!known)
		table_cell_nothing(table);
	else if (status > LIFE_BY_SIGNAL)
		table_cellf(table, "signal %d", status - LIFE_BY_SIGNAL);
	else
		table_cellf(table, "%d", status);
}

static void put_time(struct table *table, bool told, bool known, uint64_t ts)
{
	if (known)
		table_cell_moment(table, ts);
	else
		put_text(table, told ? "-" : NULL);
}

static void put_program(struct table *table, const struct tasks_analysis *tasks, uint32_t program)
{
	const char *path;
	size_t len;

	if (program == LIFE_NONE) {
		table_cell_nothing(table);
		return;
	}
	path = lives_program(tasks->lives, program, &len);
	table_cell_mem(table, path, len);
}

/* What it ran; "-" if no event shows it. */
static void put_run(struct table *table, const struct tasks_analysis *tasks, uint32_t number, bool told)
{
	const struct tasks_own *own = number < tasks->nr_owns ? &tasks->owns[number] : NULL;
	const struct state *state = &tasks->pass->state;

	if (!told)
		table_cell_nothing(table);
	else if (!own || own->task == STATE_NO_TASK || !state->events[STATE_SWITCH])
		table_cell(table, "-");
	else
		table_cell_u64(table, own->ran + (own->ended ? 0 : state_spent(state, own->task, TASK_RUNNING)));
}

static void put_row(const struct tasks_analysis *tasks, uint32_t number, unsigned depth, struct table *table)
{
	static const char *const ends[] = {
		[TASKS_ENDED] = "ended", [TASKS_ALIVE] = "alive", [TASKS_END_UNKNOWN] = "unknown"
	};
	const struct life *life = lives_at(tasks->lives, number);
	int indent = (int)(depth < DEEPEST ? depth : DEEPEST) * INDENT;
	bool told = life->known & LIFE_TOLD, parent = told && life->parent_pid >= 0;
	bool exited = told && life->status != LIFE_STATUS_UNKNOWN, killed = exited && life->status > LIFE_BY_SIGNAL;

	TASK_COLUMNS(CELL)
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

		if (branches[at].shown)
			put_row(tasks, at - 1, life->known & LIFE_TOLD ? branches[at].depth : 0, table);
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
static void hide(const struct tasks_analysis *tasks, struct findings *findings)
{
	bool kinds = false, statuses = false, cut = false;

	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);

		if (!tasks->owns[i].wanted)
			continue;
		kinds |= kind_of(life) != NULL;
		statuses |= life->status != LIFE_STATUS_UNKNOWN;
		cut |= !life_is_whole(life);
	}
	findings_show(findings, OF_PARENTS, !tasks->options.tree);
	findings_show(findings, OF_KINDS, kinds);
	findings_show(findings, OF_CUT, cut);
	findings_show(findings, OF_STATUS, statuses);
	findings_show(findings, OF_SWITCHES, tasks->pass->state.events[STATE_SWITCH]);
}

static const struct pass_unseen unseen[] = {
	{ "children", "sched:sched_process_fork,task:task_newtask" },
	{ "execs", "sched:sched_process_exec" },
	{ "renames", "task:task_rename" },
};

/* The tables. */
static void put_rows(struct tasks_analysis *tasks, struct findings *findings)
{
	const char *title = tasks->options.tree ? "tasks, below the tasks that started them" :
						  "tasks that began, executed a program or ended";
	struct table *table = findings_table(findings, "tasks", title, NULL, tasks_columns);

	if (!table)
		return;
	findings_ordered(findings);
	if (tasks->options.tree)
		put_tree(tasks, table);
	else
		put_in_order(tasks, table);
	pass_forget_unseen(tasks->pass, findings, unseen, array_size(unseen));
	hide(tasks, findings);
}

#define PROGRAM_COLUMNS(X)                                                                       \
	X("PROGRAM", TEXT, NULL, SAME, put_program, tasks, i)                                    \
	X("RUNS", COUNT, NULL, ADDS, table_cell_u64, program->execs)                             \
	X("RUNNING", COUNT, NULL, SPARE, table_cell_known, ends, program->running)               \
	X("FAILED", COUNT, NULL, ADDS | SPARE, table_cell_known, known, program->failed)         \
	X("TOTAL", TIME, NULL, 0, table_cell_known, ends || program->runs.nr, program->runs.sum) \
	SPREAD(X, "", "", SPARE, 0, 0, runs)                                                     \
	X("MAX AT", NUMBER, "max_at", SPARE, table_cell_when, program->longest.to)

static const struct table_column program_columns[] = COLUMNS(PROGRAM_COLUMNS);

static void put_programs(const struct tasks_analysis *tasks, struct findings *findings)
{
	struct table *table = findings_table(findings, "programs", "programs: how often and how long they ran", "total",
					     program_columns);
	bool known = tasks_know_status(tasks), ends = tasks->ends_known;

	for (uint32_t i = 0; table && i < tasks->nr_programs; i++) {
		const struct tasks_program *program = &tasks->programs[i];
		struct percentiles runs = percentiles_of(&program->runs);

		if (!program->execs)
			continue;
		table_attach(table, &program->runs);
		PROGRAM_COLUMNS(CELL)
	}
}

#define PARENT_COLUMNS(X)                                                               \
	X("TASK", TEXT, "comm", 0, table_cell, tasks_name(tasks, life))                 \
	X("PID", NUMBER, NULL, SAME, table_cell_s64, life->pid)                         \
	X("STARTED", COUNT, NULL, ADDS, table_cell_u64, parent->started)                \
	X("THREADS", COUNT, NULL, ADDS | SPARE, table_cell_u64, parent->threads)        \
	X("ENDED", COUNT, NULL, ADDS, table_cell_known, ends, parent->ended)            \
	X("FAILED", COUNT, NULL, ADDS | SPARE, table_cell_known, known, parent->failed) \
	X("TOTAL", TIME, NULL, 0, table_cell_known, ends, parent->lasted.sum)           \
	SPREAD(X, "", "", SPARE, 0, 0, lasted)

static const struct table_column parent_columns[] = COLUMNS(PARENT_COLUMNS);

/* Adds up the wanted tasks that each task started. Returns false without memory. */
static bool count_parents(struct tasks_analysis *tasks)
{
	struct u64_map of; /* by number of the parent's life: index + 1 */
	bool ok = true;

	u64_map_init(&of, sizeof(uint32_t));
	for (uint32_t i = 0; ok && i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);
		struct tasks_parent *parent;
		uint32_t *index;

		if (!tasks->owns[i].wanted || life->parent == LIFE_NONE)
			continue;
		index = u64_map_add(&of, life->parent);
		parent = !index ? NULL :
			 *index ? &tasks->parents[*index - 1] :
				  vec_push(tasks->parents, tasks->nr_parents);
		ok = parent;
		if (!ok)
			break;
		*index = (uint32_t)(parent - tasks->parents) + 1;
		parent->life = life->parent;
		parent->started++;
		parent->threads += life_is_thread(life);
		parent->ended += (life->known & LIFE_ENDED) != 0;
		parent->failed += tasks_failed(life);
		if (life_is_whole(life))
			samples_add(&parent->lasted, &tasks->pass->budget, tasks_lasted(tasks, life));
	}
	u64_map_release(&of);
	return ok;
}

static void put_parents(struct tasks_analysis *tasks, struct findings *findings)
{
	struct table *table = findings_table(findings, "parents", "tasks that started others, and how long these lived",
					     "started", parent_columns);
	bool known = tasks_know_status(tasks), ends = tasks->ends_known;

	tasks->pass->failed |= !count_parents(tasks);
	for (size_t i = 0; table && i < tasks->nr_parents; i++) {
		const struct tasks_parent *parent = &tasks->parents[i];
		const struct life *life = lives_at(tasks->lives, parent->life);
		struct percentiles lasted = percentiles_of(&parent->lasted);

		PARENT_COLUMNS(CELL)
	}
}

/* One life, from the fork to the end. */
struct tasks_slow {
	uint64_t lasted, run, waiting, blocked;
	uint32_t number;
};

static struct tasks_slow slow_of(const struct tasks_analysis *tasks, uint32_t number)
{
	const struct tasks_own *own = &tasks->owns[number];
	const struct state *state = &tasks->pass->state;
	struct tasks_slow slow = { .lasted = tasks_lasted(tasks, lives_at(tasks->lives, number)),
				   .run = own->ran,
				   .number = number };

	if (own->task == STATE_NO_TASK)
		return slow;
	slow.waiting = state_waited(&state->tasks[own->task]);
	slow.blocked = state_blocked(&state->tasks[own->task]);
	return slow;
}

#define SLOW_COLUMNS(X)                                                                                       \
	X("LASTED", TIME, NULL, 0, table_cell_u64, slow->lasted)                                              \
	X("TASK", TEXT, "comm", KEEP, table_cell, tasks_name(tasks, life))                                    \
	X("PID", NUMBER, NULL, 0, table_cell_s64, life->pid)                                                  \
	X("PARENT", TEXT, NULL, TEXT_ONLY, put_parent, tasks, life, parent)                                   \
	X("PARENT COMM", TEXT, "parent_comm", DATA, put_text, parent ? tasks_parent_name(tasks, life) : NULL) \
	X("PARENT PID", NUMBER, "parent_pid", DATA, put_number, parent, (uint64_t)life->parent_pid)           \
	X("FROM", NUMBER, "since", KEEP, table_cell_moment, life->began)                                      \
	X("UNTIL", NUMBER, "until", DATA, table_cell_moment, life->ended)                                     \
	X("RUN", TIME, NULL, SPARE | OF_SWITCHES, table_cell_known, switches, slow->run)                      \
	X("WAIT", TIME, NULL, SPARE | OF_SWITCHES, table_cell_known, switches, slow->waiting)                 \
	X("BLOCKED", TIME, NULL, SPARE | OF_SWITCHES, table_cell_known, switches, slow->blocked)              \
	X("CAUSE", TEXT, NULL, OF_SWITCHES, table_cell, switches ? cause_of(slow) : "")                       \
	X("PROGRAM", TEXT, NULL, SPARE, put_program, tasks, life->program)

static const struct table_column slow_columns[] = COLUMNS(SLOW_COLUMNS);

static const char *cause_of(const struct tasks_slow *slow)
{
	if (slow->run >= slow->waiting && slow->run >= slow->blocked)
		return "ran";
	return slow->blocked >= slow->waiting ? "blocked" : "waited for a CPU";
}

static void put_slowest(struct tasks_analysis *tasks, struct findings *findings)
{
	bool switches = tasks->pass->state.events[STATE_SWITCH];
	struct slowest slowest;
	struct table *table;

	slowest_init_rows(&slowest, sizeof(struct tasks_slow), &tasks->options.rows);
	for (uint32_t i = 0; slowest.most && i < tasks->nr_owns; i++) {
		struct tasks_slow slow, *kept;

		if (!tasks->owns[i].wanted || !life_is_whole(lives_at(tasks->lives, i)))
			continue;
		slow = slow_of(tasks, i);
		kept = slowest_wants(&slowest, slow.lasted) ? slowest_add(&slowest, slow.lasted, &tasks->pass->failed) :
							      NULL;
		if (kept)
			*kept = slow;
	}
	table = slowest_table(&slowest, findings, "the longest lives, and what most of each was", slow_columns);
	for (size_t i = 0; table && i < slowest.nr; i++) {
		const struct tasks_slow *slow = slowest_at(&slowest, i);
		const struct life *life = lives_at(tasks->lives, slow->number);
		bool parent = life->parent_pid >= 0;

		SLOW_COLUMNS(CELL)
	}
	if (table)
		findings_show(findings, OF_SWITCHES, switches);
	slowest_tell(&slowest, findings, "task");
	slowest_release(&slowest);
}

static enum who_part part_of(const struct tasks_analysis *tasks)
{
	enum tasks_by by = (enum tasks_by)tasks->options.rows.by;

	return by == TASKS_BY_PROCESS ? WHO_PROCESS : (enum who_part)(WHO_UNIT + (by - TASKS_BY_UNIT));
}

/* Tasks that belonged together when they ended, or at the end. */
struct group {
	uint64_t seen, began, ended, failed, threads;
	struct samples lasted;
};

#define GROUP_COLUMNS(X)                                                                                          \
	X("WHO", TEXT, "who", SAME, table_cell, pass_group_text(tasks->pass, part, (uint32_t)who))                \
	X("PID", NUMBER, NULL, SAME | OF_PROCESS, table_cell_known_s64, part == WHO_PROCESS && who, (int64_t)who) \
	X("TASKS", COUNT, NULL, 0, table_cell_u64, group->seen)                                                   \
	X("STARTED", COUNT, NULL, ADDS, table_cell_u64, group->began)                                             \
	X("THREADS", COUNT, NULL, ADDS | SPARE, table_cell_u64, group->threads)                                   \
	X("ENDED", COUNT, NULL, ADDS, table_cell_known, ends, group->ended)                                       \
	X("FAILED", COUNT, NULL, ADDS | SPARE, table_cell_known, known, group->failed)                            \
	X("TOTAL", TIME, NULL, 0, table_cell_known, ends, group->lasted.sum)                                      \
	SPREAD(X, "", "", SPARE, 0, 0, lasted)

enum { OF_PROCESS = WHEN };

static const struct table_column group_columns[] = COLUMNS(GROUP_COLUMNS);

static void count_groups(struct tasks_analysis *tasks, struct u64_map *groups)
{
	const struct context *context = tasks->pass->reader->buffers[0].context;

	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);
		uint64_t at = life->known & LIFE_ENDED ? life->ended : life->last;
		struct group *group;

		if (!tasks->owns[i].wanted)
			continue;
		group = u64_map_add(groups, who_is(context, part_of(tasks), life->pid, at, NULL));
		if (!group) {
			tasks->pass->failed = true;
			return;
		}
		group->seen++;
		group->began += (life->known & LIFE_BEGAN) != 0;
		group->threads += life_is_thread(life);
		group->ended += (life->known & LIFE_ENDED) != 0;
		group->failed += tasks_failed(life);
		if (life_is_whole(life))
			samples_add(&group->lasted, &tasks->pass->budget, tasks_lasted(tasks, life));
	}
}

static void put_group_rows(struct tasks_analysis *tasks, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "groups",
			       "tasks together, as they belonged when they ended, and how long they lived", "tasks",
			       group_columns);
	enum who_part part = part_of(tasks);
	bool known = tasks_know_status(tasks), ends = tasks->ends_known;
	struct u64_map groups; /* by whom: struct group */
	struct group *group;
	uint64_t who;

	u64_map_init(&groups, sizeof(struct group));
	count_groups(tasks, &groups);
	for (size_t at = 0; (group = u64_map_next(&groups, &at, &who));) {
		struct percentiles lasted = percentiles_of(&group->lasted);

		if (table) {
			GROUP_COLUMNS(CELL)
		}
		samples_release(&group->lasted);
	}
	u64_map_release(&groups);
	if (!table)
		return;
	pass_group_head(findings, part, 0);
	findings_show(findings, OF_PROCESS, part == WHO_PROCESS);
}

void tasks_put_tables(struct tasks_analysis *tasks, struct findings *findings)
{
	switch ((enum tasks_by)tasks->options.rows.by) {
	case TASKS_BY_TASK:
		put_rows(tasks, findings);
		break;
	case TASKS_BY_PROGRAM:
		put_programs(tasks, findings);
		break;
	case TASKS_BY_PARENT:
		put_parents(tasks, findings);
		break;
	case TASKS_BY_PROCESS:
	case TASKS_BY_UNIT:
	case TASKS_BY_CONTAINER:
	case TASKS_BY_POD:
	case TASKS_BY_CGROUP:
	case TASKS_BY_USER:
		put_group_rows(tasks, findings);
		break;
	}
	put_slowest(tasks, findings);
}
