// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/*
 * Random CPUs, tasks, interrupts and softirqs whose time a second, simpler account adds up: each step of 100 us is
 * painted with the run that has the CPU then, into an array of all windows.
 */

enum { STEP = 100 * 1000, STEPS = 4000, WINDOWS = STEPS / 100 + 2, CPUS = 2, TASKS = 4, DEPTH = 3 };
enum { HARD, SOFT, VECTOR, SOURCES };

struct run {
	int source; /* -1: none */
	uint64_t windows[WINDOWS];
};

struct cpu {
	int task; /* 0: idle */
	struct run soft[TASKS];
	struct run hard[DEPTH]; /* on top of the task */
	int depth;
};

struct account {
	struct cpu cpus[CPUS];
	uint64_t windows[SOURCES][CPUS][WINDOWS], taken[CPUS][TASKS], seed;
	struct buf script;
	bool preempts;
};

static uint64_t draw(struct account *account, uint64_t below)
{
	account->seed ^= account->seed << 13;
	account->seed ^= account->seed >> 7;
	account->seed ^= account->seed << 17;
	return account->seed % below;
}

static int pid_of(int cpu, int task)
{
	return task ? cpu * 10 + task : 0;
}

static void say(struct account *account, int cpu, uint64_t step, const char *what)
{
	CHECK(buf_addf(&account->script, "%d %" PRIu64 " %d %s\n", cpu, step * STEP,
		       pid_of(cpu, account->cpus[cpu].task), what));
}

static void begin(struct account *account, int cpu, uint64_t step, struct run *run, int source)
{
	static const char *const entries[] = { "irq_handler_entry irq=9 name=disk", "softirq_entry vec=3",
					       "local_timer_entry vector=236" };

	*run = (struct run){ .source = source };
	say(account, cpu, step, entries[source]);
}

static void end(struct account *account, int cpu, uint64_t step, struct run *run)
{
	static const char *const exits[] = { "irq_handler_exit irq=9 ret=1", "softirq_exit vec=3",
					     "local_timer_exit vector=236" };

	say(account, cpu, step, exits[run->source]);
	for (int i = 0; i < WINDOWS; i++) {
		account->windows[run->source][cpu][i] += run->windows[i];
		account->taken[cpu][account->cpus[cpu].task] += run->windows[i];
	}
	run->source = -1;
}

/* On PREEMPT_RT a task can lose the CPU in a softirq; only one task of a CPU is in one. */
static void change_task(struct account *account, int number, uint64_t step)
{
	struct cpu *cpu = &account->cpus[number];
	int next = (int)draw(account, TASKS);
	char text[160];

	if (next == cpu->task || (cpu->soft[cpu->task].source >= 0 && (!account->preempts || !cpu->task)))
		return;
	snprintf(text, sizeof(text), "sched_switch prev_comm=t%d prev_pid=%d prev_state=0 next_comm=t%d next_pid=%d",
		 pid_of(number, cpu->task), pid_of(number, cpu->task), pid_of(number, next), pid_of(number, next));
	say(account, number, step, text);
	cpu->task = next;
}

static void change_softirq(struct account *account, int number, uint64_t step)
{
	struct cpu *cpu = &account->cpus[number];
	struct run *soft = &cpu->soft[cpu->task];

	if (soft->source >= 0) {
		end(account, number, step, soft);
		return;
	}
	for (int i = 0; i < TASKS; i++)
		if (cpu->soft[i].source >= 0)
			return;
	begin(account, number, step, soft, SOFT);
}

static void act(struct account *account, int number, uint64_t step)
{
	struct cpu *cpu = &account->cpus[number];
	uint64_t what = draw(account, 100);

	if (cpu->depth && what < 40)
		end(account, number, step, &cpu->hard[--cpu->depth]);
	else if (cpu->depth < DEPTH && what < 60)
		begin(account, number, step, &cpu->hard[cpu->depth++], what < 50 ? HARD : VECTOR);
	else if (!cpu->depth && what < 65)
		change_softirq(account, number, step);
	else if (!cpu->depth && what < 75)
		change_task(account, number, step);
}

/* Who has the CPU from this step to the next one. */
static void paint(struct cpu *cpu, uint64_t step)
{
	if (cpu->depth)
		cpu->hard[cpu->depth - 1].windows[step / 100] += STEP;
	else if (cpu->soft[cpu->task].source >= 0)
		cpu->soft[cpu->task].windows[step / 100] += STEP;
}

static void live(struct account *account)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int task = 0; task < TASKS; task++)
			account->cpus[cpu].soft[task].source = -1;
	for (uint64_t step = 1; step < STEPS; step++)
		for (int cpu = 0; cpu < CPUS; cpu++) {
			act(account, cpu, step);
			paint(&account->cpus[cpu], step);
		}
}

static void check_source(struct analysed *analysed, const struct account *account, int source, const char *kind)
{
	uint64_t self = 0, most = 0;
	int where = 0, when = 0;
	char text[32];

	for (int i = 0; i < WINDOWS; i++)
		for (int cpu = 0; cpu < CPUS; cpu++) {
			self += account->windows[source][cpu][i];
			if (account->windows[source][cpu][i] > most) {
				most = account->windows[source][cpu][i];
				where = cpu;
				when = i;
			}
		}
	snprintf(text, sizeof(text), "%" PRIu64, self);
	CHECK(analysed_is(analysed, "sources", kind, "self", text));
	snprintf(text, sizeof(text), "%" PRIu64, most);
	CHECK(analysed_is(analysed, "sources", kind, "peak", text));
	/* Of equal windows the first one whose sum was complete is told. */
	for (int i = 0, equal = 0; i < WINDOWS; i++)
		for (int cpu = 0; cpu < CPUS; cpu++) {
			equal += account->windows[source][cpu][i] == most;
			if (equal > 1)
				return;
		}
	snprintf(text, sizeof(text), "%d", where);
	CHECK(analysed_is(analysed, "sources", kind, "peak_cpu", text));
	snprintf(text, sizeof(text), "%d.%02d0000000", (when + 1) / 100, (when + 1) % 100);
	CHECK(analysed_is(analysed, "sources", kind, "peak_at", text));
}

static void types(struct loom *loom)
{
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_exit", "int vector", "\"\"");
}

static void types_of_rt(struct loom *loom)
{
	types(loom);
	loom->uname = "Linux loom 6.12.0 #1 SMP PREEMPT_RT x86_64";
}

static void run(uint64_t seed, bool preempts)
{
	struct account account = { .seed = seed, .preempts = preempts };
	struct analysed analysed;
	uint64_t idle = 0;
	char name[16], text[32];

	live(&account);
	if (analysed_begin(&analysed, &irq_analysis, NULL, preempts ? types_of_rt : types, buf_str(&account.script))) {
		check_source(&analysed, &account, HARD, "irq");
		check_source(&analysed, &account, SOFT, "softirq");
		check_source(&analysed, &account, VECTOR, "vector");
		for (int cpu = 0; cpu < CPUS; cpu++) {
			idle += account.taken[cpu][0];
			for (int task = 1; task < TASKS; task++) {
				snprintf(name, sizeof(name), "t%d", pid_of(cpu, task));
				snprintf(text, sizeof(text), "%" PRIu64, account.taken[cpu][task]);
				CHECK(analysed_is(&analysed, "victims", name, "taken_ns", text));
			}
		}
		snprintf(text, sizeof(text), "%" PRIu64, idle);
		CHECK(analysed_is(&analysed, "victims", "<idle>", "taken_ns", text));
		analysed_end(&analysed);
	}
	buf_release(&account.script);
}

TEST(irq_adds_up_random_interrupts_like_an_account_of_each_step)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		run(seed * 0x9e3779b97f4a7c15u, false);
		run(seed * 0x9e3779b97f4a7c15u, true);
	}
}
