// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/measure/hist_text.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

/* Texts as kernels print them; the numbers are from captures of 6.12. */
#define HEAD "# event histogram\n#\n# trigger info: "
#define INFO_END "\n#\n\n"
#define HITS "\nTotals:\n    Hits: "
#define ENTRIES "\n    Entries: "
#define DROPPED "\n    Dropped: 3\n"

static const char two_histograms[] =
	HEAD "hist:keys=next_pid:vals=hitcount:lat=common_timestamp.usecs-$ts0:sort=hitcount:size=2048:clock=global:"
	     "onmatch(sched.sched_waking).wakeup_lat($lat,next_pid) [active]" INFO_END
	     "{ next_pid:        146 } hitcount:          1\n"
	     "{ next_pid:         17 } hitcount:         36\n" HITS "37" ENTRIES "2" DROPPED "\n\n" HEAD
	     "hist:name=bs:keys=prev_state:vals=hitcount,prev_prio:sort=hitcount:size=2048 [active]" INFO_END
	     "{ prev_state:          2 } hitcount:          2  prev_prio:        240\n" HITS "2" ENTRIES "1" DROPPED;

static bool cell_is(const struct hist_cell *cell, const char *text)
{
	return text_word_is(cell->text, text);
}

TEST(hist_text_has_each_histogram_of_an_event_the_newest_first)
{
	const char *at = two_histograms;
	struct hist_text hist;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	CHECK(hist.nr_keys == 1 && text_word_is(hist.keys[0].name, "next_pid"));
	CHECK(hist.nr_values == 1 && hist.nr == 2 && hist.hits == 37 && hist.entries == 2 && hist.dropped == 3);
	CHECK(hist.nr == 2 && hist.rows[1].keys[0].number && hist.rows[1].keys[0].value == 17 &&
	      hist.rows[1].values[0].value == 36);
	hist_text_release(&hist);
	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	CHECK(hist.nr_values == 2 && hist.nr == 1 && hist.rows[0].values[1].value == 240);
	hist_text_release(&hist);
	CHECK(hist_text_next(&at, &hist, NULL) == 0);
}

TEST(hist_text_has_keys_of_every_kind)
{
	static const char text[] =
		HEAD "hist:keys=pid,comm,lat.log2:vals=hitcount:sort=pid,lat.log2:size=2048 [active]" INFO_END
		     "{ pid:         11, comm: kworker/u8:0                                      , lat: ~ 2^9  } "
		     "hitcount:          1\n"
		     "{ pid:         12, comm: 4711                                              , lat: ~ 2^64 } "
		     "hitcount:          2\n"
		     "{ pid:         13, comm: a } hitcount: 7, lat: 3                           , lat: ~ 2^1  } "
		     "hitcount:          3\n" HITS "6" ENTRIES "3" DROPPED;
	uint64_t first, last;
	const char *at = text;
	struct hist_text hist;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	REQUIRE(hist.nr == 3);
	CHECK(cell_is(&hist.rows[0].keys[1], "kworker/u8:0"));
	CHECK(text_word_is(hist.keys[2].modifier, "log2") && hist.rows[0].keys[2].value == 9);
	CHECK(!hist.rows[1].keys[1].number && cell_is(&hist.rows[1].keys[1], "4711"));
	/* The name of a task looks like the end of the row. */
	CHECK(hist.rows[2].keys[0].value == 13 && hist.rows[2].values[0].value == 3);
	hist_text_release(&hist);
	hist_log2_bounds(9, &first, &last);
	CHECK(first == 257 && last == 512);
	hist_log2_bounds(0, &first, &last);
	CHECK(first == 0 && last == 1);
	hist_log2_bounds(64, &first, &last);
	CHECK(first == ((uint64_t)1 << 63) + 1 && last == UINT64_MAX);
}

TEST(hist_text_has_the_rows_of_tasks_with_strange_names)
{
	static const char text[] = HEAD
		"hist:keys=comm,pid:vals=hitcount:sort=pid:size=2048 [active]" INFO_END
		"{ comm: nl\nname                                           , pid:         11 } hitcount:          1\n"
		"{ comm:   leading                                         , pid:         12 } hitcount:          2\n"
		"{ comm: plain                                             , pid:         13 } "
		"hitcount:          3\n" HITS "6" ENTRIES "3" DROPPED;
	static const char last[] =
		HEAD "hist:keys=comm:vals=hitcount:sort=comm:size=2048 [active]" INFO_END
		     "{ comm: a\n\nb                                              } hitcount:          4\n" HITS
		     "4" ENTRIES "1" DROPPED;
	const char *at = text;
	struct hist_text hist;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	REQUIRE(hist.nr == 3);
	CHECK(cell_is(&hist.rows[0].keys[0], "nl\nname") && hist.rows[0].keys[1].value == 11);
	CHECK(cell_is(&hist.rows[1].keys[0], "  leading") && hist.rows[1].values[0].value == 2);
	CHECK(cell_is(&hist.rows[2].keys[0], "plain") && hist.rows[2].values[0].value == 3);
	hist_text_release(&hist);
	at = last;
	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	CHECK(hist.nr == 1 && cell_is(&hist.rows[0].keys[0], "a\n\nb") && hist.rows[0].values[0].value == 4);
	hist_text_release(&hist);
}

TEST(hist_text_reads_names_with_their_numbers)
{
	static const char text[] = HEAD
		"hist:keys=common_pid.execname,dfd,id.syscall,at.sym,len.buckets=100:vals=hitcount,"
		"bytes:sort=hitcount:size=2048 [active]" INFO_END
		"{ common_pid: sh              [       139], dfd: 4294967196, id: sys_set_robust_list           [273], "
		"at: [ffffffff81000000] vfs_read                                     , len: ~ 100-199 } "
		"hitcount:         16  bytes:         32\n" HITS "16" ENTRIES "1" DROPPED;
	const char *at = text;
	struct hist_text hist;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	REQUIRE(hist.nr == 1 && hist.nr_keys == 5);
	CHECK(hist.rows[0].keys[0].value == 139 && !hist.rows[0].keys[0].number);
	CHECK(hist.rows[0].keys[1].value == 4294967196);
	CHECK(hist.rows[0].keys[2].value == 273);
	CHECK(cell_is(&hist.rows[0].keys[3], "[ffffffff81000000] vfs_read"));
	CHECK(text_word_is(hist.keys[4].modifier, "buckets=100") && hist.rows[0].keys[4].value == 100);
	CHECK(hist.rows[0].values[1].value == 32);
	hist_text_release(&hist);
}

TEST(hist_text_reads_the_name_in_front_of_which_linux_7_3_prints_another)
{
	static const char text[] =
		HEAD "hist:keys=next_pid,common_cpucommon_cpu:vals=hitcount:sort=hitcount:size=2048 "
		     "[active]" INFO_END "{ next_pid:         16, common_cpu:          1 } hitcount:          4\n" HITS
		     "4" ENTRIES "1" DROPPED;
	const char *at = text;
	struct hist_text hist;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	REQUIRE(hist.nr == 1 && hist.nr_keys == 2);
	CHECK(text_word_is(hist.keys[1].name, "common_cpu"));
	CHECK(hist.rows[0].keys[0].value == 16 && hist.rows[0].keys[1].value == 1 && hist.rows[0].values[0].value == 4);
	hist_text_release(&hist);
}

TEST(hist_text_has_stacks_line_by_line_and_what_actions_keep)
{
	static const char text[] = HEAD
		"hist:keys=common_stacktrace,pid:vals=hitcount:sort=hitcount:size=2048 [active]" INFO_END
		"{ common_stacktrace:\n         ttwu_do_activate+0x198/0x1e0\n         kick_pool+0x62/0x120\n"
		", pid:         42} hitcount:          1\n"
		"\tmax:       1234\tnext_comm: sh\n"
		"{ common_stacktrace:\n         rcu_core+0x296/0x760\n, pid:          7} hitcount:          5\n" HITS
		"6" ENTRIES "2" DROPPED;
	const char *at = text, *line_at;
	struct text_word line;
	struct hist_text hist;
	size_t left;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	REQUIRE(hist.nr == 2);
	CHECK(hist.rows[0].keys[0].stack && hist.rows[0].keys[1].value == 42 && hist.rows[1].values[0].value == 5);
	line_at = hist.rows[0].keys[0].text.at;
	left = hist.rows[0].keys[0].text.len;
	CHECK(hist_stack_line(&line_at, &left, &line) && text_word_is(line, "ttwu_do_activate+0x198/0x1e0"));
	CHECK(hist_stack_line(&line_at, &left, &line) && text_word_is(line, "kick_pool+0x62/0x120"));
	CHECK(!hist_stack_line(&line_at, &left, &line));
	CHECK(hist.rows[0].more.len && !hist.rows[1].more.len);
	hist_text_release(&hist);
}

TEST(hist_text_that_is_cut_or_changed_does_no_harm)
{
	char *copy = strdup(two_histograms);
	size_t len = strlen(two_histograms);

	REQUIRE(copy != NULL);
	for (size_t i = 0; i < len; i++) {
		static const char replacements[] = { '{', '}', ':', '\n', ',', ' ', '9' };
		char old = copy[i];

		for (size_t j = 0; j <= sizeof(replacements); j++) {
			const char *at = copy;
			struct hist_text hist;

			copy[i] = j < sizeof(replacements) ? replacements[j] : '\0';
			for (unsigned nr = 0; nr < 4 && hist_text_next(&at, &hist, NULL) > 0; nr++)
				hist_text_release(&hist);
		}
		copy[i] = old;
	}
	free(copy);
}

TEST(hist_text_takes_a_bar_of_a_value_by_its_width)
{
	const char *at = HEAD
		"hist:keys=pid:vals=hitcount,prio.graph,cost.percent,cost:sort=hitcount:size=2048 [active]" INFO_END
		"{ pid:          1 } hitcount:          2  prio: ####                  cost (%):  12.50  "
		"cost:          5\n"
		"{ pid:          2 } hitcount:          3  prio:                       cost (%):   0.00  "
		"cost:          7\n" HITS "5" ENTRIES "2" DROPPED;
	struct hist_text hist;

	REQUIRE(hist_text_next(&at, &hist, NULL) == 1);
	CHECK(hist.nr == 2 && cell_is(&hist.rows[0].values[1], "####") && cell_is(&hist.rows[0].values[2], "12.50"));
	CHECK(hist.nr == 2 && cell_is(&hist.rows[1].values[1], "") && cell_is(&hist.rows[1].values[2], "0.00") &&
	      hist.rows[1].values[3].value == 7);
	hist_text_release(&hist);
}
