// SPDX-License-Identifier: GPL-2.0-only
/* An example of an analysis and its command: the events of each task on each CPU. CONTRIBUTING.md explains it. */
#include "tests/examples/analyses.h"

#include "cmd/analyse.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/samples.h"
#include "lib/meaning/event/event.h"

struct busiest_analysis {
	struct pass *pass;
	struct u64_map rows; /* struct samples, by task and CPU: memory grows with these, not with events */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct busiest_analysis *busiest = arg;

	busiest->pass = pass;
	samples_map_init(&busiest->rows);
	return !options;
}

/* The state saw the event before: after a switch, the CPU belongs to the next task. A sample of 0 only counts. */
static void see(void *arg, const struct event *event, uint8_t role)
{
	struct busiest_analysis *busiest = arg;
	const struct state *state = &busiest->pass->state;
	uint32_t task = state->step.kind == STEP_SWITCH ? state->step.other : state_running(state, event->cpu);

	if (role && task != STATE_NO_TASK && pass_wants_cpu(busiest->pass, event->cpu) &&
	    pass_wants(busiest->pass, &state->tasks[task]))
		samples_map_add(&busiest->rows, (uint64_t)task << 32 | event->cpu, &busiest->pass->budget, 0);
}

#define TASK_COLUMNS(X)                                                                     \
	X("TASK", TEXT, "comm", BRIEF, pass_put_comm, busiest->pass, (uint32_t)(key >> 32)) \
	X("PID", NUMBER, NULL, BRIEF, pass_put_pid, busiest->pass, (uint32_t)(key >> 32))   \
	X("CPU", NUMBER, NULL, BRIEF, table_cell_u64, (uint32_t)key)                        \
	X("EVENTS", COUNT, NULL, BRIEF, table_cell_u64, row->count)

static const struct table_column columns[] = COLUMNS(TASK_COLUMNS);
static const struct analysis_want wants[] = { { "sched:sched_switch", NULL, "whose an event is" },
					      { NULL, NULL, NULL } };

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct busiest_analysis *busiest = arg;
	struct table *table = findings_table(findings, "busiest", "tasks with the most events", "events", columns);
	const struct samples *row;
	uint64_t key;

	for (size_t at = 0; table && (row = u64_map_next(&busiest->rows, &at, &key));) {
		table_attach(table, row);
		TASK_COLUMNS(CELL)
	}
	return busiest->rows.starved ? fail_memory(fail) : 0;
}

static void release(void *arg)
{
	samples_map_release(&((struct busiest_analysis *)arg)->rows);
}

const struct analysis_ops busiest_analysis = { .name = "busiest",
					       .summary = "show which tasks make the most events",
					       .columns = columns,
					       .wants = wants,
					       .essential = 1,
					       .in_summary = true,
					       .size = sizeof(struct busiest_analysis),
					       .init = init,
					       .see = see,
					       .finish = finish,
					       .release = release };

ANALYSE_COMMAND(busiest, "Shows from a recording how many events each task made on each CPU.",
		.summary = "show which tasks make the most events", .brief = "who is in events");
