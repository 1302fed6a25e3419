// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/power_internal.h"

#include "lib/analysis/findings.h"
#include "lib/base/fail.h"
#include "lib/base/scale.h"
#include "lib/base/table.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"

#include <errno.h>

/*
 * The run time of tasks, weighed with the frequencies of their CPUs. The state knows how long each task ran. Whenever
 * the frequency or the task of a CPU changes, what it has run since the last time is weighed, so that all parts
 * together are the state's run time.
 */

enum { MILLION = 1000 * 1000 };

/* 1 kHz for 1 ms, a million ns, is one cycle. */
static void add(struct power_task *task, uint64_t ns, uint32_t khz)
{
	task->khz = khz;
	if (!khz) {
		task->unknown += ns;
		return;
	}
	task->known += ns;
	task->millionths += ns % MILLION * khz;
	task->cycles += ns / MILLION * khz + task->millionths / MILLION;
	task->millionths %= MILLION;
}

static uint64_t less(uint64_t *from, uint64_t by)
{
	uint64_t taken = by < *from ? by : *from;

	*from -= taken;
	return by - taken;
}

/*
 * Lost events showed that the task had stopped running before the time up to which its run was weighed. That was most
 * likely done at one frequency, the last one.
 */
static void take_back(struct power_task *task, uint64_t ns)
{
	uint64_t rest = less(task->khz ? &task->known : &task->unknown, ns), back = ns - rest;

	(void)less(task->khz ? &task->unknown : &task->known, rest);
	(void)less(&task->cycles, back / MILLION * task->khz + back % MILLION * task->khz / MILLION);
}

/* Returns the task, unless it is an idle task; NULL also without memory. */
static struct power_task *task_at(struct power_analysis *power, uint32_t id)
{
	const struct state *state = &power->pass->state;

	if (id >= state->nr_tasks || state->tasks[id].idle)
		return NULL;
	while (power->nr_tasks <= id) {
		if (!vec_push(power->tasks, power->nr_tasks)) {
			power->pass->failed = true;
			return NULL;
		}
	}
	return &power->tasks[id];
}

static void weigh(struct power_analysis *power, uint32_t id, uint32_t khz)
{
	struct power_task *task = task_at(power, id);
	uint64_t ran, weighed;

	if (!task)
		return;
	ran = state_spent(&power->pass->state, id, TASK_RUNNING);
	weighed = task->known + task->unknown;
	if (ran > weighed)
		add(task, ran - weighed, khz);
	else if (ran < weighed)
		take_back(task, weighed - ran);
}

/* The frequency of a task that came to the CPU unseen is not known for its time until now. */
static void weigh_on(struct power_analysis *power, struct power_cpu *cpu, uint32_t id)
{
	bool expected = !cpu->task || cpu->task == id + 1;

	if (!expected && cpu->task)
		weigh(power, cpu->task - 1, 0);
	weigh(power, id, expected ? cpu->khz : 0);
	cpu->task = id == STATE_NO_TASK ? 0 : id + 1;
}

void power_weigh(struct power_analysis *power, struct power_cpu *cpu, uint32_t number)
{
	uint32_t id = state_running(&power->pass->state, number);

	/* Lost events: its last task is not on the CPU any more. */
	if (id == STATE_NO_TASK && cpu->task)
		id = cpu->task - 1;
	weigh_on(power, cpu, id);
}

static uint64_t more(uint64_t sum, uint64_t before)
{
	return sum > before ? sum - before : 0;
}

/* In a comparison a cycle counts as 1 ns, which is what it takes at 1 GHz. */
static void end_run(struct power_analysis *power, uint32_t id, uint64_t since)
{
	bool named = power->pass->state.naming.wants, compares = pass_compares(power->pass);
	struct power_task *task = named || compares ? task_at(power, id) : NULL;

	if (!task)
		return;
	if (named && !pass_wants_since(power->pass, &power->pass->state.tasks[id], since)) {
		task->known_out += more(task->known, task->known_before);
		task->unknown_out += more(task->unknown, task->unknown_before);
		task->cycles_out += more(task->cycles, task->before);
	} else if (compares && task->cycles > task->before) {
		samples_add(&task->runs, &power->pass->budget, task->cycles - task->before);
	}
	task->before = task->cycles;
	task->known_before = task->known;
	task->unknown_before = task->unknown;
}

void power_see_switch(struct power_analysis *power, const struct event *event)
{
	const struct state_step *step = &power->pass->state.step;
	struct power_cpu *cpu = u64_map_find(&power->cpus, event->cpu);

	if (step->kind != STEP_SWITCH)
		return;
	/* The frequency of a CPU without events of its own is not known. */
	if (cpu)
		weigh_on(power, cpu, step->other);
	else
		weigh(power, step->other, 0);
	end_run(power, step->other, step->ran_since);
	weigh(power, step->task, 0);
	if (cpu)
		cpu->task = step->task + 1;
}

static const struct table_column columns[] = {
	{ "TASK", TABLE_TEXT, NULL },
	{ "PID", TABLE_NUMBER, NULL },
	{ "RUN", TABLE_TIME, NULL },
	{ "UNKNOWN", TABLE_TIME, NULL },
	{ "CYCLES", TABLE_COUNT, NULL },
	{ "%", TABLE_NUMBER, "cycles_percent" },
	{ "MEAN KHZ", TABLE_COUNT, "mean_khz" },
};

static void put_task(const struct power_analysis *power, uint32_t id, uint64_t all, struct table *table)
{
	const struct state_task *known = &power->pass->state.tasks[id];
	const struct power_task *task = &power->tasks[id];
	uint64_t ran = task->known - task->known_out, unknown = task->unknown - task->unknown_out;
	uint64_t cycles = task->cycles - task->cycles_out;

	if (task->runs.count)
		table_attach_part(table, &task->runs, NULL, "at 1 GHz");
	table_cell(table, pass_comm(power->pass, known));
	table_cell_s64(table, known->pid);
	table_cell_u64(table, ran + unknown);
	table_cell_u64(table, unknown);
	if (!ran) {
		for (int i = 0; i < 3; i++)
			table_cell(table, "-");
		return;
	}
	table_cell_u64(table, cycles);
	table_cell_percent(table, cycles, all, 2);
	table_cell_u64(table, scale_round_mul_div(cycles, MILLION, ran));
}

/* What the last events left, and runs that no switch has ended. */
static void weigh_rest(struct power_analysis *power)
{
	struct power_cpu *cpu;
	uint64_t number;

	for (size_t at = 0; (cpu = u64_map_next(&power->cpus, &at, &number));)
		power_weigh(power, cpu, (uint32_t)number);
	for (uint32_t id = 0; id < power->pass->state.nr_tasks; id++) {
		weigh(power, id, 0);
		end_run(power, id, power->pass->state.tasks[id].since);
	}
}

static bool adds_up(const struct power_analysis *power)
{
	const struct state *state = &power->pass->state;

	for (uint32_t id = 0; id < power->nr_tasks; id++)
		if (!state->tasks[id].idle &&
		    power->tasks[id].known + power->tasks[id].unknown != state_spent(state, id, TASK_RUNNING))
			return false;
	return true;
}

int power_put_tasks(struct power_analysis *power, struct findings *findings, struct fail *fail)
{
	struct table *table;
	uint64_t all = 0;

	weigh_rest(power);
	if (power->pass->failed)
		return fail_memory(fail);
	if (!adds_up(power))
		return fail_set(fail, -EPROTO,
				"the run times at each frequency are not the run time; this is a bug in weft");
	table = findings_table(findings, "tasks", "tasks: how long they ran, and how many cycles that was", "cycles",
			       columns, array_size(columns));
	findings_course(findings, 1 << 1, 1 << 2 | 1 << 3 | 1 << 4);
	for (uint32_t id = 0; id < power->nr_tasks; id++)
		all += power->tasks[id].cycles;
	for (uint32_t id = 0; table && id < power->nr_tasks; id++)
		if (power->tasks[id].known + power->tasks[id].unknown &&
		    pass_wants(power->pass, &power->pass->state.tasks[id]))
			put_task(power, id, all, table);
	if (table)
		table->spare = 1 << 5;
	return 0;
}
