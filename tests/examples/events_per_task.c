// SPDX-License-Identifier: GPL-2.0-only
/* An example of an analysis and its command: the events of each task on each CPU. CONTRIBUTING.md explains it. */
#include "tests/examples/analyses.h"

#include "cmd/analyse.h"
#include "lib/analysis/sorts.h"
#include "lib/base/fail.h"
#include "lib/base/u64_map.h"
#include "lib/event/event.h"

struct events_per_task_analysis {
	struct pass *pass;
	struct u64_map counts; /* by task and CPU: memory grows with these, not with events */
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct events_per_task_analysis *analysis = arg;

	(void)options;
	analysis->pass = pass;
	u64_map_init(&analysis->counts, sizeof(uint64_t));
	return true;
}

static void release(void *arg)
{
	struct events_per_task_analysis *analysis = arg;

	u64_map_release(&analysis->counts);
}

/* The state saw the event before: after a switch, the CPU belongs to the next task. */
static void see(void *arg, const struct event *event, uint8_t role)
{
	struct events_per_task_analysis *analysis = arg;
	const struct state *state = &analysis->pass->state;
	uint32_t task = state->step.kind == STEP_SWITCH ? state->step.other : state_running(state, event->cpu);
	uint64_t *count;

	if (!role || task == STATE_NO_TASK || !pass_wants_cpu(analysis->pass, event->cpu) ||
	    !pass_wants(analysis->pass, &state->tasks[task]))
		return;
	count = u64_map_add(&analysis->counts, (uint64_t)task << 32 | event->cpu);
	if (count)
		++*count;
	analysis->pass->failed |= !count;
}

static const struct table_column columns[] = { { "TASK", TABLE_TEXT, "comm" },
					       { "PID", TABLE_NUMBER, NULL },
					       { "CPU", TABLE_NUMBER, NULL },
					       { "EVENTS", TABLE_COUNT, NULL } };

static const struct analysis_sorts sorts = { columns, array_size(columns), 0 };

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct events_per_task_analysis *analysis = arg;
	struct table *table = findings_table(findings, "tasks", "events of each task on each CPU", "events", columns,
					     array_size(columns));
	const uint64_t *count;
	uint64_t key;
	size_t at = 0;

	while (table && (count = u64_map_next(&analysis->counts, &at, &key))) {
		const struct state_task *task = &analysis->pass->state.tasks[key >> 32];

		if (!pass_wants(analysis->pass, task))
			continue;
		table_cell(table, pass_comm(analysis->pass, task));
		table_cell_s64(table, task->pid);
		table_cell_u64(table, (uint32_t)key);
		table_cell_u64(table, *count);
	}
	return analysis->pass->failed ? fail_memory(fail) : 0;
}

static const struct analysis_want wants[] = { { "sched:sched_switch", NULL, "whose an event is" },
					      { NULL, NULL, NULL } };

const struct analysis_ops events_per_task_analysis = {
	.name = "events-per-task",
	.summary = "show how many events each task made on each CPU",
	.sorts = &sorts,
	.wants = wants,
	.essential = 1,
	.size = sizeof(struct events_per_task_analysis),
	.init = init,
	.see = see,
	.finish = finish,
	.release = release,
};

static const struct argp argp = {
	.parser = analyse_only,
	.children = analyse_children,
	.args_doc = ANALYSE_ARGS,
	.doc = "Shows from a recording how many events each task made on each CPU.",
};

static int run(int argc, char **argv)
{
	return analyse_only_run(&events_per_task_command, &events_per_task_analysis, argc, argv);
}

const struct command events_per_task_command = {
	.name = "events-per-task",
	.summary = "show how many events each task made on each CPU",
	.group = "read",
	.argp = &argp,
	.run = run,
};
