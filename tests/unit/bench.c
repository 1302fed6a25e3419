// SPDX-License-Identifier: GPL-2.0-only
/* Runs of known times: random, but from fixed seeds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/stats/bench_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/random.h"
#include "lib/kernel/measure/noise.h"
#include "lib/kernel/record/timing.h"
#include "lib/kernel/record/workload.h"
#include "tests/unit/diffed.h"
#include "tests/unit/test.h"

/* Runs of 100 ms, with a tail of slow ones; those of the new side take `longer`. */
static struct bench *make(size_t runs, uint64_t seed, double longer)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	uint64_t state = seed;

	if (!bench)
		return NULL;
	bench->nr_sides = 2;
	for (size_t side = 0; side < 2; side++)
		for (bench->sides[side].nr = 0; bench->sides[side].nr < runs; bench->sides[side].nr++)
			for (size_t i = 0; i < BENCH_FIGURES; i++) {
				double value = 1e8 * (1 + 0.05 * diffed_part(&state));

				if (random_next(&state) % 25 == 0)
					value *= 1.3;
				bench->sides[side].runs[bench->sides[side].nr].figures[i] =
					(uint64_t)(side ? value * longer : value);
			}
	return bench;
}

/* Returns bench_finish(), and its table of figures as CSV. Frees the bench. */
static int finish(struct bench *bench, const char *text, char csv[4096], struct fail *fail)
{
	struct diff_condition condition;
	const struct bench_options options = { .conditions = &condition, .nr_conditions = text != NULL };
	struct findings findings;
	struct out out;
	int r;

	*csv = '\0';
	if (!bench || !out_init(&out, 1 << 14)) {
		free(bench);
		return -ENOMEM;
	}
	findings_init(&findings);
	if (text)
		CHECK(!bench_condition_parse(text, &condition, fail));
	r = bench_finish(bench, &options, &findings, fail);
	if (CHECK(findings.nr == 2 && table_put_csv(&findings.items[1].table, &out) && out_len(&out) < 4096)) {
		memcpy(csv, out.start, out_len(&out));
		csv[out_len(&out)] = '\0';
	}
	findings_release(&findings);
	out_release(&out);
	free(bench);
	return r;
}

TEST(bench_tells_same_commands_apart_in_at_most_5_percent_of_comparisons)
{
	unsigned flagged = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct fail fail = FAIL_INIT;
		char csv[4096];

		CHECK(!finish(make(10, seed * 7919, 1), NULL, csv, &fail));
		flagged += strstr(csv, ",+,") || strstr(csv, ",-,");
	}
	if (!CHECK(flagged <= 10))
		printf("%u of 200\n", flagged);
}

TEST(bench_finds_a_tenth_that_each_run_takes_longer)
{
	unsigned found = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct fail fail = FAIL_INIT;
		char csv[4096];
		int r = finish(make(10, seed * 104729, 1.1), "wall > 2%", csv, &fail);

		found += r == -ERANGE && strstr(fail.text, "wall changed by +");
	}
	if (!CHECK(found >= 95))
		printf("%u of 100\n", found);
}

/* How much more than 0 something is has no number. */
TEST(bench_prints_no_bound_where_old_figures_are_0)
{
	struct bench *bench = make(10, 5, 2);
	struct fail fail = FAIL_INIT;
	const char *line;
	char csv[4096];

	for (size_t i = 0; bench && i < 4; i++)
		bench->sides[0].runs[i].figures[BENCH_SYSTEM] = 0;
	CHECK(!finish(bench, NULL, csv, &fail));
	/* A field without a number is empty in CSV. */
	line = strstr(csv, "\nsystem,");
	CHECK(line && strstr(line, ",,") && strstr(line, ",,") < strchr(line + 1, '\n'));
	line = strstr(csv, "\nwall,");
	line = line ? line : strstr(csv, "wall,");
	CHECK(line && strstr(line, ",,") > strchr(line + 1, '\n'));
}

TEST(bench_conditions_are_met_only_by_changes_that_are_large_enough)
{
	struct fail fail = FAIL_INIT;
	char csv[4096];

	CHECK(finish(make(10, 3, 1.5), "wall > 20%", csv, &fail) == -ERANGE);
	CHECK(!finish(make(10, 3, 1.5), "wall > 90%", csv, &fail));
	CHECK(!finish(make(10, 3, 1.5), "wall < -1%", csv, &fail));
	CHECK(finish(make(10, 3, 0.5), "memory < -20%", csv, &fail) == -ERANGE);
	/* So few runs cannot prove anything: a script must not take that for a pass. */
	CHECK(finish(make(3, 3, 1.5), "wall > 20%", csv, &fail) == -ENODATA);
	CHECK(strstr(csv, "wall,") && strstr(csv, ",?,"));
}

TEST(bench_conditions_say_what_is_wrong_with_them)
{
	struct diff_condition condition;
	struct fail fail = FAIL_INIT;

	CHECK(!bench_condition_parse("cpu > 5%", &condition, &fail) && condition.figure == BENCH_CPU);
	CHECK(bench_condition_parse("p50 > 5%", &condition, &fail) &&
	      strstr(fail.text,
		     "there are wall, cpu, user, system, memory, faults, waits, preemptions, time and calls"));
	CHECK(bench_condition_parse("read: wall > 5%", &condition, &fail));
	CHECK(bench_condition_parse("wall > 5", &condition, &fail));
}

TEST(diff_holm_stops_at_the_first_test_that_does_not_pass)
{
	struct diff_test tests[4], *all[4] = { &tests[0], &tests[1], &tests[2], &tests[3] };
	/* Sorted: 0.01 <= 0.05/4, 0.016 <= 0.05/3, 0.03 > 0.05/2; the last would have passed alone. */
	static const double p[4] = { 0.03, 0.01, 0.04, 0.016 };

	for (size_t i = 0; i < 4; i++)
		tests[i] = (struct diff_test){ .p = p[i], .bounded = true, .low = 0.1, .high = 0.2 };
	CHECK(diff_holm(all, 4, 0.05, 0.001));
	CHECK(!tests[0].passes && tests[1].passes && !tests[2].passes && tests[3].passes);
	CHECK(tests[0].could_pass && tests[2].could_pass);
	CHECK(diff_holm(all, 4, 0.05, 0.02));
	CHECK(!tests[0].could_pass && !tests[1].could_pass);
	/* 5 and 5 runs: 2 of 252 ways. */
	CHECK(fabs(diff_least_p(5, 5) - 2.0 / 252) < 1e-12);
}

TEST(bench_many_runs_have_the_p_of_the_normal_distribution)
{
	double old[BENCH_RUNS_MAX], new[BENCH_RUNS_MAX];
	struct diff_test test;

	for (size_t i = 0; i < 100; i++) {
		old[i] = 1000 + (double)i;
		new[i] = 1000.5 + (double)i;
	}
	diff_ranks(old, 100, new, 100, 0.5, &test);
	/* U = 4950, 50 from the middle, less 0.5; its deviation is 409.27. */
	CHECK(fabs(test.p - erfc(49.5 / 409.2676 / sqrt(2))) < 1e-4);
	CHECK(test.bounded && test.low < 0 && test.high > 0);
	for (size_t i = 0; i < 100; i++)
		new[i] = old[i] * 1.2;
	diff_ranks(old, 100, new, 100, 0.5, &test);
	CHECK(test.p < 1e-20 && test.low > 0.15 && test.high < 0.25);
	/* The exact test of 20 and the normal one of 21 agree. */
	for (size_t i = 0; i < 21; i++)
		new[i] = old[i] + 5;
	diff_ranks(old, 20, new, 20, 0.5, &test);
	const double exact = test.p;
	diff_ranks(old, 21, new, 21, 0.5, &test);
	CHECK(fabs(test.p - exact) < 0.02);
}

TEST(bench_spread_is_that_of_the_runs)
{
	struct bench_side side = { .nr = 4 };
	struct bench_spread spread;

	for (size_t i = 0; i < 4; i++)
		side.runs[i].figures[BENCH_WALL] = (uint64_t[]){ 40, 10, 20, 30 }[i];
	bench_spread(&side, BENCH_WALL, &spread);
	CHECK(spread.mean == 25 && spread.median == 25 && spread.min == 10 && spread.max == 40);
	CHECK(fabs(spread.deviation - 12.9099) < 1e-3);
	side.nr = 1;
	bench_spread(&side, BENCH_WALL, &spread);
	CHECK(spread.mean == 40 && spread.median == 40 && spread.deviation == 0);
}

TEST(bench_run_has_the_figures_of_the_kernel)
{
	const struct rusage usage = { .ru_utime = { 1, 500 },
				      .ru_stime = { 0, 250 },
				      .ru_maxrss = 3,
				      .ru_minflt = 4,
				      .ru_majflt = 5,
				      .ru_nvcsw = 6,
				      .ru_nivcsw = 7 };
	struct bench_run run;

	bench_run_set(&run, 99, &usage);
	CHECK(run.figures[BENCH_WALL] == 99 && run.figures[BENCH_CPU] == 1000750000);
	CHECK(run.figures[BENCH_USER] == 1000500000 && run.figures[BENCH_SYSTEM] == 250000);
	CHECK(run.figures[BENCH_MEMORY] == 3072 && run.figures[BENCH_FAULTS] == 9);
	CHECK(run.figures[BENCH_WAITS] == 6 && run.figures[BENCH_PREEMPTIONS] == 7);
}

TEST(noise_is_read_from_the_text_of_the_kernel)
{
	struct noise noise;

	CHECK(noise_parse("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2\n", 100, &noise));
	CHECK(noise.busy_ns == 190000000 && noise.stolen_ns == 80000000);
	CHECK(!noise_parse("cpu  1 2 3\n", 100, &noise));
	CHECK(!noise_parse("", 100, &noise));
	CHECK(!noise_parse("cpu  1 2 3 4 5 6 7 8\n", 0, &noise));
}

TEST(timing_measures_a_command_and_its_children)
{
	char *argv[] = { "sh", "-c", "sleep 0.03; exit 3", NULL }, *missing[] = { "./no-such-command", NULL };
	struct workload_options options = { .argv = argv, .path = getenv("PATH"), .mute = true };
	struct timing timing;
	struct fail fail = FAIL_INIT;

	REQUIRE(!timing_run(&options, &timing, &fail));
	CHECK(timing.status == 3 && !timing.interrupted);
	CHECK(timing.times.ended_ns - timing.times.started_ns >= 30000000);
	CHECK(timing.times.ended_ns - timing.times.started_ns < 100000000000);
	CHECK(timing.times.usage.ru_maxrss > 0);
	options.argv = missing;
	CHECK(timing_run(&options, &timing, &fail) == -ENOENT && strstr(fail.text, "cannot run"));
}

TEST(timing_takes_no_command_for_run_whose_process_got_no_message)
{
	char *argv[] = { "true", NULL };
	const struct workload_options options = { .argv = argv, .path = getenv("PATH"), .mute = true };
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	struct fail fail = FAIL_INIT;
	int sockets[2], status = 0;

	REQUIRE(!workload_fork(&options, &workload, &fail) && !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets));
	/* Nobody hears at the other end; and what the child listened to is closed. */
	close(sockets[1]);
	CHECK(dup2(sockets[0], workload.go_fd) == workload.go_fd && !close(sockets[0]));
	CHECK(!workload_go(&workload, NULL, &fail));
	CHECK(workload_executed(&workload, "true", &status, &fail) == -ECHILD && status == 126);
	CHECK(strstr(fail.text, "cannot run 'true': its process ended before it was told to start"));
	workload_release(&workload);
}

TEST(bench_matches_the_programs_that_stand_in_the_same_place)
{
	struct bench_match matches[DIFF_RENAMES_MAX];

	REQUIRE(bench_match("./benchmark -n 3", "dir/benchmark.new -n 3", matches) == 1);
	CHECK_STR(matches[0].old_name, "benchmark");
	CHECK_STR(matches[0].new_name, "benchmark.new");
	REQUIRE(bench_match("A=1 ./a-very-long-name-of-one | b", "A=1 ./a-very-long-name-of-two | c", matches) == 1);
	CHECK_STR(matches[0].new_name, "c");
	/* Of other shapes, only the first words are programs in the same place. */
	REQUIRE(bench_match("x 1 2", "y 1", matches) == 1);
	CHECK_STR(matches[0].old_name, "x");
	CHECK(bench_match("x; y", "y; x", matches) == 0);
	CHECK(bench_match("", "x", matches) == 0);
}

/* The text of a file with two runs; the row of a name with a tab and a backslash happened twice. */
#define SAVED                                                                                              \
	"weft bench 1\ncommand\t./x \\011\\134\nkernel\t6.12.0\nfor\tsched,syscalls\n"                     \
	"run\t100\t2\t3\t4\t5\t6\t7\t8\t9\nrow\t3\t50\tsyscalls\tread\nrow\t1\t10\ttasks\tx\\134 asleep\n" \
	"run\t200\t2\t3\t4\t5\t6\t7\t8\t9\nrow\t4\t60\tsyscalls\tread\nend\n"

TEST(bench_reads_the_runs_that_it_has_saved)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct bench_saved *saved = NULL;
	struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;

	REQUIRE(bench && !bench_load(SAVED, strlen(SAVED), &saved, &fail));
	CHECK_STR(bench_saved_for(saved), "sched,syscalls");
	CHECK_STR(bench_saved_kernel(saved), "6.12.0");
	REQUIRE(bench_saved_runs(saved) == 2 && !diff_new(2, 1, &bench->rows, &fail));
	bench_use(bench, saved);
	bench_use_rows(bench, saved);
	CHECK(bench->nr_sides == 2 && bench->sides[0].nr == 2 && bench->sides[0].runs[1].figures[BENCH_WALL] == 200);
	CHECK_STR(bench->sides[0].command, "./x \t\\");
	CHECK(diff_run_find(&bench->rows->sides[0].runs[1], "syscalls\tread")->sum == 60);
	CHECK(diff_run_find(&bench->rows->sides[0].runs[0], "tasks\tx\\ asleep")->count == 1);
	CHECK(bench_save(bench, "6.12.0", "sched,syscalls", &text));
	CHECK_STR(buf_str(&text), SAVED);
	buf_release(&text);
	diff_free(bench->rows);
	bench_saved_free(saved);
	free(bench);
}

TEST(bench_refuses_runs_that_it_did_not_save)
{
	static const char *const wrong[] = {
		"",
		"weft bench 2\n",
		"weft bench 1\n",
		"weft bench 1\ncommand\tx\nkernel\t6\nend\n",
		"weft bench 1\ncommand\tx\nkernel\t6\nrow\t1\t2\ta\tb\nrun\t1\t2\t3\t4\t5\t6\t7\t8\t9\nend\n",
		"weft bench 1\ncommand\tx\ncommand\tx\nkernel\t6\nrun\t1\t2\t3\t4\t5\t6\t7\t8\t9\nend\n",
		"weft bench 1\ncommand\tx\nkernel\t6\nrun\t1\t2\t3\t4\t5\t6\t7\t8\nend\n",
		"weft bench 1\ncommand\tx\\9\nkernel\t6\nrun\t1\t2\t3\t4\t5\t6\t7\t8\t9\nend\n",
		"weft bench 1\ncommand\tx\nkernel\t6\nrun\t1\t2\t3\t4\t5\t6\t7\t8\t9\nend\nmore\n",
	};

	for (size_t i = 0; i < array_size(wrong); i++) {
		struct bench_saved *saved = NULL;
		struct fail fail = FAIL_INIT;

		if (!CHECK(bench_load(wrong[i], strlen(wrong[i]), &saved, &fail) == -EBADMSG && *fail.text))
			printf("%zu\n", i);
	}
}

/* The smaller of two numbers was measured with less memory of weft's own: which one is larger is not known. */
TEST(bench_compares_no_memory_that_may_be_its_own)
{
	struct bench *bench = make(10, 5, 2);
	struct fail fail = FAIL_INIT;
	char csv[4096];

	for (size_t side = 0; bench && side < 2; side++)
		for (size_t i = 0; i < 10; i++)
			bench->sides[side].runs[i].least_memory = 1000000000;
	CHECK(!finish(bench, "memory > 50%", csv, &fail));
	CHECK(finish(make(10, 5, 2), "memory > 50%", csv, &fail) == -ERANGE);
}

/* A run that is on a CPU for `cpu_us`, of which `calls` calls take 2 us each, and another call takes `small_us`. */
static void add_rows(struct diff_side *side, size_t calls, uint64_t cpu_us, uint64_t small_us)
{
	struct diff_run *run = &side->runs[side->nr++];

	run->rows = calloc(3, sizeof(*run->rows));
	if (!CHECK(run->rows))
		return;
	run->nr = 3;
	run->rows[0] = (struct diff_row){ .name = strdup("syscalls\tbrk"), .count = 3, .sum = small_us * 1000 };
	run->rows[1] = (struct diff_row){ .name = strdup("syscalls\tgetppid"), .count = calls, .sum = calls * 2000 };
	run->rows[2] = (struct diff_row){ .name = strdup("tasks\twork on a CPU"), .count = 1, .sum = cpu_us * 1000 };
}

TEST(bench_names_a_call_before_the_time_of_its_task_if_it_is_a_good_part_of_it)
{
	for (size_t many = 0; many < 2; many++) {
		struct bench *bench = make(10, 3, 1);
		struct bench_rows rows = { .nr = 0 };
		struct fail fail = FAIL_INIT;

		REQUIRE(bench && !diff_new(10, 10, &bench->rows, &fail));
		for (size_t i = 0; i < 10; i++) {
			add_rows(&bench->rows->sides[0], 1, 100000 + i, 500 + i);
			add_rows(&bench->rows->sides[1], many ? 401 : 1, 101500 + i, 600 + i);
		}
		REQUIRE(!bench_judge_rows(bench, &rows, &fail) && rows.nr == 3);
		/* 0.8 ms of 1.5 ms explain it; 0.1 ms do not. */
		CHECK_STR(rows.rows[0].name, many ? "syscalls\tgetppid" : "tasks\twork on a CPU");
		CHECK(bench_row_changed(&rows.rows[0]) && bench_row_changed(&rows.rows[1]));
		bench_rows_release(&rows);
		diff_free(bench->rows);
		free(bench);
	}
}
