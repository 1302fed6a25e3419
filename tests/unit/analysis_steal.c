// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hypervisor stole is planted: who waited, and when whose CPU was taken, is made up here, so that the share of
 * each wait is known. What the analyses say "at most" is never less than that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/explain/brief.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/latency/latency.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

enum { CPUS = 3, EACH = 4, STEPS = 120, TICK = 4000, STEALS = 64 };

/* How the recording has it: the kernel's probe, its counts alone, and counts that went back on CPU 1. */
enum manner { BY_EVENTS, BY_COUNTS, WENT_BACK, MANNERS };

struct planted {
	struct span {
		uint64_t from, to;
	} steals[CPUS][STEALS];
	size_t nr[CPUS];
	uint64_t stolen[CPUS];
	uint64_t from, to;     /* all of it */
	uint64_t waits, of_it; /* the waits of all tasks, and what of them was stolen */
	struct span longest;   /* the longest of them, from a wakeup on */
	uint64_t of_longest;
	uint64_t since[CPUS][EACH + 1]; /* of the wait that goes on; 0: none */
	bool woken[CPUS][EACH + 1];
	int runs[CPUS]; /* 0: idle */
	struct buf script, counts[2];
};

static struct planted planted;
static uint64_t sums[MANNERS][2]; /* of all schedules: what was stolen of waits, and what is told */
static enum manner manner;

static uint64_t overlap(uint32_t cpu, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < planted.nr[cpu]; i++) {
		uint64_t since = planted.steals[cpu][i].from, until = planted.steals[cpu][i].to;

		since = since > from ? since : from;
		until = until < to ? until : to;
		sum += until > since ? until - since : 0;
	}
	return sum;
}

static uint64_t some(uint64_t most)
{
	return 1 + (uint64_t)rand() % most;
}

static void plant_steals(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (uint64_t at = planted.from + some(20000); planted.nr[cpu] < STEALS; at += some(20000)) {
			struct span *steal = &planted.steals[cpu][planted.nr[cpu]];

			*steal = (struct span){ at, at + some(6000) };
			at = steal->to;
			if (at >= planted.to)
				break;
			planted.nr[cpu]++;
			planted.stolen[cpu] += steal->to - steal->from;
		}
}

/* The kernel counts at the first tick after the CPU was given back. */
static void put_events(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (size_t i = 0; i < planted.nr[cpu];) {
			uint64_t tick = planted.steals[cpu][i].to + 1, ns = 0;

			tick += TICK - tick % TICK;
			for (; i < planted.nr[cpu] && planted.steals[cpu][i].from < tick; i++) {
				ns += planted.steals[cpu][i].to - planted.steals[cpu][i].from;
				while (tick <= planted.steals[cpu][i].to)
					tick += TICK;
			}
			(void)!buf_addf(&planted.script,
					"+%" PRIu32 " %" PRIu64 " 0 account_steal_time ns=%" PRIu64 "\n", cpu, tick,
					ns);
		}
}

static void put_counts(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		bool back = manner == WENT_BACK && cpu == 1;

		(void)!buf_addf(&planted.counts[0], "cpu %" PRIu32 " %d\n", cpu, back ? 900000000 : 70);
		(void)!buf_addf(&planted.counts[1], "cpu %" PRIu32 " %" PRIu64 "\n", cpu, 70 + planted.stolen[cpu]);
	}
}

static int pid_of(uint32_t cpu, int task)
{
	return task ? (int)cpu * 10 + 10 + task : 0;
}

static void wake(uint32_t cpu, int task, uint64_t now)
{
	if (task == planted.runs[cpu] || planted.since[cpu][task])
		return;
	(void)!buf_addf(&planted.script,
			"%" PRIu32 " %" PRIu64 " %d sched_waking comm=t pid=%d prio=120 target_cpu=%" PRIu32 "\n", cpu,
			now, pid_of(cpu, planted.runs[cpu]), pid_of(cpu, task), cpu);
	planted.since[cpu][task] = now;
	planted.woken[cpu][task] = true;
}

static void count_wait(uint32_t cpu, int task, uint64_t now)
{
	uint64_t since = planted.since[cpu][task], of_it = overlap(cpu, since, now);

	planted.waits += now - since;
	planted.of_it += of_it;
	if (planted.woken[cpu][task] && now - since > planted.longest.to - planted.longest.from) {
		planted.longest = (struct span){ since, now };
		planted.of_longest = of_it;
	}
	planted.since[cpu][task] = 0;
}

static void change(uint32_t cpu, uint64_t now)
{
	int prev = planted.runs[cpu], next = rand() % (EACH + 1);
	bool goes_on = prev && rand() % 2 && now < planted.to;

	if (next == prev || (next && !planted.since[cpu][next]))
		return;
	if (next)
		count_wait(cpu, next, now);
	(void)!buf_addf(&planted.script,
			"%" PRIu32 " %" PRIu64 " %d sched_switch prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%d "
			"next_comm=%s next_pid=%d next_prio=120\n",
			cpu, now, pid_of(cpu, prev), prev ? "t" : "swapper", pid_of(cpu, prev), prev && !goes_on,
			next ? "t" : "swapper", pid_of(cpu, next));
	planted.runs[cpu] = next;
	if (prev && goes_on) {
		planted.since[cpu][prev] = now;
		planted.woken[cpu][prev] = false;
	}
}

static void plant(unsigned seed)
{
	uint64_t now = 1000000;

	planted = (struct planted){ .from = now, .to = now + STEPS * 3000 };
	srand(seed);
	plant_steals();
	if (manner == BY_EVENTS)
		put_events();
	else
		put_counts();
	for (uint32_t cpu = 0; cpu < CPUS; cpu++, now++)
		(void)!buf_addf(&planted.script,
				"%" PRIu32 " %" PRIu64 " 0 sched_switch prev_comm=swapper prev_pid=0 prev_state=0 "
				"next_comm=swapper next_pid=0\n",
				cpu, now);
	while (now < planted.to) {
		uint32_t cpu = (uint32_t)rand() % CPUS;

		now += some(3000);
		if (rand() % 2)
			wake(cpu, 1 + rand() % EACH, now);
		else
			change(cpu, now);
	}
	/* Nothing waits at the end. */
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (int task = 1; task <= EACH; task++)
			while (planted.since[cpu][task]) {
				now += some(3000);
				change(cpu, now);
			}
}

static void end_planted(void)
{
	buf_release(&planted.script);
	buf_release(&planted.counts[0]);
	buf_release(&planted.counts[1]);
}

static void types(struct loom *loom)
{
	loom_type(loom, "weft", "account_steal_time", "u64 ns", "\"\"");
	if (manner == BY_EVENTS) {
		loom->other = "weft/quota";
		loom_setting(loom, "+set_event", "weft:account_steal_time\n");
		return;
	}
	loom_setting(loom, "weft/withheld", buf_str(&planted.counts[0]));
	loom_setting(loom, "weft/withheld_end", buf_str(&planted.counts[1]));
}

static const struct table *table_of(const struct analysed *analysed, const char *name)
{
	for (size_t i = 0; i < analysed->findings.nr; i++)
		if (!strcmp(analysed->findings.items[i].name, name))
			return &analysed->findings.items[i].table;
	return NULL;
}

static uint64_t sum_of(const struct analysed *analysed, const char *name, const char *column)
{
	const struct table *table = table_of(analysed, name);
	uint64_t sum = 0;

	for (size_t row = 0; table && row < table->nr_items / table->nr_columns; row++)
		sum += table_number_of(table, row, column);
	return sum;
}

/* What is known of CPU 1 when its count went back: nothing. */
static uint64_t known(uint32_t cpu)
{
	return manner == WENT_BACK && cpu == 1 ? 0 : planted.stolen[cpu];
}

static void judge_sched(void)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, NULL, types, buf_str(&planted.script)))
		return;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		CHECK(table_number_of(table_of(&analysed, "cpus"), cpu, "stolen_at_most_ns") == known(cpu));
	CHECK(strstr(buf_str(&analysed.findings.notes), "steal: for at most "));
	CHECK(sum_of(&analysed, "tasks", "wait_ns") == planted.waits);
	analysed_end(&analysed);
}

static void judge_latency(void)
{
	static const struct latency_options by_unit = { .rows = { .by = LATENCY_BY_WHO + WHO_UNIT } };
	struct analysed analysed;
	uint64_t stolen;

	if (!analysed_begin(&analysed, &latency_analysis, &by_unit, types, buf_str(&planted.script)))
		return;
	stolen = sum_of(&analysed, "waits", "stolen_at_most_ns");
	CHECK(sum_of(&analysed, "waits", "wait_ns") == planted.waits);
	CHECK(stolen <= planted.waits);
	sums[manner][0] += planted.of_it;
	sums[manner][1] += stolen;
	CHECK(manner == WENT_BACK || stolen >= planted.of_it);
	analysed_end(&analysed);
}

/* "of it at most 12.3 us": in ns; 0 if it is not told. */
static double told(struct analysed *analysed)
{
	const char *at = strstr(buf_str(&analysed->findings.notes), "of it at most "), *unit;
	double number;
	char *end;

	if (!at)
		return 0;
	number = strtod(at + strlen("of it at most "), &end);
	unit = end + strspn(end, " ");
	return number * (!strncmp(unit, "ns", 2) ? 1 :
			 !strncmp(unit, "us", 2) ? 1e3 :
			 !strncmp(unit, "ms", 2) ? 1e6 :
						   1e9);
}

static void judge_why(void)
{
	static const struct why_options wakeup = { .of = WHY_WAKEUP };
	double lasted = (double)(planted.longest.to - planted.longest.from);
	struct analysed analysed;

	if (!analysed_begin(&analysed, &why_analysis, &wakeup, types, buf_str(&planted.script)))
		return;
	CHECK(analysed.findings.nr_worst && analysed.findings.worst->from == planted.longest.from &&
	      analysed.findings.worst->to == planted.longest.to);
	/* It is told to three digits, and not below a hundredth. */
	CHECK(told(&analysed) <= lasted * 1.01);
	if (manner != WENT_BACK)
		CHECK(told(&analysed) * 1.01 + lasted * 0.01 >= (double)planted.of_longest);
	analysed_end(&analysed);
}

TEST(steal_of_random_schedules_is_never_told_smaller_than_it_was)
{
	for (unsigned seed = 1; seed <= 100; seed++)
		for (manner = BY_EVENTS; manner < MANNERS; manner++) {
			plant(seed);
			judge_sched();
			judge_latency();
			judge_why();
			end_planted();
		}
	/* Nor is it much more. */
	CHECK(sums[BY_EVENTS][1] < sums[BY_EVENTS][0] * 3 / 2 && sums[BY_COUNTS][1] < sums[BY_COUNTS][0] * 2);
}

static void halves(struct loom *loom)
{
	loom_setting(loom, "weft/withheld", "cpu 0 5\ncpu 1 70\n");
	loom_setting(loom, "weft/withheld_end", "cpu 0 60000005\ncpu 1 10000070\n");
}

/* A guest that gets half of what it wants. */
TEST(steal_of_a_fifth_of_the_time_stands_out)
{
	const struct brief_options options = { .ask = BRIEF_KINDS, .input = "x.dat" };
	struct query query = QUERY_INIT;
	struct fail fail = FAIL_INIT;
	struct analysed analysed;
	struct findings brief;

	if (!analysed_begin(&analysed, &sched_analysis, NULL, halves,
			    "0 1000 0 sched_switch prev_comm=swapper prev_pid=0 next_comm=a next_pid=7\n"
			    "1 1000 0 sched_switch prev_comm=swapper prev_pid=0 next_comm=b next_pid=8\n"
			    "0 300001000 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=swapper "
			    "next_pid=0\n"))
		return;
	CHECK(analysed_is(&analysed, "cpus", "0", "stolen_at_most_ns", "60000000"));
	CHECK(analysed_is(&analysed, "cpus", "1", "stolen_at_most_ns", "10000000"));
	findings_init(&brief);
	if (CHECK(!brief_find(&options, analysed.trace, &query, &brief, &fail)))
		for (size_t i = 0; i < brief.nr; i++)
			if (!strcmp(brief.items[i].name, "stands_out")) {
				CHECK_STR(table_text_of(&brief.items[i].table, 0, "what"),
					  "a hypervisor had CPU 0 for others for 60.0 ms at most, "
					  "20 % of the time (steal)");
				CHECK(strstr(table_text_of(&brief.items[i].table, 0, "why"), "it is 70.0 ms at most"));
			}
	findings_release(&brief);
	analysed_end(&analysed);
}
