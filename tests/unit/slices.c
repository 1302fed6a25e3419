// SPDX-License-Identifier: GPL-2.0-only
#include "formats/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/graph.h"
#include "formats/sink.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/sliced.h"
#include "tests/unit/sliced_export.h"
#include "tests/unit/sliced_sums.h"
#include "tests/unit/test.h"

static const char script[] = "0 1000000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			     "1 1001000 0 irq_handler_entry irq=9 name=acpi\n"
			     "1 1001500 0 irq_handler_exit irq=9 ret=1\n"
			     "0 1001500 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			     "2 1001500 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
			     "0 1002500 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 "
			     "next_comm=swapper/0 next_prio=120\n"
			     "1 lost 5\n"
			     "1 3000001000 8 sched_wakeup comm=shuttle pid=9 prio=-51 target_cpu=3\n"
			     "3 lost 2\n"
			     "3 3000002000 8 sched_wakeup comm=shuttle pid=9 prio=-51 target_cpu=3\n"
			     "2 3000002000 8 sched_wakeup comm=shuttle pid=9 prio=-51 target_cpu=3\n";

/* Prints with these cuts; true if all was printed in slices, and is what one thread prints. */
static bool is_same(struct trace *trace, const uint64_t *times, size_t nr, const char *events)
{
	const struct sliced_cuts cuts = { .times = times, .nr = nr, .threads = events ? 1 : 2, .events = events };
	const struct printed how = { .format = "ftrace", .events = events };
	cleanup_buf struct buf whole = BUF_INIT, text = BUF_INIT;
	bool all = false;

	if (!CHECK(!printed_trace(trace, &how, &whole, NULL)) || !CHECK(!sliced_print(trace, &cuts, &text, &all, NULL)))
		return false;
	return all && !strcmp(buf_str(&whole), buf_str(&text));
}

/* Cuts before each event, behind the last one, and before all events at once. */
static void check_all_cuts(struct trace *trace)
{
	uint64_t *times = NULL, behind;
	size_t nr = 0;

	if (CHECK(!sliced_times(trace, &times, &nr, NULL) && nr)) {
		for (size_t i = 0; i < nr; i++)
			CHECK(is_same(trace, &times[i], 1, NULL));
		behind = times[nr - 1] + 1;
		CHECK(is_same(trace, &behind, 1, NULL));
		CHECK(is_same(trace, times, nr, NULL));
	}
	free(times);
}

TEST(slices_are_the_same_text_wherever_they_are_cut)
{
	for (int version = 6; version <= 7; version++) {
		struct trace *trace;
		struct loom loom;

		loom_init(&loom);
		loom.version = version;
		loom_task(&loom, 7, "sh");
		loom_play(&loom, script);
		trace = loom_trace(&loom);
		if (CHECK(trace != NULL))
			check_all_cuts(trace);
		trace_free(trace);
		loom_release(&loom);
	}
}

TEST(slices_of_selected_events_are_the_same_text)
{
	uint64_t *times = NULL;
	struct trace *trace;
	struct loom loom;
	size_t nr = 0;

	loom_init(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	if (CHECK(trace != NULL) && CHECK(!sliced_times(trace, &times, &nr, NULL)))
		for (size_t i = 0; i < nr; i++)
			CHECK(is_same(trace, &times[i], 1, "sched_w*"));
	free(times);
	trace_free(trace);
	loom_release(&loom);
}

static void check_export(struct trace *trace, const char *to, const uint64_t *times, size_t nr, const char *events)
{
	const struct sliced_cuts cuts = { .times = times, .nr = nr, .threads = 2, .events = events, .to = to };
	cleanup_buf struct buf whole = BUF_INIT, text = BUF_INIT;
	bool all = false;

	CHECK(!sliced_export_order(trace, to, events, &whole, NULL));
	CHECK(!sliced_print(trace, &cuts, &text, &all, NULL));
	CHECK(all);
	CHECK_STR(buf_str(&text), buf_str(&whole));
}

TEST(slices_of_an_export_are_the_same_lines_and_notes)
{
	uint64_t *times = NULL;
	struct trace *trace;
	struct loom loom;
	size_t nr = 0;

	loom_init(&loom);
	loom_task(&loom, 7, "sh");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	if (CHECK(trace != NULL) && CHECK(!sliced_times(trace, &times, &nr, NULL))) {
		for (size_t i = 0; i < nr; i++) {
			check_export(trace, "csv", &times[i], 1, NULL);
			check_export(trace, "jsonl", &times[i], 1, "sched_w*");
		}
		check_export(trace, "csv", times, nr, "sched_w*");
		check_export(trace, "jsonl", times, nr, NULL);
	}
	free(times);
	trace_free(trace);
	loom_release(&loom);
}

static uint64_t united(uint64_t nr, uint64_t parts, unsigned threads)
{
	struct slices slices = { .nr = nr, .parts = parts, .threads = threads };

	slices_unite(&slices);
	CHECK(slices.parts == parts || slices.parts == slices.nr);
	return slices.nr;
}

TEST(slices_unite_as_long_as_each_thread_has_several)
{
	CHECK(united(30, 30, 2) == 15);
	CHECK(united(12, 12, 2) == 12);
	CHECK(united(8, 8, 2) == 8);
	CHECK(united(1000, 1000, 2) == 62);
	CHECK(united(1000, 1000, 64) == 500);
	/* Those of a window of time. */
	CHECK(united(30, 40, 2) == 30);
}

TEST(slices_know_when_the_event_of_a_stack_came_before)
{
	static const char path[] = "tests/fixtures/golden/6.12-function_graph-event-stack.dat";
	const struct printed how = { .format = "ftrace", .events = "sched" };
	cleanup_buf struct buf whole = BUF_INIT;
	struct trace *trace = NULL;
	uint64_t *times = NULL;
	size_t nr = 0, same = 0;

	if (CHECK(!trace_open(path, &trace, NULL)) && CHECK(!sliced_times(trace, &times, &nr, NULL)) &&
	    CHECK(!printed_trace(trace, &how, &whole, NULL)))
		for (size_t i = 0; i < nr; i++) {
			const struct sliced_cuts cuts = {
				.times = &times[i], .nr = 1, .threads = 1, .events = "sched"
			};
			cleanup_buf struct buf text = BUF_INIT;
			bool all;

			/* Where a stack stands at the cut the text ends there. */
			CHECK(!sliced_print(trace, &cuts, &text, &all, NULL));
			CHECK(text.len <= whole.len && !memcmp(buf_str(&text), buf_str(&whole), text.len));
			CHECK(!all || text.len == whole.len);
			same += all;
		}
	CHECK(same > nr / 2);
	free(times);
	trace_free(trace);
}

static void check_file(const char *path)
{
	struct trace *trace = NULL;

	if (CHECK(!trace_open(path, &trace, NULL)))
		check_all_cuts(trace);
	trace_free(trace);
}

TEST(slices_of_a_function_graph_open_and_close_what_others_opened)
{
	check_file("tests/fixtures/golden/6.1-rt-function_graph.dat");
}

TEST(slices_of_a_graph_with_stacks_between_are_the_same_text)
{
	check_file("tests/fixtures/golden/6.12-function_graph-event-stack.dat");
}

TEST(slices_end_where_a_page_is_damaged_and_the_text_so_far_is_right)
{
	const struct printed how = { .format = "ftrace" };
	cleanup_buf struct buf whole = BUF_INIT, text = BUF_INIT;
	uint64_t times[] = { 1001000, 1002000, 3000001000 };
	const struct sliced_cuts cuts = { .times = times, .nr = 3, .threads = 2 };
	struct trace *trace;
	struct loom loom;
	bool all = true;

	loom_init(&loom);
	loom_play(&loom, script);
	/* A record that is longer than its page. */
	memset(loom.cpus[1].pages.data + 16, 0x1c, 4);
	trace = loom_trace(&loom);
	if (CHECK(trace != NULL)) {
		CHECK(!sliced_print(trace, &cuts, &text, &all, NULL));
		CHECK(!all);
		(void)!printed_trace(trace, &how, &whole, NULL);
		CHECK(text.len <= whole.len && !memcmp(buf_str(&text), buf_str(&whole), text.len));
	}
	trace_free(trace);
	loom_release(&loom);
}

TEST(slices_guess_that_a_function_was_entered_and_mend_the_line_if_not)
{
	struct graph_cpu before, cpu;
	struct sink_patches patches = { .guesses = 0 };
	struct out out;

	graph_cpu_init(&before);
	graph_cpu_enter(&before, 0x100, 0, false);
	graph_cpu_enter(&before, 0x200, 1, false);
	graph_cpu_forget(&cpu);
	CHECK(graph_cpu_leave(&cpu, 0x999, 1, &patches) == GRAPH_EXIT_GUESSED);
	CHECK(graph_cpu_leave(&cpu, 0x100, 0, &patches) == GRAPH_EXIT_GUESSED);
	/* What the slice itself has seen is not guessed. */
	CHECK(graph_cpu_leave(&cpu, 0x100, 0, &patches) == GRAPH_EXIT_LOST);
	CHECK(patches.guesses == 2 && out_init(&out, 0));
	sink_patch_add(&patches, &out, " /* x */", 8);
	sink_patch_add(&patches, &out, NULL, 0);
	CHECK(graph_cpu_join(&before, &cpu, &patches));
	CHECK(patches.at[0].wrong && !patches.at[1].wrong);
	CHECK(!cpu.guesses && cpu.last_pid == -1 && cpu.depth == -1 && !cpu.entered[0] && !cpu.entered[1]);
	out_release(&out);
	sink_patches_release(&patches);
}

TEST(slices_do_not_guess_a_task_that_they_would_have_to_name)
{
	struct graph_cpu before, cpu;
	int32_t other;

	graph_cpu_init(&before);
	CHECK(!graph_cpu_switch(&before, 5, &other));
	graph_cpu_forget(&cpu);
	CHECK(!graph_cpu_switch(&cpu, 5, &other));
	CHECK(graph_cpu_join(&before, &cpu, NULL));
	graph_cpu_forget(&cpu);
	CHECK(!graph_cpu_switch(&cpu, 6, &other));
	CHECK(!graph_cpu_join(&before, &cpu, NULL));
	/* Numbers that mean "unknown" here, but come from the file. */
	graph_cpu_forget(&cpu);
	graph_cpu_enter(&cpu, GRAPH_UNKNOWN_FUNC, 0, false);
	CHECK(!graph_cpu_join(&before, &cpu, NULL));
	graph_cpu_forget(&cpu);
	(void)graph_cpu_switch(&cpu, GRAPH_UNKNOWN_PID, &other);
	CHECK(!graph_cpu_join(&before, &cpu, NULL));
}

static void check_hist(struct trace *trace, const char *what, const uint64_t *times, size_t nr)
{
	const struct sliced_cuts cuts = { .times = times, .nr = nr, .threads = 2, .sums = what };
	cleanup_buf struct buf whole = BUF_INIT, text = BUF_INIT;
	bool all = false;

	CHECK(!sliced_sums_order(trace, what, &whole, NULL));
	CHECK(!sliced_print(trace, &cuts, &text, &all, NULL));
	CHECK(all);
	CHECK_STR(buf_str(&text), buf_str(&whole));
}

TEST(slices_of_a_histogram_add_up_to_the_same_rows)
{
	uint64_t *times = NULL;
	struct trace *trace;
	struct loom loom;
	size_t nr = 0;

	loom_init(&loom);
	loom_task(&loom, 7, "sh");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	if (CHECK(trace != NULL) && CHECK(!sliced_times(trace, &times, &nr, NULL))) {
		for (size_t i = 0; i < nr; i++)
			check_hist(trace, i % 2 ? "pair wakeups" : "hist sched:sched_wakeup", &times[i], 1);
		check_hist(trace, "hist sched:sched_waking", times, nr);
		check_hist(trace, "hist sched:sched_switch", times, nr);
		check_hist(trace, "pair wakeups", times, nr);
	}
	free(times);
	trace_free(trace);
	loom_release(&loom);
}
