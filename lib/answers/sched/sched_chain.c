// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/sched/sched_chain_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"

enum { LINKS = 8, NAME = 28, PATH = (LINKS + 1) * (NAME + 3) + 8 };

/* A waker: a task, or the interrupt in which the wakeup was decided. */
struct link {
	uint64_t at;
	char name[NAME];
};

struct way {
	struct link links[LINKS]; /* its waker, the waker's waker, and so on */
	uint8_t nr;
	bool more; /* the chain was longer */
};

struct row {
	struct samples lasted;
	uint64_t longest_at;
	uint32_t longest_cpu;
};

struct sched_chain {
	struct pass *pass;
	const char *task;
	int32_t pid;      /* 0: tasks are selected by name */
	struct way *ways; /* by the task's index in the state */
	size_t nr_ways;
	struct labels paths;
	struct row *rows; /* by the number of the path */
	size_t nr_rows;
};

struct sched_chain *sched_chain_new(struct pass *pass, const char *task)
{
	struct sched_chain *chain = calloc(1, sizeof(*chain));
	const char *at = task;

	if (!chain)
		return NULL;
	chain->pass = pass;
	chain->task = task;
	if (!number_s32(&at, &chain->pid) || *at || chain->pid < 0)
		chain->pid = 0;
	labels_init(&chain->paths);
	return chain;
}

void sched_chain_free(struct sched_chain *chain)
{
	if (!chain)
		return;
	for (size_t i = 0; i < chain->nr_rows; i++) {
		samples_release(&chain->rows[i].lasted);
	}
	free(chain->rows);
	free(chain->ways);
	labels_release(&chain->paths);
	free(chain);
}

static struct way *way_of(struct sched_chain *chain, uint32_t task)
{
	while (chain->nr_ways <= task) {
		if (!vec_push(chain->ways, chain->nr_ways)) {
			chain->pass->failed = true;
			return NULL;
		}
	}
	return &chain->ways[task];
}

/*
 * Names the waker: a task, or the interrupt that did it for nobody. Returns the task, of which the chain goes on;
 * STATE_NO_TASK: it ends here.
 */
static uint32_t name_waker(struct sched_chain *chain, const struct event *event, char name[NAME])
{
	const struct state *state = &chain->pass->state;
	const struct waker *waker = &state->tasks[state->step.task].waker;
	const char *text = causes_name(&state->causes, waker->name);
	uint32_t task = waker->pid > 0 ? state_task_once(state, waker->pid) : state->step.other;

	if (waker->pid > 0 && task != STATE_NO_TASK)
		snprintf(name, NAME, "%s", pass_comm(chain->pass, &state->tasks[task]));
	else if (waker->pid > 0 || (!(event->flags & EVENT_INTERRUPTS) && task == STATE_NO_TASK))
		snprintf(name, NAME, "%s", task_no_name);
	else if (*text)
		snprintf(name, NAME, "%.*s", NAME - 1, text);
	else if (event->flags & EVENT_INTERRUPTS)
		snprintf(name, NAME, event->flags & (EVENT_HARDIRQ | EVENT_NMI) ? "an interrupt" : "a softirq");
	else
		snprintf(name, NAME, "<idle>");
	return waker->pid > 0 ? task : (uint32_t)STATE_NO_TASK;
}

static void see_wakeup(struct sched_chain *chain, const struct event *event)
{
	const struct state *state = &chain->pass->state;
	const struct state_step *step = &state->step;
	struct way way = { .nr = 1 }, *of;
	uint32_t waker;

	/* A sched_wakeup that follows a sched_waking belongs to the same wakeup. */
	if (step->kind == STEP_WOKEN && step->was == TASK_WAKING)
		return;
	way.links[0].at = state->now;
	waker = name_waker(chain, event, way.links[0].name);
	of = waker == STATE_NO_TASK ? NULL : way_of(chain, waker);
	if (of) {
		size_t nr = of->nr < LINKS ? of->nr : LINKS - 1;

		memcpy(&way.links[1], of->links, nr * sizeof(*way.links));
		way.nr = (uint8_t)(nr + 1);
		way.more = of->more || nr < of->nr;
	}
	of = way_of(chain, step->task);
	if (of)
		*of = way;
}

static bool is_asked(const struct sched_chain *chain, const struct state_task *task)
{
	return chain->pid ? task->pid == chain->pid : text_glob(chain->task, pass_comm(chain->pass, task));
}

/*
 * Writes a path such as "cat < sh < irq:ttyS0". It ends where a name comes again, because then tasks wake each other.
 * Returns the time at which the path began.
 */
static uint64_t put_path(const struct sched_chain *chain, const struct state_task *task, const struct way *way,
			 char path[PATH])
{
	size_t len = (size_t)snprintf(path, PATH, "%.*s", NAME, pass_comm(chain->pass, task));
	uint64_t since = chain->pass->state.now;
	bool again = false;

	for (size_t i = 0; i < way->nr && !again; i++) {
		for (size_t j = 0; j < i && !again; j++)
			again = !strcmp(way->links[j].name, way->links[i].name);
		len += (size_t)snprintf(path + len, PATH - len, " < %s", way->links[i].name);
		since = way->links[i].at;
	}
	if (again || way->more)
		snprintf(path + len, PATH - len, "...");
	return since;
}

static struct row *row_of(struct sched_chain *chain, const char *path)
{
	bool is_new;
	uint32_t number = labels_add(&chain->paths, path, strlen(path), &is_new);

	while (number != LABEL_NONE && chain->nr_rows <= number && vec_push(chain->rows, chain->nr_rows))
		;
	if (number != LABEL_NONE && number < chain->nr_rows)
		return &chain->rows[number];
	chain->pass->failed = true;
	return NULL;
}

static void see_run(struct sched_chain *chain, uint32_t cpu)
{
	const struct state *state = &chain->pass->state;
	const struct state_step *step = &state->step;
	const struct state_task *task = &state->tasks[step->task];
	const struct way *way = step->task < chain->nr_ways ? &chain->ways[step->task] : NULL;
	struct row *row;
	char path[PATH];
	uint64_t lasted;

	if (!way || !way->nr || !step->intact || !(step->waking || step->woken) || !is_asked(chain, task) ||
	    !pass_wants_since(chain->pass, task, step->waking ? step->waking : step->woken) ||
	    !pass_wants_cpu(chain->pass, cpu))
		return;
	lasted = state->now - put_path(chain, task, way, path);
	row = row_of(chain, path);
	if (!row)
		return;
	if (!row->longest_at || lasted > row->lasted.max) {
		row->longest_at = state->now;
		row->longest_cpu = cpu;
	}
	samples_add(&row->lasted, &chain->pass->budget, lasted);
}

void sched_chain_see(struct sched_chain *chain, const struct event *event)
{
	const struct state_step *step = &chain->pass->state.step;

	if (step->kind == STEP_SWITCH)
		see_run(chain, event->cpu);
	else if (step->kind == STEP_WAKING || step->kind == STEP_WOKEN)
		see_wakeup(chain, event);
}

#define CHAIN_COLUMNS(X)                                                     \
	X("COUNT", COUNT, NULL, ADDS, table_cell_u64, row->lasted.count)     \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, row->lasted.sum)        \
	SPREAD(X, "", "", 0, 0, 0, lasted)                                   \
	X("MAX AT", NUMBER, "max_at", 0, table_cell_moment, row->longest_at) \
	X("CPU", NUMBER, "max_cpu", 0, table_cell_u64, row->longest_cpu)     \
	X("CHAIN", TEXT, NULL, SAME | KEEP, table_cell, chain->paths.at[i].text)

static const struct table_column columns[] = COLUMNS(CHAIN_COLUMNS);

int sched_chain_check(const struct sched_chain *chain, struct fail *fail)
{
	const struct state *state = &chain->pass->state;
	struct near near = near_to(chain->task);
	char hint[3 * NEAR_NAME_SIZE];

	for (size_t i = 0; i < state->nr_tasks; i++) {
		if (is_asked(chain, &state->tasks[i]))
			return 0;
		if (!chain->pid)
			near_offer(&near, pass_comm(chain->pass, &state->tasks[i]));
	}
	near_hint(&near, hint, sizeof(hint));
	return fail_set(fail, -ENODATA, "the events name no task '%s'; %s", chain->task,
			*hint ? hint : "without --chain, all tasks are listed");
}

void sched_chain_put(const struct sched_chain *chain, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "chains",
			       "chains of wakeups: the task, who woke it, who had woken that one; the time from the "
			       "first of them until it ran",
			       "count", columns);

	for (size_t i = 0; table && i < chain->nr_rows; i++) {
		const struct row *row = &chain->rows[i];
		struct percentiles lasted = percentiles_of(&row->lasted);

		CHAIN_COLUMNS(CELL)
	}
	if (!chain->nr_rows)
		findings_note(findings, "no task '%s' was woken and then ran", chain->task);
}
