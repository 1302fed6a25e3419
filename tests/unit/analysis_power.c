// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/buf.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void types(struct loom *loom)
{
	loom_type(loom, "power", "cpu_idle", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "cpu_idle_miss", "u32 cpu_id; u32 state; u8 below", "\"\"");
	loom_type(loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "suspend_resume", "u64 action; int val; u8 start", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
}

TEST(power_tells_idle_states_and_what_hit_the_cpu_first)
{
	struct analysed analysed;

	/*
	 * An interrupt hits a halted CPU before the CPU says that it is awake. It hits a CPU that waits for a write to
	 * memory after that.
	 */
	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 0 cpu_idle state=1 cpu_id=0\n"
			    "0 4000 0 local_timer_entry vector=236\n"
			    "0 4100 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 4200 0 irq_handler_entry irq=9 name=disk\n"
			    "0 5000 0 cpu_idle state=2 cpu_id=0\n"
			    "0 6000 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 6001 0 cpu_idle_miss cpu_id=0 state=2 below=1\n"
			    "0 6010 0 irq_handler_entry irq=9 name=disk\n"
			    "0 6020 0 local_timer_entry vector=236\n"
			    "0 11000 0 cpu_idle_miss cpu_id=0 state=2\n"))
		return;
	CHECK(analysed_is(&analysed, "cpus", "0", "idle", "4100") &&
	      analysed_is(&analysed, "cpus", "0", "idle_percent", "41.00"));
	CHECK(analysed_is(&analysed, "cpus", "0", "wakeups", "2") &&
	      analysed_is(&analysed, "cpus", "0", "too_deep", "1"));
	CHECK(analysed_is(&analysed, "cpus", "0", "too_shallow", "1"));
	CHECK(analysed_is(&analysed, "wakeups", "vector local_timer", "wakeups", "1") &&
	      analysed_is(&analysed, "wakeups", "irq 9 disk", "wakeups", "1"));
	CHECK(analysed.findings.nr_worst == 1 && analysed.findings.worst[0].lasted == 3100 &&
	      analysed.findings.worst[0].to == 4100);
	CHECK_STR(buf_str(&analysed.findings.cut), "");
	analysed_end(&analysed);
}

TEST(power_adds_up_frequencies_that_any_cpu_tells_and_steps_of_suspending)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 7 cpu_frequency state=800000 cpu_id=1\n"
			    "1 3000 7 cpu_frequency state=2000000 cpu_id=1\n"
			    "0 3500 7 suspend_resume action=0x10 start=1\n"
			    "0 4500 7 suspend_resume action=0x10 start=0\n"
			    "1 9000 7 cpu_frequency state=2000000 cpu_id=1\n"))
		return;
	CHECK(analysed.findings.nr >= 2 && analysed_is(&analysed, "suspend", "0x10", "total", "1000"));
	/* The rows of a map have no order. After sorting, the longest is first. */
	CHECK(!findings_arrange(&analysed.findings, &(struct findings_options){ .top = UINT64_MAX }, NULL));
	CHECK(analysed_is(&analysed, "frequencies", "1", "khz", "2000000") &&
	      analysed_is(&analysed, "frequencies", "1", "total", "6000"));
	CHECK(analysed_is(&analysed, "frequencies", "1", "percent", "75.00"));
	/* The trace has no event of idle states, so the analysis says nothing about them. */
	CHECK(analysed_is(&analysed, "cpus", "1", "idle", "-") && analysed_is(&analysed, "cpus", "1", "wakeups", "-") &&
	      analysed_is(&analysed, "cpus", "1", "idle_percent", "-"));
	for (size_t i = 0; i < analysed.findings.nr; i++)
		CHECK(strcmp(analysed.findings.items[i].name, "states") != 0 &&
		      strcmp(analysed.findings.items[i].name, "wakeups") != 0);
	analysed_end(&analysed);
}

TEST(power_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 2000 0 cpu_idle state=1 cpu_id=0\n"
			    "0 lost 3\n"
			    "0 3000 0 cpu_idle state=0xffffffff cpu_id=0\n"
			    "0 4000 0 cpu_idle state=1 cpu_id=0\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut),
		  "1 stay in idle that began before the start, 1 stay in idle at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "1 stay in idle, 1 gap");
	analysed_end(&analysed);
}

TEST(power_weighs_the_run_time_of_tasks_with_the_frequency_of_their_cpu)
{
	struct analysed analysed;

	/*
	 * make runs 1 ms before the frequency is known, 2 ms at 1 GHz and 1 ms at 3 GHz, then 4 ms at 500 MHz on the
	 * other CPU. The first CPU tells the frequency of both.
	 */
	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000000 0 sched_switch prev_pid=0 next_comm=make next_pid=7\n"
			    "0 2000000 7 cpu_frequency state=1000000 cpu_id=0\n"
			    "0 2000001 7 cpu_frequency state=500000 cpu_id=1\n"
			    "0 4000000 7 cpu_frequency state=3000000 cpu_id=0\n"
			    "0 5000000 7 sched_switch prev_comm=make prev_pid=7 prev_state=0 next_pid=0\n"
			    "1 6000000 0 sched_switch prev_pid=0 next_comm=make next_pid=7\n"
			    "1 10000000 7 sched_switch prev_comm=make prev_pid=7 prev_state=1 next_comm=cc next_pid=8\n"
			    "1 12000000 8 sched_waking comm=make pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "make", "run_ns", "8000000") &&
	      analysed_is(&analysed, "tasks", "make", "unknown_ns", "1000000"));
	CHECK(analysed_is(&analysed, "tasks", "make", "cycles", "7000000") &&
	      analysed_is(&analysed, "tasks", "make", "mean_khz", "1000000") &&
	      analysed_is(&analysed, "tasks", "make", "cycles_percent", "87.50"));
	CHECK(analysed_is(&analysed, "tasks", "cc", "run_ns", "2000000") &&
	      analysed_is(&analysed, "tasks", "cc", "cycles", "1000000"));
	/* Idle tasks run no program. */
	CHECK(analysed_is(&analysed, "tasks", "cc", "cycles_percent", "12.50"));
	analysed_end(&analysed);
}

TEST(power_does_not_know_the_frequency_after_lost_events_until_the_next_one)
{
	struct analysed analysed;

	/* The task's CPU had its last event at 3 ms. */
	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000000 0 sched_switch prev_pid=0 next_comm=make next_pid=7\n"
			    "0 1000000 7 cpu_frequency state=2000000 cpu_id=0\n"
			    "0 3000000 7 sched_waking comm=cc pid=8\n"
			    "1 4000000 9 cpu_frequency state=4000000 cpu_id=0\n"
			    "0 lost 3\n"
			    "0 6000000 7 sched_waking comm=cc pid=8\n"
			    "0 7000000 7 sched_switch prev_comm=make prev_pid=7 prev_state=1 next_pid=0\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "make", "run_ns", "3000000") &&
	      analysed_is(&analysed, "tasks", "make", "unknown_ns", "1000000") &&
	      analysed_is(&analysed, "tasks", "make", "cycles", "4000000"));
	analysed_end(&analysed);
}

TEST(power_has_no_table_of_tasks_without_frequencies_or_switches)
{
	static const char *const scripts[] = {
		"0 1000 0 sched_switch prev_pid=0 next_comm=make next_pid=7\n0 2000 7 cpu_idle state=1 cpu_id=0\n",
		"0 1000 7 cpu_frequency state=1000000 cpu_id=0\n0 2000 7 cpu_idle state=1 cpu_id=0\n",
	};
	struct analysed analysed;

	for (size_t i = 0; i < array_size(scripts); i++) {
		if (!analysed_begin(&analysed, &power_analysis, NULL, types, scripts[i]))
			return;
		for (size_t at = 0; at < analysed.findings.nr; at++)
			CHECK(strcmp(analysed.findings.items[at].name, "tasks") != 0);
		analysed_end(&analysed);
	}
}

/* Random tasks, CPUs and frequencies, added up step by step. */
enum { STEP = 100 * 1000, STEPS = 3000, CPUS = 3, TASKS = 5 };

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

struct frequencies {
	unsigned on[CPUS]; /* the task; 0: idle */
	uint64_t khz[CPUS], cycles[TASKS], unknown[TASKS], run[TASKS];
};

static bool is_on_any(const struct frequencies *now, unsigned task)
{
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		if (now->on[cpu] == task)
			return true;
	return false;
}

static void play_step(struct frequencies *now, uint64_t step, uint64_t *seed, struct buf *script)
{
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		uint64_t what = draw(seed, 10), other = draw(seed, CPUS), khz = 100000 * (1 + draw(seed, 30));
		unsigned next = (unsigned)draw(seed, TASKS), prev = now->on[cpu];

		if (what < 3 && next != prev && (!next || !is_on_any(now, next))) {
			CHECK(buf_addf(script,
				       "%u %" PRIu64 " %u sched_switch prev_comm=t%u prev_pid=%u prev_state=0 "
				       "next_comm=t%u next_pid=%u\n",
				       cpu, step * STEP, prev, prev, prev, next, next));
			now->on[cpu] = next;
		} else if (what == 3 && step > STEPS / 10) {
			CHECK(buf_addf(script, "%u %" PRIu64 " %u cpu_frequency state=%" PRIu64 " cpu_id=%" PRIu64 "\n",
				       cpu, step * STEP, prev, khz, other));
			now->khz[other] = khz;
		} else {
			CHECK(buf_addf(script, "%u %" PRIu64 " %u sched_waking comm=x pid=99\n", cpu, step * STEP,
				       prev));
		}
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		now->run[now->on[cpu]] += STEP;
		now->cycles[now->on[cpu]] += now->khz[cpu] * STEP / 1000000;
		now->unknown[now->on[cpu]] += now->khz[cpu] ? 0 : STEP;
	}
}

static void check_task(struct analysed *analysed, const struct frequencies *sums, unsigned task)
{
	char name[8], text[32];

	snprintf(name, sizeof(name), "t%u", task);
	snprintf(text, sizeof(text), "%" PRIu64, sums->run[task]);
	CHECK(analysed_is(analysed, "tasks", name, "run_ns", text));
	snprintf(text, sizeof(text), "%" PRIu64, sums->unknown[task]);
	CHECK(analysed_is(analysed, "tasks", name, "unknown_ns", text));
	snprintf(text, sizeof(text), "%" PRIu64, sums->cycles[task]);
	CHECK(analysed_is(analysed, "tasks", name, "cycles", text));
}

TEST(power_adds_up_random_frequencies_like_an_account_of_each_step)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t state = seed * 0x9e3779b97f4a7c15u;
		struct frequencies sums = { .on = { 0 } };
		struct buf script = BUF_INIT;
		struct analysed analysed;

		for (uint64_t step = 1; step < STEPS; step++)
			play_step(&sums, step, &state, &script);
		/* The last event ends the last step. */
		for (unsigned cpu = 0; cpu < CPUS; cpu++)
			CHECK(buf_addf(&script, "%u %d %u sched_waking comm=x pid=99\n", cpu, STEPS * STEP,
				       sums.on[cpu]));
		if (analysed_begin(&analysed, &power_analysis, NULL, types, buf_str(&script))) {
			for (unsigned task = 1; task < TASKS; task++)
				check_task(&analysed, &sums, task);
			analysed_end(&analysed);
		}
		buf_release(&script);
	}
}
