// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/answers/explain/unusual_internal.h"
#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

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

static void find_with(struct found *found, unsigned ms, unsigned spin, unsigned lost, const char *trigger,
		      const char *task)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct query query = QUERY_INIT;
	const struct unusual_options options = { .query = &query, .length_ns = MS, .rows = UNUSUAL_ROWS, .task = task };

	*found = (struct found){ .fail = FAIL_INIT };
	loom_init(&found->loom);
	loom_setting(&found->loom, "weft/trigger", trigger);
	add_script(&script, ms, spin);
	if (lost)
		CHECK(buf_addf(&script,
			       "0 lost %u\n0 %" PRIu64 " 0 sched_wakeup comm=calm pid=7 prio=120 target_cpu=0\n", lost,
			       ms * MS + 850000));
	loom_play(&found->loom, buf_str(&script));
	found->trace = loom_trace(&found->loom);
	findings_init(&found->findings);
	query.around = "trigger";
	found->r = unusual_find(found->trace, &options, &found->findings, &found->span, &found->fail);
}

static void find_for(struct found *found, unsigned ms, unsigned spin, const char *trigger, const char *task)
{
	find_with(found, ms, spin, 0, trigger, task);
}

static void find(struct found *found, unsigned ms, unsigned spin, const char *trigger)
{
	find_for(found, ms, spin, trigger, NULL);
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
			 !strcmp(cell(&found, row, "NOW"), "700.0 us") && !strcmp(cell(&found, row, "USUAL"), "-") &&
			 !strcmp(cell(&found, row, "AT MOST"), "not seen before");
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

TEST(unusual_says_how_many_events_were_lost_in_the_time_that_is_compared)
{
	struct found found;

	find_with(&found, 20, 600, 12, "x 20900000 why\n", NULL);
	REQUIRE(found.r == 0);
	CHECK(strstr(buf_str(&found.findings.notes), "12 events were lost in the time that is compared") != NULL);
	release(&found);
	find(&found, 20, 700, "x 20900000 why\n");
	REQUIRE(found.r == 0);
	CHECK(!strstr(buf_str(&found.findings.notes), "lost"));
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

/* Two rows are unusual: of the task, and of its CPU, whose row has the words "CPU" and "0". */
TEST(unusual_has_the_rows_with_the_name_that_is_asked_about_first)
{
	static const struct {
		const char *task, *first, *second;
	} table[] = {
		{ NULL, "spin", "CPU 0" },  { "", "spin", "CPU 0" },  { "spin", "spin", "CPU 0" },
		{ "CPU", "CPU 0", "spin" }, { "0", "CPU 0", "spin" }, { "CP", "spin", "CPU 0" },
	};

	for (size_t i = 0; i < array_size(table); i++) {
		struct found found;

		find_for(&found, 20, 700, "x 20900000 why\n", table[i].task);
		REQUIRE(found.r == 0);
		CHECK_STR(cell(&found, 0, "ROW"), table[i].first);
		CHECK_STR(cell(&found, 1, "ROW"), table[i].second);
		release(&found);
	}
}
