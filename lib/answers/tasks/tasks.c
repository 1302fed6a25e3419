// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tasks/tasks_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/lives.h"

/* Which tasks were started, by whom, which programs they executed, how long they lived, and how they ended. */

enum { WANT_EXIT = 1 }; /* the index among the wants */

static const struct analysis_want wants[] = {
	{ "sched:sched_process_fork", "task:task_newtask", "who started a task" },
	{ "sched:sched_process_exit", NULL, "when a task ended" },
	{ "sched:sched_process_exec", NULL, "its program" },
	{ "task:task_newtask", NULL, "which tasks are threads" },
	{ "task:task_rename", NULL, "names that a task gave itself" },
	{ "syscalls:sys_enter_exit_group", "raw_syscalls:sys_enter", "with which status a process ended" },
	{ "signal:signal_deliver", NULL, "which signal killed it" },
	{ "sched:sched_switch", NULL, "how long it ran" },
	{ NULL, NULL, NULL },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct tasks_analysis *tasks = arg;

	tasks->pass = pass;
	if (options)
		tasks->options = *(const struct tasks_options *)options;
	else if (pass_compares(pass))
		tasks->options.rows.by = TASKS_BY_PROGRAM;
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
	free(tasks->execs);
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

/* The run of the program that ends with this event, if the task runs one. */
static void end_run(struct tasks_analysis *tasks, const struct life *life, struct tasks_own *own, uint64_t at,
		    uint32_t cpu)
{
	struct tasks_program *program = own->program == LIFE_NONE ? NULL : &tasks->programs[own->program];
	struct extreme whole = {
		.lasted = at - own->since, .from = own->since, .to = at, .cpu = cpu, .task = own->task
	};

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
	uint64_t *exec = program ? vec_push(tasks->execs, tasks->nr_execs) : NULL;

	tasks->pass->failed |= program && !exec;
	if (exec)
		*exec = (uint64_t)(own - tasks->owns) << 32 | life->program;
	if (!exec || !tasks_wants(tasks, life, own))
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
	if (own->task != STATE_NO_TASK && !own->ended)
		own->ran += state_spent(state, own->task, TASK_RUNNING);
	own->task = task;
}

/* A task still has its CPU between sched_process_exit and its last switch: that is no part of its life. */
static void end_life(const struct tasks_analysis *tasks, struct tasks_own *own)
{
	if (own->ended)
		return;
	own->ended = true;
	if (own->task != STATE_NO_TASK)
		own->spent = state_spent(&tasks->pass->state, own->task, TASK_RUNNING);
	own->ran += own->spent;
}

/* What weft sched counts as running and this analysis does not: between the end of a life and the last switch. */
static void tell_after_end(const struct tasks_analysis *tasks, struct findings *findings)
{
	uint64_t after = 0;
	char time[TEXT_HUMAN];

	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct tasks_own *own = &tasks->owns[i];
		uint64_t spent = own->wanted && own->ended && own->task != STATE_NO_TASK ?
					 state_spent(&tasks->pass->state, own->task, TASK_RUNNING) :
					 0;

		after += spent > own->spent ? spent - own->spent : 0;
	}
	if (after)
		findings_note(
			findings,
			"RUN ends with LIFE, at sched_process_exit: until they had left their CPUs these tasks ran "
			"%s more, which RUN of weft sched has, too",
			text_time(time, after));
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
		end_run(tasks, life, own, event->ts, event->cpu);
	if (what == LIFE_EXECED)
		begin_run(tasks, life, own, event);
	if (what == LIFE_EXITED)
		end_life(tasks, own);
	own->losses = tasks->pass->state.losses;
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

/* How many programs the wanted tasks executed. */
static uint64_t count_programs(struct tasks_analysis *tasks)
{
	uint64_t different = 0;

	for (size_t i = 0; i < tasks->nr_execs; i++) {
		struct tasks_program *program = &tasks->programs[(uint32_t)tasks->execs[i]];
		bool wanted = tasks->owns[tasks->execs[i] >> 32].wanted;

		different += wanted && !program->chosen;
		program->chosen |= wanted;
	}
	return different;
}

static void tell_counts(struct tasks_analysis *tasks, const struct tasks_counts *counts, struct findings *findings)
{
	char began[TEXT_HUMAN], ended[TEXT_HUMAN] = "an unknown number", execs[TEXT_HUMAN], programs[TEXT_HUMAN],
				by[TEXT_HUMAN];
	char most[64 + TASK_COMM_LEN] = "";
	uint64_t started, different = count_programs(tasks);
	uint32_t best = busiest(tasks, &started);

	if (best != LIFE_NONE) {
		const struct life *life = lives_at(tasks->lives, best);

		snprintf(most, sizeof(most), "; %.15s-%" PRId32 " started the most: %s", tasks_name(tasks, life),
			 life->pid, text_count(by, started));
		/* A name stays on the line. */
		for (char *at = most; *at; at++)
			*at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
	}
	if (tasks->ends_known)
		text_count(ended, counts->ended);
	findings_note(findings, "%s task%s began, %s ended, %s exec%s of %s program%s%s",
		      text_count(began, counts->began), text_plural(counts->began), ended,
		      text_count(execs, counts->execs), text_plural(counts->execs), text_count(programs, different),
		      text_plural(different), most);
}

/* Without sched_process_exit the last switch of a task tells that it has ended. Returns whether it does of any. */
static bool end_by_switches(struct tasks_analysis *tasks)
{
	bool any = false;

	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);
		const struct state_task *task = tasks_state_of(tasks, life);

		if (!task || task->mode != TASK_DEAD || !task->died || life->known & LIFE_ENDED)
			continue;
		lives_end(tasks->lives, i, task->died);
		end_run(tasks, life, &tasks->owns[i], task->died, task->cpu);
		end_life(tasks, &tasks->owns[i]);
		any = true;
	}
	return any;
}

static int tasks_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct tasks_analysis *tasks = arg;
	struct tasks_counts counts = { .seen = 0 };
	bool by_switch = false;

	tasks->ends_recorded = pass_recorded(tasks->pass, &tasks_analysis.wants[WANT_EXIT]);
	tasks->ends_known = tasks->ends_recorded || tasks->pass->state.events[STATE_SWITCH];
	if (!tasks->ends_recorded && tasks->ends_known)
		by_switch = end_by_switches(tasks);
	for (uint32_t i = 0; i < tasks->nr_owns; i++) {
		const struct life *life = lives_at(tasks->lives, i);

		if (life->known & LIFE_TOLD && tasks_wants(tasks, life, &tasks->owns[i])) {
			tasks->owns[i].wanted = true;
			count(tasks, life, &tasks->owns[i], &counts);
		}
	}
	if (!counts.seen && !tasks->nr_owns && !tasks->pass->filter.shape)
		return PASS_NOTHING;
	tasks_put_tables(tasks, findings);
	tell_longest(tasks, findings);
	tell_counts(tasks, &counts, findings);
	findings_cut(findings, counts.older, "tasks that began before the start");
	findings_cut(findings, counts.alive, "tasks alive at the end");
	findings_broken(findings, tasks->broken, "runs of programs");
	findings_broken(findings, counts.doubtful, "tasks that may have ended");
	if (by_switch)
		findings_note(findings,
			      "sched_process_exit was not recorded: a task ends when it leaves its CPU for good");
	if (!by_switch && tasks->pass->state.events[STATE_SWITCH] && tasks->options.rows.by == TASKS_BY_TASK)
		tell_after_end(tasks, findings);
	if (counts.replaced)
		findings_note(findings, "%s task%s ended without an event that says when",
			      text_count((char[TEXT_HUMAN]){ 0 }, counts.replaced), text_plural(counts.replaced));
	return tasks->pass->failed || lives_failed(tasks->lives) ? fail_memory(fail) : 0;
}

static const char *const by[] = { [TASKS_BY_TASK] = "task",     [TASKS_BY_PROGRAM] = "program",
				  [TASKS_BY_PARENT] = "parent", [TASKS_BY_PROCESS] = "process",
				  [TASKS_BY_UNIT] = "unit",     [TASKS_BY_CONTAINER] = "container",
				  [TASKS_BY_POD] = "pod",       [TASKS_BY_CGROUP] = "cgroup",
				  [TASKS_BY_USER] = "user",     NULL };

const struct analysis_ops tasks_analysis = {
	.name = "tasks",
	.summary = "show which tasks were started, by whom, for how long, and how they ended",
	.columns = tasks_columns,
	.by = by,
	.options_size = sizeof(struct tasks_options),
	.of_tasks = true,
	.wants = wants,
	.nothing = "there are no tasks that began or ended among the events",
	.recorded_by = "-e sched -e task",
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
