// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "power", "cpu_idle", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "cpu_idle_miss", "u32 cpu_id; u32 state; u8 below", "\"\"");
	loom_type(loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(loom, "power", "suspend_resume", "u64 action; int val; u8 start", "\"\"");
	loom_type(loom, "power", "pstate_sample", "u32 freq", "\"\"");
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

#define ENTER " 0 cpu_idle state=1 cpu_id=0\n"
#define LEAVE " 0 cpu_idle state=0xffffffff cpu_id=0\n"
#define TIMER " 0 local_timer_entry common_flags=8 vector=236\n"

static void timers(struct loom *loom)
{
	loom->kallsyms = "ffffffff81000100 t hrtimer_wakeup\nffffffff81000200 t tick_nohz_handler\n"
			 "ffffffff81000300 t process_timeout\nffffffff81000400 T _end\n";
	types(loom);
	loom_type(loom, "irq_vectors", "reschedule_entry", "int vector", "\"\"");
	loom_type(loom, "timer", "hrtimer_start", "u64 hrtimer; u64 function; u64 expires", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_entry", "u64 hrtimer; u64 now; u64 function", "\"\"");
	loom_type(loom, "timer", "timer_start", "u64 timer; u64 function; u64 expires", "\"\"");
	loom_type(loom, "timer", "timer_expire_entry", "u64 timer; u64 now; u64 function", "\"\"");
	loom_type(loom, "ipi", "ipi_send_cpu", "u32 cpu", "\"\"");
}

/* "SOURCE TIMER BY WAKEUPS; " of each row. */
static void woken(const struct analysed *analysed, char *into, size_t size)
{
	const struct table *table;
	size_t len = 0;

	*into = '\0';
	for (size_t i = 0; i < analysed->findings.nr; i++) {
		table = &analysed->findings.items[i].table;
		for (size_t row = 0;
		     !strcmp(analysed->findings.items[i].name, "wakeups") && row < table->nr_items / table->nr_columns;
		     row++)
			len += (size_t)snprintf(into + len, size - len, "%s %s %s %" PRIu64 "; ",
						table_text_of(table, row, "source"), table_text_of(table, row, "timer"),
						table_text_of(table, row, "by"),
						table_number_of(table, row, "wakeups"));
	}
}

TEST(power_names_the_timer_that_woke_a_cpu_and_the_task_that_had_set_it)
{
	static const struct {
		const char *script, *want;
	} cases[] = {
		/* The first timer counts, and not the tick that expires after it. */
		{ "1 1000 9 sched_switch prev_pid=0 next_comm=sleep next_pid=9\n"
		  "1 1100 9 hrtimer_start hrtimer=0x70\n0 1200" ENTER "0 2000" TIMER
		  "0 2100 0 hrtimer_expire_entry common_flags=8 hrtimer=0x70 function=0xffffffff81000100\n"
		  "0 2200 0 hrtimer_expire_entry common_flags=8 hrtimer=0x90 function=0xffffffff81000200\n"
		  "0 2300" LEAVE,
		  "vector local_timer hrtimer_wakeup sleep 1; " },
		/* The tick came for a timer that counts jiffies. Its softirq runs after the CPU left its idle state. */
		{ "1 1000 9 sched_switch prev_pid=0 next_comm=kworker/1:1 next_pid=9\n"
		  "1 1100 9 timer_start timer=0x80 expires=5\n0 1200" ENTER "0 1900" LEAVE "0 2000" TIMER
		  "0 2100 0 hrtimer_expire_entry common_flags=8 hrtimer=0x90 function=0xffffffff81000200\n"
		  "0 2200 0 timer_expire_entry common_flags=16 timer=0x80 function=0xffffffff81000300\n"
		  "0 2300 0 sched_switch prev_pid=0 next_comm=a next_pid=8\n",
		  "vector local_timer process_timeout kworker/1:1 1; " },
		/* Nobody set the tick. What expires when another task has run is not why the CPU was woken. */
		{ "1 1100 9 timer_start timer=0x80 expires=5\n0 1200" ENTER "0 1900" LEAVE "0 2000" TIMER
		  "0 2100 0 hrtimer_expire_entry common_flags=8 hrtimer=0x90 function=0xffffffff81000200\n"
		  "0 2200 0 sched_switch prev_pid=0 next_comm=a next_pid=8\n"
		  "0 2300 8 timer_expire_entry common_flags=16 timer=0x80 function=0xffffffff81000300\n",
		  "vector local_timer tick_nohz_handler  1; " },
		/* Timers that a device's interrupt finds due have not woken the CPU. */
		{ "1 1100 9 timer_start timer=0x80 expires=5\n0 1200" ENTER
		  "0 2000 0 irq_handler_entry common_flags=8 irq=9 name=disk\n"
		  "0 2200 0 timer_expire_entry common_flags=16 timer=0x80 function=0xffffffff81000300\n0 2300" LEAVE,
		  "irq 9 disk   1; " },
		/* Another CPU's task. */
		{ "1 1000 9 sched_switch prev_pid=0 next_comm=make next_pid=9\n0 1200" ENTER
		  "1 1900 9 ipi_send_cpu cpu=0\n0 2000 0 reschedule_entry common_flags=8 vector=253\n0 2300" LEAVE,
		  "vector reschedule  make 1; " },
		/* A timer that was set before the start. The events are lost before it is known which timer it was. */
		{ "0 1200" ENTER "0 2000" TIMER
		  "0 2100 0 hrtimer_expire_entry common_flags=8 hrtimer=0x70 function=0xffffffff81000100\n0 2300" LEAVE
		  "0 2400" ENTER "0 2900" LEAVE "0 3000" TIMER "0 lost 1\n0 4000" ENTER,
		  "vector local_timer hrtimer_wakeup  1; vector local_timer   1; " },
	};
	struct analysed analysed;
	char text[256];

	for (size_t i = 0; i < array_size(cases); i++) {
		if (!analysed_begin(&analysed, &power_analysis, NULL, timers, cases[i].script))
			return;
		CHECK(!findings_arrange(&analysed.findings, &(struct findings_options){ .top = UINT64_MAX }, NULL));
		woken(&analysed, text, sizeof(text));
		CHECK_STR(text, cases[i].want);
		analysed_end(&analysed);
	}
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

static void types_of_programs(struct loom *loom)
{
	types(loom);
	loom_setting(loom, "weft/tasks",
		     "7 7 1 50 0 7 1\tmake\t/usr/bin/make\n8 7 1 50 0 8 1\tcc\t\n9 9 1 50 0 9 1\tld\t/usr/bin/ld\n");
}

TEST(power_adds_up_the_cycles_of_the_threads_of_a_program)
{
	const struct row_options options = { .by = 1 + WHO_PROGRAM };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &power_analysis, &options, types_of_programs,
			    "0 1000000 0 cpu_frequency state=1000000 cpu_id=0\n"
			    "0 1000001 0 sched_switch prev_pid=0 next_comm=make next_pid=7\n"
			    "0 3000001 7 sched_switch prev_comm=make prev_pid=7 prev_state=1 next_comm=cc next_pid=8\n"
			    "0 6000001 8 sched_switch prev_comm=cc prev_pid=8 prev_state=1 next_comm=ld next_pid=9\n"
			    "0 7000001 9 sched_waking comm=make pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "make", "run_ns", "5000000") &&
	      analysed_is(&analysed, "tasks", "make", "cycles", "5000000") &&
	      analysed_is(&analysed, "tasks", "ld", "cycles", "1000000"));
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

TEST(power_has_no_frequency_where_no_sample_told_one)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &power_analysis, NULL, types,
			    "0 1000 0 pstate_sample freq=2000000\n"
			    "0 1500 0 pstate_sample freq=3000000\n"
			    "1 2000 0 cpu_idle state=1 cpu_id=1\n"))
		return;
	CHECK(analysed_is(&analysed, "cpus", "0", "sampled_min_khz", "2000000") &&
	      analysed_is(&analysed, "cpus", "0", "sampled_mean_khz", "2500000"));
	CHECK(analysed_is(&analysed, "cpus", "1", "sampled_min_khz", "-") &&
	      analysed_is(&analysed, "cpus", "1", "sampled_mean_khz", "-") &&
	      analysed_is(&analysed, "cpus", "1", "sampled_max_khz", "-"));
	analysed_end(&analysed);
}
