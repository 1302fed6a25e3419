// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/sched_chain_internal.h"

#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/event/softirqs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	char *path;
	struct samples lasted;
	uint64_t longest_at;
	uint32_t longest_cpu;
};

enum role { HARD_ENTRY = 1, SOFT_ENTRY, VECTOR, ROLES };

static const struct role_name names[] = {
	{ "irq", "irq_handler_entry", HARD_ENTRY }, { "irq", "softirq_entry", SOFT_ENTRY },
	{ "irq_vectors", "*_entry", VECTOR },       { "powerpc", "timer_interrupt_entry", VECTOR },
	{ "powerpc", "doorbell_entry", VECTOR },    { NULL, NULL, 0 },
};

/* The last interrupt and the last softirq that began on a CPU: an event whose flags show one belongs to it. */
struct chain_cpu {
	char hard[NAME], soft[NAME];
};

struct sched_chain {
	struct pass *pass;
	const char *task;
	int32_t pid; /* 0: tasks are selected by name */
	struct roles roles;
	struct place hard, soft;
	struct way *ways; /* by the task's index in the state */
	size_t nr_ways;
	struct chain_cpu *cpus;
	size_t nr_cpus;
	struct u64_map ids; /* by the hash of a path: uint32_t, index + 1 of rows */
	struct row *rows;
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
	roles_init(&chain->roles, names);
	u64_map_init(&chain->ids, sizeof(uint32_t));
	return chain;
}

void sched_chain_free(struct sched_chain *chain)
{
	if (!chain)
		return;
	for (size_t i = 0; i < chain->nr_rows; i++) {
		free(chain->rows[i].path);
		samples_release(&chain->rows[i].lasted);
	}
	free(chain->rows);
	free(chain->ways);
	free(chain->cpus);
	roles_release(&chain->roles);
	u64_map_release(&chain->ids);
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

static struct chain_cpu *cpu_of(struct sched_chain *chain, uint32_t cpu)
{
	while (chain->nr_cpus <= cpu) {
		if (!vec_push(chain->cpus, chain->nr_cpus)) {
			chain->pass->failed = true;
			return NULL;
		}
	}
	return &chain->cpus[cpu];
}

static void see_interrupt(struct sched_chain *chain, const struct event *event)
{
	struct chain_cpu *cpu;
	const char *text = "", *softirq;
	bool fresh;
	uint8_t role = roles_of(&chain->roles, event, &fresh);
	size_t len = 0;

	chain->pass->failed |= chain->roles.failed;
	if (!role)
		return;
	cpu = cpu_of(chain, event->cpu);
	if (!cpu)
		return;
	if (fresh && role != VECTOR)
		(void)place_find(role == HARD_ENTRY ? &chain->hard : &chain->soft, event->type,
				 role == HARD_ENTRY ? "name" : "vec");
	switch ((enum role)role) {
	case HARD_ENTRY:
		(void)place_string(&chain->hard, event, &text, &len);
		snprintf(cpu->hard, NAME, "irq:%.*s", (int)(len < NAME ? len : NAME), text);
		return;
	case SOFT_ENTRY:
		softirq = softirq_name(place_u64(&chain->soft, event));
		snprintf(cpu->soft, NAME, "softirq:%s", softirq ? softirq : "?");
		return;
	case VECTOR:
		text = event->type->format->name;
		snprintf(cpu->hard, NAME, "irq:%.*s", (int)(strlen(text) - strlen("_entry")), text);
		return;
	case ROLES:
		return;
	}
}

/* Names the waker: a task or an interrupt. Returns true for an interrupt, which has no waker of its own. */
static bool name_waker(struct sched_chain *chain, const struct event *event, char name[NAME])
{
	const struct state *state = &chain->pass->state;
	const struct chain_cpu *cpu = cpu_of(chain, event->cpu);
	uint32_t other = state->step.other;

	if (event->flags & (EVENT_HARDIRQ | EVENT_NMI))
		snprintf(name, NAME, "%s", cpu && *cpu->hard ? cpu->hard : "an interrupt");
	else if (event->flags & EVENT_SOFTIRQ)
		snprintf(name, NAME, "%s", cpu && *cpu->soft ? cpu->soft : "a softirq");
	else if (other == STATE_NO_TASK || state->tasks[other].idle)
		snprintf(name, NAME, "%s", other == STATE_NO_TASK ? "<...>" : "<idle>");
	else
		snprintf(name, NAME, "%s", pass_comm(chain->pass, &state->tasks[other]));
	return event->flags & (EVENT_HARDIRQ | EVENT_NMI | EVENT_SOFTIRQ) || other == STATE_NO_TASK ||
	       state->tasks[other].idle;
}

static void see_wakeup(struct sched_chain *chain, const struct event *event)
{
	const struct state *state = &chain->pass->state;
	const struct state_step *step = &state->step;
	struct way way = { .nr = 1 }, *of;
	bool ends;

	/* A sched_wakeup that follows a sched_waking belongs to the same wakeup. */
	if (step->kind == STEP_WOKEN && step->was == TASK_WAKING)
		return;
	way.links[0].at = state->now;
	ends = name_waker(chain, event, way.links[0].name);
	of = ends ? NULL : way_of(chain, step->other);
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
	uint64_t hash = 14695981039346656037u;
	struct row *row;
	uint32_t *id;

	for (const char *at = path; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 1099511628211u;
	while ((id = u64_map_add(&chain->ids, hash)) && *id) {
		if (!strcmp(chain->rows[*id - 1].path, path))
			return &chain->rows[*id - 1];
		hash++;
	}
	row = id ? vec_push(chain->rows, chain->nr_rows) : NULL;
	if (row)
		row->path = strdup(path);
	if (!row || !row->path) {
		chain->nr_rows -= row != NULL;
		chain->pass->failed = true;
		return NULL;
	}
	*id = (uint32_t)chain->nr_rows;
	return row;
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

	if (event->kind == EVENT_RECORD)
		see_interrupt(chain, event);
	if (step->kind == STEP_SWITCH)
		see_run(chain, event->cpu);
	else if (step->kind == STEP_WAKING || step->kind == STEP_WOKEN)
		see_wakeup(chain, event);
}

static const struct table_column columns[] = {
	{ "COUNT", TABLE_COUNT, NULL },     { "TOTAL", TABLE_TIME, NULL }, { "P50", TABLE_TIME, NULL },
	{ "P99", TABLE_TIME, NULL },        { "MAX", TABLE_TIME, NULL },   { "MAX AT", TABLE_NUMBER, "max_at" },
	{ "CPU", TABLE_NUMBER, "max_cpu" }, { "CHAIN", TABLE_TEXT, NULL },
};

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
			       "count", columns, array_size(columns));

	findings_course(findings, 1 << (array_size(columns) - 1), 1 << 0 | 1 << 1);
	for (size_t i = 0; table && i < chain->nr_rows; i++) {
		const struct row *row = &chain->rows[i];
		const struct samples *lasted = &row->lasted;

		table_cell_u64(table, lasted->count);
		table_cell_u64(table, lasted->sum);
		pass_spread(table, lasted);
		table_cell_decimal(table, (int64_t)row->longest_at, 9);
		table_cell_u64(table, row->longest_cpu);
		table_cell(table, row->path);
	}
	if (!chain->nr_rows)
		findings_note(findings, "no task '%s' was woken and then ran", chain->task);
}
