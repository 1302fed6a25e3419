// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/state/state.h"

#include <inttypes.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* A state that restarts regularly, and one that never does. */
struct beside {
	struct state whole, part;
	uint64_t every, next;
	uint64_t sums[LOOM_CPUS][CPU_MODES];
	uint64_t switches, restarts;
	size_t most_tasks;
};

static void restart(struct beside *beside, uint64_t at)
{
	struct fail fail = FAIL_INIT;

	state_advance(&beside->part, at);
	state_settle(&beside->part);
	CHECK(state_adds_up(&beside->part, &fail) && beside->part.now - beside->part.start <= beside->every);
	for (size_t cpu = 0; cpu < beside->part.nr_cpus; cpu++) {
		for (size_t mode = 0; mode < CPU_MODES; mode++)
			beside->sums[cpu][mode] += beside->part.cpus[cpu].spent[mode];
		beside->switches += beside->part.cpus[cpu].switches;
	}
	CHECK(state_restart(&beside->part));
	beside->most_tasks = beside->part.nr_tasks > beside->most_tasks ? beside->part.nr_tasks : beside->most_tasks;
	beside->restarts++;
}

static void see(void *arg, const struct event *event)
{
	struct beside *beside = arg;

	state_see(&beside->whole, event);
	if (!beside->next)
		beside->next = event->ts + beside->every;
	for (; event->ts >= beside->next; beside->next += beside->every)
		restart(beside, beside->next);
	state_see(&beside->part, event);
}

static bool play(struct beside *beside, const char *script, uint64_t every)
{
	struct loom loom;
	struct reader reader;
	struct trace *trace;
	struct fail fail = FAIL_INIT;
	bool ok;

	*beside = (struct beside){ .every = every };
	loom_init(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	ok = trace && !reader_add_trace(&reader, trace, &fail) &&
	     !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail);
	if (CHECK(ok)) {
		state_init(&beside->whole, false);
		state_init(&beside->part, false);
		CHECK(!reader_run(&reader, &(struct reader_consumer){ see, beside }, 1, &fail));
		restart(beside, beside->whole.now);
		state_settle(&beside->whole);
	}
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
	return ok;
}

static void end(struct beside *beside)
{
	state_release(&beside->whole);
	state_release(&beside->part);
}

TEST(a_state_that_begins_anew_knows_who_runs)
{
	struct beside beside;

	if (!play(&beside,
		  "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=sh next_pid=7\n"
		  "0 9000 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		  "0 9500 0 sched_waking comm=sh pid=7 prio=120 target_cpu=0\n",
		  2000))
		return;
	/* The task has no event from 1000 to 9000. */
	CHECK(beside.restarts == 5 && beside.sums[0][CPU_TASK] == 8000 && beside.sums[0][CPU_IDLE] == 500 &&
	      !beside.sums[0][CPU_UNKNOWN]);
	CHECK(beside.switches == 2);
	end(&beside);
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Each CPU has PIDs of its own, so that the events are possible. */
static void add_switches(struct buf *script, uint64_t seed, bool lossy)
{
	unsigned has[LOOM_CPUS] = { 0 };

	for (uint64_t i = 0, ts = 1000; i < 2000; i++, ts += next(&seed) % 40) {
		unsigned cpu = (unsigned)(next(&seed) % LOOM_CPUS), to = (unsigned)(next(&seed) % 4), pid = has[cpu];

		to = to ? 10 * cpu + to : 0;
		if (lossy && next(&seed) % 50 == 0) {
			CHECK(buf_addf(script, "%u lost 3\n", cpu));
		} else if (to && to != pid && next(&seed) % 3) {
			CHECK(buf_addf(script, "%u %" PRIu64 " %u sched_waking comm=t pid=%u prio=120 target_cpu=%u\n",
				       cpu, ts, pid, to, cpu));
		} else if (to != pid) {
			CHECK(buf_addf(
				script,
				"%u %" PRIu64
				" %u sched_switch prev_comm=t prev_pid=%u prev_state=%u next_comm=t next_pid=%u\n",
				cpu, ts, pid, pid, (unsigned)(next(&seed) % 3), to));
			has[cpu] = to;
		}
	}
}

TEST(parts_of_a_state_that_begins_anew_are_the_whole)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct buf script = { .data = NULL };
		struct beside beside;
		bool lossy = seed % 2 == 0;

		add_switches(&script, seed * 0x9e3779b97f4a7c15u, lossy);
		if (play(&beside, buf_str(&script), 300 * seed)) {
			for (size_t cpu = 0; cpu < beside.whole.nr_cpus && !lossy; cpu++)
				for (size_t mode = CPU_TASK; mode < CPU_MODES; mode++)
					CHECK(beside.sums[cpu][mode] == beside.whole.cpus[cpu].spent[mode]);
			/*
			 * Sleeping tasks are dropped. Idle tasks remain, and so do tasks that have a CPU or wait for
			 * one.
			 */
			CHECK(beside.most_tasks <= LOOM_CPUS * 4);
			end(&beside);
		}
		buf_release(&script);
	}
}
