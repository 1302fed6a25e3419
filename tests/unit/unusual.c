// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/culprit_internal.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/unusual_internal.h"
#include "lib/base/fail.h"
#include "lib/reader/query.h"
#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* Task 7 runs for 100 us in each of so many ms, and in the last of them task 9 runs for `spin` us. */
static void add_script(struct buf *script, unsigned ms, unsigned spin)
{
	for (unsigned i = 0; i < ms; i++) {
		uint64_t at = (i + 1) * MS;

		CHECK(buf_addf(script,
			       "0 %" PRIu64 " 0 sched_waking comm=calm pid=7 prio=120 target_cpu=0\n"
			       "0 %" PRIu64 " 0 sched_wakeup comm=calm pid=7 prio=120 target_cpu=0\n"
			       "0 %" PRIu64 " 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=calm next_pid=7\n"
			       "0 %" PRIu64
			       " 7 sched_switch prev_comm=calm prev_pid=7 prev_state=1 next_comm=swapper/0 "
			       "next_pid=0\n",
			       at, at, at + 1000, at + 101000));
	}
	if (spin)
		CHECK(buf_addf(script,
			       "0 %" PRIu64 " 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=spin next_pid=9\n"
			       "0 %" PRIu64
			       " 9 sched_switch prev_comm=spin prev_pid=9 prev_state=1 next_comm=swapper/0 "
			       "next_pid=0\n",
			       ms * MS + 200000, ms * MS + 200000 + spin * UINT64_C(1000)));
}

struct found {
	struct loom loom;
	struct trace *trace;
	struct findings findings;
	struct unusual_span span;
	struct fail fail;
	int r;
};

static void find(struct found *found, unsigned ms, unsigned spin, const char *trigger)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct query query = QUERY_INIT;
	const struct unusual_options options = { .query = &query, .length_ns = MS, .rows = UNUSUAL_ROWS };

	*found = (struct found){ .fail = FAIL_INIT };
	loom_init(&found->loom);
	loom_setting(&found->loom, "weft/trigger", trigger);
	add_script(&script, ms, spin);
	loom_play(&found->loom, buf_str(&script));
	found->trace = loom_trace(&found->loom);
	findings_init(&found->findings);
	query.around = "trigger";
	found->r = unusual_find(found->trace, &options, &found->findings, &found->span, &found->fail);
}

static void release(struct found *found)
{
	findings_release(&found->findings);
	trace_free(found->trace);
	loom_release(&found->loom);
}

static const char *cell(const struct found *found, size_t row, const char *title)
{
	const struct table *table = &found->findings.items[0].table;
	const char *text = table_text_at(table, row, (size_t)table_column_named(table, title));

	return text ? text : "";
}

TEST(unusual_names_the_task_that_ran_only_before_the_trigger)
{
	struct found found;
	bool named = false;

	find(&found, 20, 700, "x 20900000 why\n");
	CHECK(found.r == 0);
	CHECK(found.findings.nr == 1);
	for (size_t row = 0; !found.r && row < UNUSUAL_ROWS; row++)
		named |= !strcmp(cell(&found, row, "TABLE"), "tasks") && !strcmp(cell(&found, row, "ROW"), "spin") &&
			 !strcmp(cell(&found, row, "NOW"), "700.0 us") && !strcmp(cell(&found, row, "USUAL"), "0 ns");
	CHECK(named);
	release(&found);
}

TEST(unusual_finds_nothing_where_nothing_changes)
{
	struct found found;

	find(&found, 20, 0, "x 20900000 why\n");
	CHECK(found.r == 0);
	CHECK(found.findings.items[0].table.nr_items == 0);
	release(&found);
}

TEST(unusual_needs_a_time_to_compare_with)
{
	struct found found;

	find(&found, 2, 0, "x 2900000 why\n");
	CHECK(found.r == -ENODATA);
	CHECK(strstr(found.fail.text, "too little is known of the time before it") != NULL);
	release(&found);
}

TEST(culprit_is_the_task_that_ran_first)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct query query = QUERY_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;
	struct culprit_asked asked = { &query, .at = 9000000 };

	REQUIRE(culprit_of_text("a-1 [000] 1.0: weft_latency_8: lat=8000000 next_comm=late next_prio=120", &asked));
	CHECK(asked.lasted == 8000000);
	CHECK(!culprit_of_text("softirq: lat=8000000 vec=1", &asked));
	loom_init(&loom);
	loom_play(&loom, "0 1000000 8 sched_waking comm=late pid=7 prio=120 target_cpu=0\n"
			 "0 1000000 8 sched_wakeup comm=late pid=7 prio=120 target_cpu=0\n"
			 "0 1100000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_comm=fifo next_pid=9\n"
			 "0 9000000 9 sched_switch prev_comm=fifo prev_pid=9 prev_state=1 next_comm=late next_pid=7\n");
	trace = loom_trace(&loom);
	CHECK(culprit_find(trace, &asked, &line, &fail) == 0);
	CHECK_STR(buf_str(&line),
		  "late-7 waited 8.0 ms for CPU 0: tasks that ran first: fifo-9; 100.0 us the task before "
		  "ran on; 7.9 ms other tasks ran first");
	asked.lasted = 3000000;
	CHECK(culprit_find(trace, &asked, &line, &fail) == -ENODATA);
	trace_free(trace);
	loom_release(&loom);
}

/* Two calls take the same time; the text tells whose it is. */
TEST(culprit_of_a_call_is_who_woke_its_task)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct query query = QUERY_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;
	struct culprit_asked asked = { &query, .at = 9000000 };

	REQUIRE(culprit_of_text("  slow-7     [000] .....  1.0: weft_latency_2: lat=8000000 id=0", &asked));
	CHECK(asked.pid == 7);
	loom_init(&loom);
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_play(&loom, "1 1000000 6 sys_enter id=0\n"
			 "0 1000000 7 sys_enter id=0\n"
			 "0 1100000 7 sched_switch prev_comm=slow prev_pid=7 prev_state=1 next_comm=hog next_pid=9\n"
			 "0 8000000 9 sched_waking comm=slow pid=7 prio=120 target_cpu=0\n"
			 "0 8000000 9 sched_wakeup comm=slow pid=7 prio=120 target_cpu=0\n"
			 "0 8500000 9 sched_switch prev_comm=hog prev_pid=9 prev_state=0 next_comm=slow next_pid=7\n"
			 "1 9000000 6 sys_exit id=0 ret=1\n"
			 "0 9000000 7 sys_exit id=0 ret=1\n");
	trace = loom_trace(&loom);
	CHECK(culprit_find(trace, &asked, &line, &fail) == 0);
	CHECK_STR(buf_str(&line), "slow-7 was 8.0 ms in syscall_0; 6.9 ms blocked; 500.0 us ready, without a CPU; "
				  "600.0 us on a CPU; woken by hog-9");
	trace_free(trace);
	loom_release(&loom);
}
