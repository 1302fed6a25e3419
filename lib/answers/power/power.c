// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/power/power_wakes_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/reader/reader.h"

/*
 * Of a comparison: rows for all CPUs together, or for each. Else the rows of those who ran; the options of
 * power_analysis are struct row_options. From POWER_BY_WHO on enum who_part, in its order.
 */
enum power_by { POWER_BY_STATE, POWER_BY_CPU };
enum power_runners { POWER_BY_TASK, POWER_BY_WHO };

enum { POWER_ROLES = 12 };

struct power_cpu {
	uint64_t since; /* when the CPU entered its idle state */
	uint32_t state;
	bool idle, seen, lost; /* lost: events were lost; the CPU may have become idle in the gap */
	struct wake wake;
	uint64_t exits, idled, too_deep, too_shallow;
	uint64_t khz_since;
	uint32_t khz;  /* 0: unknown */
	uint32_t task; /* the state's index + 1 of the task whose time was weighed there last; 0: none */
	uint64_t samples, sampled, sampled_min, sampled_max; /* from pstate_sample, in kHz */
};

struct power_state {
	struct samples lasted;
	struct extreme longest;
};

struct power_frequency {
	uint64_t times, lasted;
	struct samples stays; /* only for a comparison; so are those below */
};

struct power_action {
	uint64_t since, times, total;
	bool open;
	struct extreme longest;
	struct samples each;
};

/*
 * How many cycles a task's CPUs made while it ran, at the frequencies that cpu_frequency tells.
 */
struct power_task {
	uint64_t known, unknown;     /* its run time at known frequencies, and at others */
	uint64_t cycles, millionths; /* of the known time; millionths of a cycle */
	uint32_t khz;                /* of the time that was weighed last; 0: unknown */
	uint64_t before;             /* the cycles when its present run began */
	/* The run times then, and the parts of all three sums in runs that a selection by name leaves out. */
	uint64_t known_before, unknown_before;
	uint64_t known_out, unknown_out, cycles_out;
	struct samples runs; /* only for a comparison */
};

/* Of tasks that belong together. */
struct power_group {
	uint64_t known, unknown, cycles;
};

struct power_analysis {
	struct pass *pass;
	enum power_by by;
	enum power_runners runners;
	enum who_part part;    /* of POWER_BY_WHO */
	struct u64_map groups; /* by pass_group(): struct power_group */
	struct roles roles;
	struct power_places {
		struct place cpu, value, other;
	} places[POWER_ROLES];      /* by role */
	struct u64_map cpus;        /* by number */
	struct u64_map states;      /* by CPU << 32 | state */
	struct u64_map frequencies; /* by CPU << 32 | kHz */
	struct wakes wakes;
	struct u64_map actions;   /* of suspend_resume, by the address of the action's name */
	struct power_task *tasks; /* by the state's index */
	size_t nr_tasks;
	uint64_t seen, cut, broken;
};

static void power_settle(struct power_analysis *power, struct power_cpu *cpu, uint32_t number, uint64_t now);

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

/* Weighs what the CPU's task has run up to now with the CPU's present frequency. Call it before that changes. */
static void power_weigh(struct power_analysis *power, struct power_cpu *cpu, uint32_t number)
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

/* What was weighed too much in an earlier run is taken back here, as it is from the task. */
static void add_to_group(struct power_analysis *power, uint32_t id, const struct power_task *task)
{
	struct power_group *group = u64_map_add(&power->groups, pass_group(power->pass, power->part, id));

	power->pass->failed |= !group;
	if (!group)
		return;
	group->known += task->known - task->known_before;
	group->unknown += task->unknown - task->unknown_before;
	group->cycles += task->cycles - task->before;
}

/* In a comparison a cycle counts as 1 ns, which is what it takes at 1 GHz. */
static void end_run(struct power_analysis *power, uint32_t id, uint64_t since)
{
	bool named = power->pass->state.naming.wants, compares = pass_compares(power->pass);
	bool grouped = power->runners == POWER_BY_WHO;
	struct power_task *task = named || compares || grouped ? task_at(power, id) : NULL;

	if (!task)
		return;
	if (grouped && pass_wants_since(power->pass, &power->pass->state.tasks[id], since))
		add_to_group(power, id, task);
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

static void power_see_switch(struct power_analysis *power, const struct event *event)
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
	if (!cpu)
		return;
	cpu->task = step->task + 1;
	wakes_switch(&power->wakes, &cpu->wake, event->cpu, power->pass->state.tasks[step->task].comm);
}

#define TASK_COLUMNS(X)                                                                       \
	X("TASK", TEXT, NULL, 0, put_runner, power, id)                                       \
	X("PID", NUMBER, NULL, SAME, put_pid, power, id)                                      \
	X("RUN", TIME, NULL, ADDS, table_cell_u64, ran + unknown)                             \
	X("UNKNOWN", TIME, NULL, ADDS, table_cell_u64, unknown)                               \
	X("CYCLES", COUNT, NULL, ADDS, table_cell_known, ran, cycles)                         \
	X("%", NUMBER, "cycles_percent", SPARE, table_cell_percent, cycles, ran ? all : 0, 2) \
	X("MEAN KHZ", COUNT, "mean_khz", 0, table_cell_known, ran, ran ? scale_round_mul_div(cycles, MILLION, ran) : 0)

static const struct table_column task_columns[] = COLUMNS(TASK_COLUMNS);

/* The index of a task, or whom tasks belong to. */
static void put_runner(struct table *table, const struct power_analysis *power, uint32_t id)
{
	if (power->runners == POWER_BY_WHO)
		table_cell(table, pass_group_text(power->pass, power->part, id));
	else
		pass_put_comm(table, power->pass, id);
}

static void put_pid(struct table *table, const struct power_analysis *power, uint32_t id)
{
	if (power->runners == POWER_BY_WHO)
		table_cell_known_s64(table, power->part == WHO_PROCESS && id, (int64_t)id);
	else
		pass_put_pid(table, power->pass, id);
}

static void put_groups(const struct power_analysis *power, uint64_t all, struct table *table)
{
	const struct power_group *group;
	uint64_t who;

	for (size_t at = 0; (group = u64_map_next(&power->groups, &at, &who));) {
		uint64_t ran = group->known, unknown = group->unknown, cycles = group->cycles;
		uint32_t id = (uint32_t)who;

		if (ran + unknown) {
			TASK_COLUMNS(CELL)
		}
	}
}

static void put_task(const struct power_analysis *power, uint32_t id, uint64_t all, struct table *table)
{
	const struct power_task *task = &power->tasks[id];
	uint64_t ran = task->known - task->known_out, unknown = task->unknown - task->unknown_out;
	uint64_t cycles = task->cycles - task->cycles_out;

	if (task->runs.count)
		table_attach_part(table, &task->runs, NULL, "at 1 GHz");
	TASK_COLUMNS(CELL)
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

/* Adds the table of tasks. Returns -EPROTO if its sums are wrong: that is a bug in weft. */
static int power_put_tasks(struct power_analysis *power, struct findings *findings, struct fail *fail)
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
			       task_columns);
	for (uint32_t id = 0; id < power->nr_tasks; id++)
		all += power->tasks[id].cycles;
	if (table && power->runners == POWER_BY_WHO) {
		pass_group_head(findings, power->part, 0);
		put_groups(power, all, table);
		return 0;
	}
	for (uint32_t id = 0; table && id < power->nr_tasks; id++)
		if (power->tasks[id].known + power->tasks[id].unknown &&
		    pass_wants(power->pass, &power->pass->state.tasks[id]))
			put_task(power, id, all, table);
	return 0;
}

static uint64_t span(const struct power_analysis *power)
{
	return power->pass->state.now - power->pass->state.start;
}

enum { CALLED = 24, WHERE = 16 };

/* The last word of a compared row: its CPU, where the rows of all CPUs are not one. */
static const char *where(const struct power_analysis *power, uint32_t cpu, char text[WHERE])
{
	if (power->by != POWER_BY_CPU)
		return NULL;
	snprintf(text, WHERE, "cpu %" PRIu32, cpu);
	return text;
}

enum { OF_SAMPLES = WHEN };

#define CPU_COLUMNS(X)                                                                                               \
	X("CPU", NUMBER, NULL, SAME, table_cell_u64, number)                                                         \
	X("IDLE", TIME, NULL, ADDS, table_cell_known, cpu->seen, cpu->idled)                                         \
	X("%", NUMBER, "idle_percent", 0, table_cell_percent, cpu->idled, cpu->seen ? span(power) : 0, 2)            \
	X("WAKEUPS", COUNT, NULL, ADDS, table_cell_known, cpu->seen, cpu->exits)                                     \
	X("/S", COUNT, "wakeups_per_second", 0, table_cell_ratio, cpu->exits, NS_PER_S, cpu->seen ? span(power) : 0, \
	  1)                                                                                                         \
	X("TOO DEEP", COUNT, "too_deep", ADDS, table_cell_known, misses, cpu->too_deep)                              \
	X("TOO SHALLOW", COUNT, "too_shallow", ADDS, table_cell_known, misses, cpu->too_shallow)                     \
	X("SAMPLES", COUNT, NULL, DATA | ADDS | OF_SAMPLES, table_cell_u64, cpu->samples)                            \
	X("KHZ MIN", COUNT, "sampled_min_khz", DATA | OF_SAMPLES, put_khz, cpu->samples, cpu->sampled_min)           \
	X("KHZ MEAN", COUNT, "sampled_mean_khz", DATA | OF_SAMPLES, put_khz, cpu->samples,                           \
	  cpu->samples ? cpu->sampled / cpu->samples : 0)                                                            \
	X("KHZ MAX", COUNT, "sampled_max_khz", DATA | OF_SAMPLES, put_khz, cpu->samples, cpu->sampled_max)

static const struct table_column cpu_columns[] = COLUMNS(CPU_COLUMNS);

/* A frequency that no sample told is not 0. */
static void put_khz(struct table *table, bool known, uint64_t khz)
{
	if (known)
		table_cell_u64(table, khz);
	else
		table_cell_nothing(table);
}

static void put_cpus(const struct power_analysis *power, struct findings *findings)
{
	bool misses = pass_has(power->pass, "power:cpu_idle_miss");
	struct table *table =
		findings_table(findings, "cpus", "CPUs: how long they idled, and how often they were woken", "idle",
			       cpu_columns);
	const struct power_cpu *cpu;
	bool sampled = false;
	uint64_t number;
	size_t at = 0;

	while (table && (cpu = u64_map_next(&power->cpus, &at, &number))) {
		if (!pass_wants_cpu(power->pass, (uint32_t)number))
			continue;
		CPU_COLUMNS(CELL)
		sampled |= cpu->samples;
	}
	findings_show(findings, OF_SAMPLES, sampled);
}

#define STATE_COLUMNS(X)                                                                        \
	X("CPU", NUMBER, NULL, SAME, table_cell_u64, key >> 32)                                 \
	X("STATE", NUMBER, NULL, SAME, table_cell_u64, (uint32_t)key)                           \
	X("ENTRIES", COUNT, NULL, ADDS, table_cell_u64, state->lasted.count)                    \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, state->lasted.sum)                         \
	X("%", NUMBER, "percent", SPARE, table_cell_percent, state->lasted.sum, span(power), 2) \
	SPREAD(X, "", "", SPARE, 0, 0, lasted)                                                  \
	X("MAX AT", NUMBER, "max_at", SPARE, table_cell_moment, state->longest.to)

static const struct table_column state_columns[] = COLUMNS(STATE_COLUMNS);

static void put_states(const struct power_analysis *power, struct findings *findings)
{
	struct table *table = findings_table(findings, "states", "idle states of each CPU", "total", state_columns);
	struct extreme longest = { .to = 0 };
	const struct power_state *state;
	char called[CALLED], at_cpu[WHERE];
	uint64_t key;
	size_t at = 0;

	while (table && (state = u64_map_next(&power->states, &at, &key))) {
		struct percentiles lasted = percentiles_of(&state->lasted);

		if (!pass_wants_cpu(power->pass, (uint32_t)(key >> 32)))
			continue;
		snprintf(called, sizeof(called), "state %" PRIu32, (uint32_t)key);
		table_attach_part(table, &state->lasted, called, where(power, (uint32_t)(key >> 32), at_cpu));
		STATE_COLUMNS(CELL)
		extreme_see(&longest, &state->longest);
	}
	extreme_tell(power->pass, findings, "time in an idle state", &longest);
}

#define FREQUENCY_COLUMNS(X)                                            \
	X("CPU", NUMBER, NULL, SAME, table_cell_u64, key >> 32)         \
	X("KHZ", COUNT, NULL, SAME, table_cell_u64, (uint32_t)key)      \
	X("TIMES", COUNT, NULL, ADDS, table_cell_u64, frequency->times) \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, frequency->lasted) \
	X("%", NUMBER, "percent", 0, table_cell_percent, frequency->lasted, span(power), 2)

static const struct table_column frequency_columns[] = COLUMNS(FREQUENCY_COLUMNS);

static void put_frequencies(struct power_analysis *power, struct findings *findings)
{
	struct table *table;
	const struct power_frequency *frequency;
	struct power_cpu *cpu;
	char called[CALLED], at_cpu[WHERE];
	uint64_t key;
	size_t at = 0;

	while ((cpu = u64_map_next(&power->cpus, &at, &key)))
		power_settle(power, cpu, (uint32_t)key, power->pass->state.now);
	if (!power->frequencies.len)
		return;
	table = findings_table(findings, "frequencies", "frequencies of each CPU, as far as they are known", "total",
			       frequency_columns);
	for (at = 0; table && (frequency = u64_map_next(&power->frequencies, &at, &key));) {
		if (!pass_wants_cpu(power->pass, (uint32_t)(key >> 32)))
			continue;
		snprintf(called, sizeof(called), "%" PRIu32 " kHz", (uint32_t)key);
		table_attach_part(table, &frequency->stays, called, where(power, (uint32_t)(key >> 32), at_cpu));
		FREQUENCY_COLUMNS(CELL)
	}
}

#define ACTION_COLUMNS(X)                                               \
	X("ACTION", TEXT, NULL, 0, put_action, power, key)              \
	X("TIMES", COUNT, NULL, 0, table_cell_u64, action->times)       \
	X("TOTAL", TIME, NULL, 0, table_cell_u64, action->total)        \
	X("MAX", TIME, NULL, 0, table_cell_u64, action->longest.lasted) \
	X("MAX AT", NUMBER, "max_at", 0, table_cell_moment, action->longest.to)

static const struct table_column action_columns[] = COLUMNS(ACTION_COLUMNS);

static void put_action(struct table *table, const struct power_analysis *power, uint64_t address)
{
	const char *name = symbols_string(power->pass->reader->buffers[0].context->symbols, address);

	if (name)
		table_cell(table, name);
	else
		table_cellf(table, "0x%" PRIx64, address);
}

static void put_actions(const struct power_analysis *power, struct findings *findings)
{
	struct table *table;
	const struct power_action *action;
	uint64_t key;
	size_t at = 0;

	if (!power->actions.len)
		return;
	table = findings_table(findings, "suspend", "steps of suspending and resuming", "total", action_columns);
	while (table && (action = u64_map_next(&power->actions, &at, &key))) {
		if (!action->times)
			continue;
		table_attach(table, &action->each);
		ACTION_COLUMNS(CELL)
	}
}

static int power_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct power_analysis *power = arg;
	struct power_cpu *cpu;
	bool tasks = power->frequencies.len && power->pass->state.events[STATE_SWITCH];
	uint64_t idle = 0, key;
	size_t at = 0;
	int r;

	if (!power->seen && !power->pass->filter.shape)
		return PASS_NOTHING;
	while ((cpu = u64_map_next(&power->cpus, &at, &key))) {
		idle += cpu->idle;
		wakes_end(&power->wakes, &cpu->wake, (uint32_t)key, false);
	}
	put_cpus(power, findings);
	if (power->states.len || power->pass->filter.shape) {
		put_states(power, findings);
		wakes_put(&power->wakes, power->by == POWER_BY_CPU, findings);
	}
	put_frequencies(power, findings);
	r = tasks ? power_put_tasks(power, findings, fail) : 0;
	if (r)
		return r;
	put_actions(power, findings);
	if (pass_is_narrow(power->pass))
		findings_note(findings, tasks ? "a choice of tasks has no part in the other tables, which are of CPUs" :
						"the rows are of CPUs: a choice of tasks has no part in them");
	findings_cut(findings, power->cut, "stays in idle that began before the start");
	findings_cut(findings, idle, "stays in idle at the end");
	findings_broken(findings, power->broken, "stays in idle");
	return power->pass->failed || power->roles.failed ? fail_memory(fail) : 0;
}

/* How deep and how long CPUs were idle, what woke them, and the frequencies at which they ran. */

static const struct analysis_want wants[] = {
	{ "power:cpu_idle", NULL, "idle states" },
	{ "irq:irq_handler_entry", NULL, "which device woke a CPU" },
	{ "irq_vectors", "i*:*_entry,powerpc:timer_interrupt_entry,powerpc:doorbell_entry",
	  "the timer and other CPUs that woke one" },
	{ "timer:hrtimer_start,timer:hrtimer_expire_entry,timer:timer_start,timer:timer_expire_entry", NULL,
	  "which timer woke a CPU, and who had set it" },
	{ "ipi:ipi_send_cpu", "ipi:ipi_raise", "who sent an interrupt to another CPU" },
	{ "power:cpu_idle_miss", NULL, "which idle states were too deep or too shallow" },
	{ "power:cpu_frequency,power:pstate_sample", NULL, "how fast CPUs ran" },
	{ "sched:sched_switch", NULL, "how many cycles each task ran" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role { IDLE = 1, MISS, FREQUENCY, PSTATE, SUSPEND, HARD, VECTOR, IPI, SWITCH, HRTIMER, TIMER };
_Static_assert(TIMER + 1 == POWER_ROLES, "as many as there is room for");

static const struct role_name names[] = {
	{ "power", "cpu_idle", IDLE },
	{ "power", "cpu_idle_miss", MISS },
	{ "power", "cpu_frequency", FREQUENCY },
	{ "power", "pstate_sample", PSTATE },
	{ "power", "suspend_resume", SUSPEND },
	{ "irq", "irq_handler_entry", HARD },
	{ "irq_vectors", "*_entry", VECTOR },
	{ "powerpc", "timer_interrupt_entry", VECTOR },
	{ "powerpc", "doorbell_entry", VECTOR },
	{ "ipi", "ipi_entry", IPI },
	{ "sched", "sched_switch", SWITCH },
	{ "timer", "hrtimer_expire_entry", HRTIMER },
	{ "timer", "timer_expire_entry", TIMER },
	{ NULL, NULL, 0 },
};

/* The fields of each event: its subject (such as a CPU), a value, and a second value. */
static const struct {
	const char *cpu, *value, *other;
} fields[POWER_ROLES] = {
	[IDLE] = { "cpu_id", "state", NULL },      [MISS] = { "cpu_id", "state", "below" },
	[FREQUENCY] = { "cpu_id", "state", NULL }, [PSTATE] = { NULL, "freq", NULL },
	[SUSPEND] = { NULL, "action", "start" },   [HARD] = { NULL, "irq", "name" },
	[IPI] = { NULL, "reason", NULL },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct power_analysis *power = arg;
	const struct row_options *rows = options;

	power->pass = pass;
	if (rows && pass_compares(pass))
		power->by = (enum power_by)rows->by;
	else if (rows && rows->by >= POWER_BY_WHO)
		power->runners = POWER_BY_WHO;
	power->part = power->runners == POWER_BY_WHO ? (enum who_part)(rows->by - POWER_BY_WHO) : WHO_PROCESS;
	u64_map_init(&power->groups, sizeof(struct power_group));
	roles_init(&power->roles, names);
	u64_map_init(&power->cpus, sizeof(struct power_cpu));
	u64_map_init(&power->states, sizeof(struct power_state));
	u64_map_init(&power->frequencies, sizeof(struct power_frequency));
	wakes_init(&power->wakes, pass);
	u64_map_init(&power->actions, sizeof(struct power_action));
	return true;
}

static void release(void *arg)
{
	struct power_analysis *power = arg;
	struct power_frequency *frequency;
	struct power_action *action;
	struct power_state *state;
	uint64_t key;

	for (size_t at = 0; (state = u64_map_next(&power->states, &at, &key));)
		samples_release(&state->lasted);
	for (size_t at = 0; (frequency = u64_map_next(&power->frequencies, &at, &key));)
		samples_release(&frequency->stays);
	for (size_t at = 0; (action = u64_map_next(&power->actions, &at, &key));)
		samples_release(&action->each);
	for (size_t i = 0; i < power->nr_tasks; i++)
		samples_release(&power->tasks[i].runs);
	free(power->tasks);
	u64_map_release(&power->groups);
	u64_map_release(&power->cpus);
	u64_map_release(&power->states);
	u64_map_release(&power->frequencies);
	wakes_release(&power->wakes);
	u64_map_release(&power->actions);
	roles_release(&power->roles);
}

/* Returns the map's entry for a key; a new entry is all zero. NULL when memory runs out. */
static void *entry(struct power_analysis *power, struct u64_map *map, uint64_t key)
{
	void *value = u64_map_add(map, key);

	power->pass->failed |= !value;
	return value;
}

/* Keeps the time, if rows are compared with rows of other files. */
static void compare(struct power_analysis *power, struct samples *samples, uint64_t lasted)
{
	if (pass_compares(power->pass))
		samples_add(samples, &power->pass->budget, lasted);
}

static void leave_idle(struct power_analysis *power, struct power_cpu *cpu, uint32_t number, const struct event *event)
{
	struct extreme whole = { .from = cpu->since, .to = event->ts, .cpu = number, .task = STATE_NO_TASK };
	struct power_state *state;

	if (!cpu->idle) {
		power->cut += !cpu->lost && !cpu->seen;
		power->broken += cpu->lost;
		cpu->lost = false;
		return;
	}
	cpu->idle = false;
	cpu->exits++;
	whole.lasted = event->ts - cpu->since;
	cpu->idled += whole.lasted;
	state = entry(power, &power->states, (uint64_t)number << 32 | cpu->state);
	if (!state)
		return;
	samples_add(&state->lasted, &power->pass->budget, whole.lasted);
	extreme_see(&state->longest, &whole);
	wakes_leave(&cpu->wake);
}

static void see_idle(struct power_analysis *power, const struct event *event)
{
	uint32_t number = (uint32_t)place_u64(&power->places[IDLE].cpu, event),
		 state = (uint32_t)place_u64(&power->places[IDLE].value, event);
	struct power_cpu *cpu = entry(power, &power->cpus, number);

	if (!cpu)
		return;
	if (state == UINT32_MAX) {
		leave_idle(power, cpu, number, event);
	} else {
		/* The event that left the former idle state is missing. */
		power->broken += cpu->idle;
		wakes_end(&power->wakes, &cpu->wake, number, false);
		cpu->idle = true;
		cpu->lost = false;
		cpu->since = event->ts;
		cpu->state = state;
	}
	cpu->seen = true;
}

static void see_interrupt(struct power_analysis *power, const struct event *event, enum role role)
{
	struct power_cpu *cpu = u64_map_find(&power->cpus, event->cpu);
	const char *name = event->type->format->name;
	char source[WAKE_NAME];
	size_t len = strlen(name);

	if (!cpu)
		return;
	if (role == VECTOR && len > 6) {
		snprintf(source, sizeof(source), "vector %.*s", (int)(len - 6), name);
	} else if (role == HARD) {
		if (!place_string(&power->places[HARD].other, event, &name, &len))
			len = 0;
		snprintf(source, sizeof(source), "irq %" PRIu64 " %.*s", place_u64(&power->places[HARD].value, event),
			 (int)len, name);
	} else {
		name = symbols_string(event->type->context->symbols, place_u64(&power->places[IPI].value, event));
		snprintf(source, sizeof(source), "ipi %s", name ? name : "");
	}
	wakes_interrupt(&power->wakes, &cpu->wake, event, cpu->idle, source);
}

static void see_expire(struct power_analysis *power, const struct event *event, bool hrtimer)
{
	struct power_cpu *cpu = u64_map_find(&power->cpus, event->cpu);

	if (cpu)
		wakes_expire(&power->wakes, &cpu->wake, event, hrtimer);
}

static void see_miss(struct power_analysis *power, const struct event *event)
{
	struct power_cpu *cpu = entry(power, &power->cpus, (uint32_t)place_u64(&power->places[MISS].cpu, event));
	bool below = place_u64(&power->places[MISS].other, event);

	if (!cpu)
		return;
	cpu->too_deep += below;
	cpu->too_shallow += !below;
}

/* Adds the time up to now to the CPU's present frequency. */
static void power_settle(struct power_analysis *power, struct power_cpu *cpu, uint32_t number, uint64_t now)
{
	struct power_frequency *frequency =
		cpu->khz ? entry(power, &power->frequencies, (uint64_t)number << 32 | cpu->khz) : NULL;

	if (frequency) {
		frequency->lasted += now - cpu->khz_since;
		compare(power, &frequency->stays, now - cpu->khz_since);
	}
	cpu->khz_since = now;
}

/* The event may come from a CPU other than the one whose frequency changes. */
static void see_frequency(struct power_analysis *power, const struct event *event)
{
	uint32_t number = (uint32_t)place_u64(&power->places[FREQUENCY].cpu, event),
		 khz = (uint32_t)place_u64(&power->places[FREQUENCY].value, event);
	struct power_cpu *cpu = entry(power, &power->cpus, number);
	struct power_frequency *frequency = entry(power, &power->frequencies, (uint64_t)number << 32 | khz);

	if (!cpu || !frequency)
		return;
	frequency->times++;
	power_settle(power, cpu, number, event->ts);
	power_weigh(power, cpu, number);
	cpu->khz = khz;
}

static void see_sample(struct power_analysis *power, const struct event *event)
{
	struct power_cpu *cpu = entry(power, &power->cpus, event->cpu);
	uint64_t khz = place_u64(&power->places[PSTATE].value, event);

	if (!cpu)
		return;
	cpu->samples++;
	cpu->sampled += khz;
	cpu->sampled_min = cpu->samples == 1 || khz < cpu->sampled_min ? khz : cpu->sampled_min;
	cpu->sampled_max = khz > cpu->sampled_max ? khz : cpu->sampled_max;
}

static void see_suspend(struct power_analysis *power, const struct event *event)
{
	struct power_action *action = entry(power, &power->actions, place_u64(&power->places[SUSPEND].value, event));

	if (!action)
		return;
	if (place_u64(&power->places[SUSPEND].other, event)) {
		action->since = event->ts;
		action->open = true;
	} else if (action->open) {
		action->open = false;
		action->times++;
		action->total += event->ts - action->since;
		compare(power, &action->each, event->ts - action->since);
		extreme_see(&action->longest, &(struct extreme){ .lasted = event->ts - action->since,
								 .from = action->since,
								 .to = event->ts,
								 .cpu = event->cpu,
								 .task = STATE_NO_TASK });
	}
}

/* A CPU's lost events may include events of its own idle states, and of any CPU's frequency. */
static void see_lost(struct power_analysis *power, const struct event *event)
{
	struct power_cpu *cpu;
	uint64_t number;
	size_t at = 0;

	while ((cpu = u64_map_next(&power->cpus, &at, &number))) {
		power_weigh(power, cpu, (uint32_t)number);
		cpu->khz = 0;
		if (number != event->cpu)
			continue;
		cpu->task = 0;
		power->broken += cpu->idle;
		cpu->lost = !cpu->idle;
		cpu->idle = false;
		wakes_end(&power->wakes, &cpu->wake, event->cpu, true);
	}
}

static uint8_t look(void *arg, const struct event *event)
{
	struct power_analysis *power = arg;
	bool fresh;
	uint8_t role = roles_of(&power->roles, event, &fresh);

	if (fresh) {
		(void)(fields[role].cpu && place_find(&power->places[role].cpu, event->type, fields[role].cpu));
		(void)(fields[role].value && place_find(&power->places[role].value, event->type, fields[role].value));
		(void)(fields[role].other && place_find(&power->places[role].other, event->type, fields[role].other));
	}
	return role;
}

static void see(void *arg, const struct event *event, uint8_t number)
{
	struct power_analysis *power = arg;
	enum role role = (enum role)number;

	if (event->kind == EVENT_LOST) {
		see_lost(power, event);
		return;
	}
	power->seen += role < HARD;
	if (role == SWITCH)
		power_see_switch(power, event);
	else if (role == IDLE)
		see_idle(power, event);
	else if (role >= HRTIMER)
		see_expire(power, event, role == HRTIMER);
	else if (role >= HARD)
		see_interrupt(power, event, role);
	else if (role == MISS)
		see_miss(power, event);
	else if (role == FREQUENCY)
		see_frequency(power, event);
	else if (role == PSTATE)
		see_sample(power, event);
	else
		see_suspend(power, event);
}

static const char *const by[] = { [POWER_BY_TASK] = "task", [POWER_BY_WHO] = WHO_WORDS, NULL };
static const char *const compared_by[] = { [POWER_BY_STATE] = "state", [POWER_BY_CPU] = "cpu", NULL };

const struct analysis_ops power_analysis = {
	.name = "power",
	.summary = "show how deep CPUs idled, what woke them, and how fast they ran",
	.columns = cpu_columns,
	.by = by,
	.compared_by = compared_by,
	.wants = wants,
	.nothing = "there are no idle states or frequencies among the events",
	.recorded_by = "-e power -e irq -e irq_vectors",
	.essential = 1,
	.size = sizeof(struct power_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = power_finish,
	.release = release,
};
