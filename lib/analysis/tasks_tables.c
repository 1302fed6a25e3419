// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/tasks_internal.h"

#include "lib/analysis/findings.h"
#include "lib/base/fail.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/tasks.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WANT_EXIT = 1 }; /* the index among the wants */

const char *tasks_name(const struct tasks_analysis *tasks, const struct life *life)
{
	return *life->name ? life->name : task_name(tasks->pass->reader->buffers[0].context->tasks, life->pid).text;
}

const char *tasks_parent_name(const struct tasks_analysis *tasks, const struct life *life)
{
	if (*life->parent_name || life->parent_pid < 0)
		return life->parent_name;
	if (life->parent != LIFE_NONE)
		return tasks_name(tasks, lives_at(tasks->lives, life->parent));
	return task_name(tasks->pass->reader->buffers[0].context->tasks, life->parent_pid).text;
}

enum tasks_end tasks_end_of(const struct tasks_analysis *tasks, const struct life *life)
{
	if (life->known & LIFE_ENDED)
		return TASKS_ENDED;
	if (life->known & LIFE_REPLACED || !tasks->ends_recorded)
		return TASKS_END_UNKNOWN;
	return TASKS_ALIVE;
}

/* The last time at which the task certainly lived: sched_switch also names the task that left. 0: unknown. */
static uint64_t last_seen(const struct tasks_analysis *tasks, const struct life *life)
{
	size_t number = (size_t)(life - lives_at(tasks->lives, 0));
	uint32_t id = number < tasks->nr_owns ? tasks->owns[number].task : (uint32_t)STATE_NO_TASK;
	const struct state *state = &tasks->pass->state;

	if (id >= state->nr_tasks || life->known & LIFE_REPLACED)
		return 0;
	if (state->tasks[id].died)
		return state->tasks[id].died;
	return state->events[STATE_SWITCH] && state->tasks[id].mode != TASK_UNKNOWN ? state->now : 0;
}

uint64_t tasks_lasted(const struct tasks_analysis *tasks, const struct life *life)
{
	const struct state *state = &tasks->pass->state;
	uint64_t from = life->known & LIFE_BEGAN ? life->began : state->start, to = life->last,
		 seen = last_seen(tasks, life);

	if (life->known & LIFE_ENDED)
		to = life->ended;
	else if (tasks_end_of(tasks, life) == TASKS_ALIVE)
		to = state->now;
	else if (seen > to)
		to = seen;
	return to > from ? to - from : 0;
}

bool tasks_failed(const struct life *life)
{
	return life->status && life->status != LIFE_STATUS_UNKNOWN;
}

/* Whether any event shows how tasks ended; otherwise it is not known how many failed. */
static bool knows_status(const struct tasks_analysis *tasks)
{
	for (uint32_t i = 0; i < tasks->nr_owns; i++)
		if (lives_at(tasks->lives, i)->status != LIFE_STATUS_UNKNOWN)
			return true;
	return false;
}

static void put_failed(struct table *table, bool known, uint64_t failed)
{
	if (known)
		table_cell_u64(table, failed);
	else
		table_cell(table, "-");
}

static const struct table_column program_columns[] = {
	{ "PROGRAM", TABLE_TEXT, NULL }, { "RUNS", TABLE_COUNT, NULL }, { "RUNNING", TABLE_COUNT, NULL },
	{ "FAILED", TABLE_COUNT, NULL }, { "TOTAL", TABLE_TIME, NULL }, { "P50", TABLE_TIME, NULL },
	{ "P99", TABLE_TIME, NULL },     { "MAX", TABLE_TIME, NULL },   { "MAX AT", TABLE_NUMBER, "max_at" },
};

static void put_programs(const struct tasks_analysis *tasks, struct findings *findings)
{
	struct table *table = findings_table(findings, "programs", "programs: how often and how long they ran", "total",
					     program_columns, array_size(program_columns));
	bool known = knows_status(tasks);

	if (table)
		table->spare = 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8;
	findings_course(findings, 1 << 0, 1 << 1 | 1 << 3);
	for (size_t i = 0; table && i < tasks->nr_programs; i++) {
		const struct tasks_program *program = &tasks->programs[i];
		const char *path;
		size_t len;

		if (!program->execs)
			continue;
		path = lives_program(tasks->lives, (uint32_t)i, &len);
		table_attach(table, &program->runs);
		table_cell_mem(table, path, len);
		table_cell_u64(table, program->execs);
		table_cell_u64(table, program->running);
		put_failed(table, known, program->failed);
		table_cell_u64(table, program->runs.sum);
		pass_spread(table, &program->runs);
		if (program->longest.to)
			table_cell_decimal(table, (int64_t)program->longest.to, 9);
		else
			table_cell(table, "-");
	}
}

static const struct table_column parent_columns[] = {
	{ "TASK", TABLE_TEXT, "comm" },   { "PID", TABLE_NUMBER, NULL },  { "STARTED", TABLE_COUNT, NULL },
	{ "THREADS", TABLE_COUNT, NULL }, { "ENDED", TABLE_COUNT, NULL }, { "FAILED", TABLE_COUNT, NULL },
	{ "TOTAL", TABLE_TIME, NULL },    { "P50", TABLE_TIME, NULL },    { "P99", TABLE_TIME, NULL },
	{ "MAX", TABLE_TIME, NULL },
};

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
					     "started", parent_columns, array_size(parent_columns));
	bool known = knows_status(tasks);

	tasks->pass->failed |= !count_parents(tasks);
	if (table)
		table->spare = 1 << 3 | 1 << 5 | 1 << 7;
	findings_course(findings, 1 << 1, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
	for (size_t i = 0; table && i < tasks->nr_parents; i++) {
		const struct tasks_parent *parent = &tasks->parents[i];
		const struct life *life = lives_at(tasks->lives, parent->life);

		table_cell(table, tasks_name(tasks, life));
		table_cell_s64(table, life->pid);
		table_cell_u64(table, parent->started);
		table_cell_u64(table, parent->threads);
		table_cell_u64(table, parent->ended);
		put_failed(table, known, parent->failed);
		table_cell_u64(table, parent->lasted.sum);
		pass_spread(table, &parent->lasted);
	}
}

static void tell_longest(const struct tasks_analysis *tasks, struct findings *findings)
{
	const struct life *longest = NULL;
	struct worst worst = { .what = "life of a task" };

	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);

		if (tasks->owns[i].wanted && life_is_whole(life) &&
		    (!longest || tasks_lasted(tasks, life) > tasks_lasted(tasks, longest)))
			longest = life;
	}
	if (!longest)
		return;
	worst.lasted = tasks_lasted(tasks, longest);
	worst.from = longest->began;
	worst.to = longest->ended;
	worst.cpu = longest->cpu;
	worst.pid = longest->pid;
	snprintf(worst.comm, sizeof(worst.comm), "%s", tasks_name(tasks, longest));
	findings_worst(findings, &worst);
}

static void count(const struct tasks_analysis *tasks, const struct life *life, const struct tasks_own *own,
		  struct tasks_counts *counts)
{
	enum tasks_end end = tasks_end_of(tasks, life);

	counts->seen++;
	counts->began += (life->known & LIFE_BEGAN) != 0;
	counts->older += !(life->known & LIFE_BEGAN);
	counts->ended += end == TASKS_ENDED;
	counts->alive += end == TASKS_ALIVE;
	counts->replaced += (life->known & LIFE_REPLACED) != 0;
	counts->doubtful += end == TASKS_ALIVE && own->losses != tasks->pass->state.losses;
	counts->execs += life->execs;
}

/* The task that started most of the wanted ones; LIFE_NONE: nobody started two. */
static uint32_t busiest(const struct tasks_analysis *tasks, uint64_t *ret_started)
{
	uint32_t *started = calloc(lives_count(tasks->lives) + 1, sizeof(*started)), best = LIFE_NONE;

	for (uint32_t i = 0; started && i < tasks->nr_owns; i++) {
		uint32_t parent = lives_at(tasks->lives, i)->parent;

		if (!tasks->owns[i].wanted || parent == LIFE_NONE)
			continue;
		started[parent]++;
		if (started[parent] > 1 && (best == LIFE_NONE || started[parent] > started[best]))
			best = parent;
	}
	tasks->pass->failed |= !started;
	*ret_started = started && best != LIFE_NONE ? started[best] : 0;
	free(started);
	return best;
}

static void tell_counts(const struct tasks_analysis *tasks, const struct tasks_counts *counts,
			struct findings *findings)
{
	char began[TEXT_HUMAN], ended[TEXT_HUMAN], execs[TEXT_HUMAN], programs[TEXT_HUMAN], by[TEXT_HUMAN];
	char most[64 + LIFE_NAME] = "";
	uint64_t started, different = 0;
	uint32_t best = busiest(tasks, &started);

	for (size_t i = 0; i < tasks->nr_programs; i++)
		different += tasks->programs[i].execs != 0;
	if (best != LIFE_NONE) {
		const struct life *life = lives_at(tasks->lives, best);

		snprintf(most, sizeof(most), "; %.15s-%" PRId32 " started the most: %s", tasks_name(tasks, life),
			 life->pid, text_count(by, started));
		/* A name stays on the line. */
		for (char *at = most; *at; at++)
			*at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
	}
	findings_note(findings, "%s task%s began, %s ended, %s exec%s of %s program%s%s",
		      text_count(began, counts->began), text_plural(counts->began), text_count(ended, counts->ended),
		      text_count(execs, counts->execs), text_plural(counts->execs), text_count(programs, different),
		      text_plural(different), most);
}

int tasks_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct tasks_analysis *tasks = arg;
	struct tasks_counts counts = { .seen = 0 };

	tasks->ends_recorded = pass_recorded(tasks->pass, &tasks_analysis.wants[WANT_EXIT]);
	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);

		if (life->known & LIFE_TOLD && tasks_wants(tasks, life, &tasks->owns[i])) {
			tasks->owns[i].wanted = true;
			count(tasks, life, &tasks->owns[i], &counts);
		}
	}
	if (!counts.seen && !tasks->nr_owns)
		return pass_nothing(tasks->pass, &tasks_analysis,
				    "there are no tasks that began or ended among the events", "-e sched -e task",
				    fail);
	switch (tasks->options.by) {
	case TASKS_BY_TASK:
		tasks_put_rows(tasks, findings);
		break;
	case TASKS_BY_PROGRAM:
		put_programs(tasks, findings);
		break;
	case TASKS_BY_PARENT:
		put_parents(tasks, findings);
		break;
	}
	tell_longest(tasks, findings);
	tell_counts(tasks, &counts, findings);
	findings_cut(findings, counts.older, "tasks that began before the start");
	findings_cut(findings, counts.alive, "tasks alive at the end");
	findings_broken(findings, tasks->broken, "runs of programs");
	findings_broken(findings, counts.doubtful, "tasks that may have ended");
	if (counts.replaced)
		findings_note(findings, "%" PRIu64 " task%s ended without an event that says when", counts.replaced,
			      text_plural(counts.replaced));
	return tasks->pass->failed || lives_failed(tasks->lives) ? fail_memory(fail) : 0;
}
