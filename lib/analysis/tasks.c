// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/tasks_internal.h"

#include "lib/analysis/sorts.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/event.h"

#include <stdlib.h>

/* Which tasks were started, by whom, which programs they executed, how long they lived, and how they ended. */

static const struct analysis_want wants[] = {
	{ "sched:sched_process_fork", "task:task_newtask", "who started a task" },
	{ "sched:sched_process_exit", NULL, "when a task ended" },
	{ "sched:sched_process_exec", NULL, "its program" },
	{ "task:task_newtask", NULL, "which tasks are threads" },
	{ "task:task_rename", NULL, "names that a task gave itself" },
	{ "syscalls:sys_enter_exit_group", NULL, "with which status a process ended" },
	{ "signal:signal_deliver", NULL, "which signal killed it" },
	{ NULL, NULL, NULL },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct tasks_analysis *tasks = arg;

	tasks->pass = pass;
	if (options)
		tasks->options = *(const struct tasks_options *)options;
	else if (pass_compares(pass))
		tasks->options.by = TASKS_BY_PROGRAM;
	tasks->lives = lives_new();
	return tasks->lives;
}

static void release(void *arg)
{
	struct tasks_analysis *tasks = arg;

	for (size_t i = 0; i < tasks->nr_programs; i++)
		samples_release(&tasks->programs[i].runs);
	for (size_t i = 0; i < tasks->nr_parents; i++)
		samples_release(&tasks->parents[i].lasted);
	free(tasks->programs);
	free(tasks->parents);
	free(tasks->owns);
	lives_free(tasks->lives);
}

/* NULL without memory. */
static struct tasks_own *own_of(struct tasks_analysis *tasks, uint32_t number)
{
	while (tasks->nr_owns <= number) {
		struct tasks_own *own = vec_push(tasks->owns, tasks->nr_owns);

		if (!own) {
			tasks->pass->failed = true;
			return NULL;
		}
		*own = (struct tasks_own){ .task = STATE_NO_TASK, .program = LIFE_NONE };
	}
	return &tasks->owns[number];
}

static struct tasks_program *program_of(struct tasks_analysis *tasks, uint32_t number)
{
	while (tasks->nr_programs <= number) {
		if (!vec_push(tasks->programs, tasks->nr_programs)) {
			tasks->pass->failed = true;
			return NULL;
		}
	}
	return &tasks->programs[number];
}

bool tasks_wants(const struct tasks_analysis *tasks, const struct life *life, const struct tasks_own *own)
{
	const struct state *state = &tasks->pass->state;
	struct state_task task = { .pid = life->pid };

	if (own && own->task != STATE_NO_TASK && pass_wants_cpu(tasks->pass, life->cpu) &&
	    pass_wants(tasks->pass, &state->tasks[own->task]))
		return true;

	for (size_t i = 0; i < LIFE_NAME; i++)
		task.comm[i] = life->name[i];
	return pass_wants_cpu(tasks->pass, life->cpu) && pass_wants(tasks->pass, &task);
}

/* The run of the program that ends with this event, if the task runs one. */
static void end_run(struct tasks_analysis *tasks, const struct life *life, struct tasks_own *own,
		    const struct event *event)
{
	struct tasks_program *program = own->program == LIFE_NONE ? NULL : &tasks->programs[own->program];
	struct extreme whole = { .lasted = event->ts - own->since,
				 .from = own->since,
				 .to = event->ts,
				 .cpu = event->cpu,
				 .task = own->task };

	own->program = LIFE_NONE;
	if (!program)
		return;
	program->running--;
	if (own->losses != tasks->pass->state.losses) {
		tasks->broken++;
		return;
	}
	samples_add(&program->runs, &tasks->pass->budget, whole.lasted);
	program->failed += life->known & LIFE_ENDED && tasks_failed(life);
	extreme_see(&program->longest, &whole);
}

static void begin_run(struct tasks_analysis *tasks, const struct life *life, struct tasks_own *own,
		      const struct event *event)
{
	struct tasks_program *program = life->program == LIFE_NONE ? NULL : program_of(tasks, life->program);

	if (!program || !tasks_wants(tasks, life, own))
		return;
	program->execs++;
	program->running++;
	own->program = life->program;
	own->since = event->ts;
}

/* The end of the task that had the PID before was not seen. */
static void forget_run(struct tasks_analysis *tasks, uint32_t before)
{
	struct tasks_own *own = before < tasks->nr_owns ? &tasks->owns[before] : NULL;

	if (!own || own->program == LIFE_NONE)
		return;
	tasks->programs[own->program].running--;
	own->program = LIFE_NONE;
	tasks->broken += own->losses != tasks->pass->state.losses;
}

static void follow(struct tasks_analysis *tasks, const struct life *life, struct tasks_own *own)
{
	const struct state *state = &tasks->pass->state;
	uint32_t task = state_task_of(state, life->pid);

	if (task == STATE_NO_TASK || task == own->task)
		return;
	if (own->task != STATE_NO_TASK)
		own->ran += state_spent(state, own->task, TASK_RUNNING);
	own->task = task;
}

static uint8_t look(void *arg, const struct event *event)
{
	struct tasks_analysis *tasks = arg;

	return lives_look(tasks->lives, event);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct tasks_analysis *tasks = arg;
	const struct life *life;
	struct tasks_own *own;
	enum life_what what;
	uint32_t number;

	if (event->kind == EVENT_LOST)
		return;
	what = lives_see(tasks->lives, event, role, &number);
	if (what == LIFE_NOTHING)
		return;
	own = own_of(tasks, number);
	if (!own)
		return;
	life = lives_at(tasks->lives, number);
	follow(tasks, life, own);
	if (what == LIFE_FORKED && life->before != LIFE_NONE)
		forget_run(tasks, life->before);
	if (what == LIFE_EXECED || what == LIFE_EXITED)
		end_run(tasks, life, own, event);
	if (what == LIFE_EXECED)
		begin_run(tasks, life, own, event);
	own->losses = tasks->pass->state.losses;
}

const struct analysis_ops tasks_analysis = {
	.name = "tasks",
	.summary = "show which tasks were started, by whom, for how long, and how they ended",
	.sorts = &tasks_sorts,
	.wants = wants,
	.essential = 2,
	.whole_lives = true,
	.option = "record-tgid",
	.size = sizeof(struct tasks_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = tasks_finish,
	.release = release,
};
