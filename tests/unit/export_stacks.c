// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "tests/unit/exported.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static void begin(struct loom *loom)
{
	loom_init(loom);
	loom_type(loom, "ftrace", "funcgraph_entry", "long func; int depth", "\"\"");
	loom_type(loom, "ftrace", "funcgraph_exit", "long func; int depth", "\"\"");
	loom_task(loom, 7, "sh");
}

TEST(folded_weighs_each_function_by_its_own_time)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_play(&loom, "0 1000 7 funcgraph_entry func=0x10 depth=0\n"
			 "0 1100 7 funcgraph_entry func=0x20 depth=1\n"
			 "0 1400 7 funcgraph_exit func=0x20 depth=1\n"
			 "0 1500 7 funcgraph_entry func=0x20 depth=1\n"
			 "0 1510 7 funcgraph_exit func=0x20 depth=1\n"
			 "0 2000 7 funcgraph_exit func=0x10 depth=0\n");
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x10 690\nsh;0x10;0x20 310\n");
	free(text);
	loom_release(&loom);
}

TEST(folded_forgets_what_a_loss_may_have_ended)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_play(&loom, "0 1000 7 funcgraph_entry func=0x10 depth=0\n"
			 "0 lost 5\n"
			 "0 2000 7 funcgraph_exit func=0x10 depth=0\n"
			 "0 3000 7 funcgraph_entry func=0x30 depth=0\n"
			 "0 3007 7 funcgraph_exit func=0x30 depth=0\n");
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x30 7\n");
	free(text);
	loom_release(&loom);
}

TEST(folded_keeps_what_runs_on_another_cpu_than_that_of_a_loss)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_play(&loom, "0 1000 7 funcgraph_entry func=0x10 depth=0\n"
			 "1 1010 8 funcgraph_entry func=0x20 depth=0\n"
			 "2 1020 9 funcgraph_entry func=0x30 depth=0\n"
			 "1 lost 5\n"
			 "1 1500 8 funcgraph_exit func=0x20 depth=0\n"
			 /* Task 9 comes to the CPU that lost events: its calls may be others. */
			 "1 1600 9 funcgraph_exit func=0x30 depth=0\n"
			 "0 2000 7 funcgraph_exit func=0x10 depth=0\n");
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x10 1000\n");
	free(text);
	loom_release(&loom);
}

/* The kernel writes no entries with tracing_thresh; the exits have the times of their calls. */
TEST(folded_has_the_calls_of_a_graph_of_exits_only)
{
	struct loom loom;
	char *text;

	loom_init(&loom);
	loom_graph(&loom);
	loom_task(&loom, 7, "sh");
	loom_play(&loom, "0 1000 7 sched_waking comm=sh pid=7\n"
			 "0 2005 7 funcgraph_exit func=0x30 depth=2 calltime=1200 rettime=2000\n"
			 "0 2105 7 funcgraph_exit func=0x20 depth=1 calltime=1100 rettime=2100\n"
			 "0 4005 7 funcgraph_exit func=0x20 depth=1 calltime=3000 rettime=4000\n"
			 "0 5005 7 funcgraph_exit func=0x10 depth=0 calltime=1000 rettime=5000\n");
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x10 2000\nsh;0x10;0x20 1200\nsh;0x10;0x20;0x30 800\n");
	free(text);
	loom_release(&loom);
}

/*
 * The kernel took the 250 ns in which the task slept after the call of 0x20 off the start of 0x10, which then seems to
 * begin inside 0x20. 0x40 was entered, and events lost before its end.
 */
static const char slept[] = "0 1000 7 sched_waking comm=sh pid=7\n"
			    "0 1310 7 funcgraph_exit func=0x20 depth=1 calltime=1100 rettime=1300\n"
			    "0 5010 7 funcgraph_exit func=0x10 depth=0 calltime=1250 rettime=5000\n"
			    "0 6000 7 funcgraph_entry func=0x40 depth=0\n"
			    "0 lost 5\n"
			    "0 6500 7 sched_waking comm=sh pid=7\n"
			    "0 7010 7 funcgraph_exit func=0x40 depth=0 calltime=5990 rettime=7000\n";

TEST(folded_keeps_calls_in_a_caller_that_slept_after_them)
{
	struct loom loom;
	char *text;

	loom_init(&loom);
	loom_graph(&loom);
	loom_task(&loom, 7, "sh");
	loom_play(&loom, slept);
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x10 3550\nsh;0x10;0x20 200\n");
	free(text);
	loom_release(&loom);
}

TEST(chrome_draws_calls_without_an_entry_where_they_cross_no_other)
{
	struct loom loom;
	char *text;

	loom_init(&loom);
	loom_graph(&loom);
	loom_task(&loom, 7, "sh");
	loom_play(&loom, slept);
	text = exported(&loom, "chrome", NULL, NULL);
	if (text)
		CHECK(strstr(text, "\"ts\":1.110,\"name\":\"0x20\",\"dur\":0.200}") &&
		      strstr(text, "\"ts\":1.109,\"name\":\"0x10\",\"dur\":3.901}") &&
		      strstr(text, "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":6.500,\"name\":\"0x40\"}") &&
		      strstr(text, "\"ts\":6.500,\"name\":\"0x40\",\"dur\":0.510}"));
	free(text);
	loom_release(&loom);
}

/* Before: a 600, b 300, c 100 of 1000. Now: a 500, b 1500, new 1000 of 3000. */
static char *differing(const char *to)
{
	struct loom before, now;
	char *text;

	begin(&before);
	loom_play(&before, "0 1000 7 funcgraph_entry func=0xa depth=0\n0 1600 7 funcgraph_exit func=0xa depth=0\n"
			   "0 2000 7 funcgraph_entry func=0xb depth=0\n0 2300 7 funcgraph_exit func=0xb depth=0\n"
			   "0 3000 7 funcgraph_entry func=0xc depth=0\n0 3100 7 funcgraph_exit func=0xc depth=0\n");
	begin(&now);
	loom_play(&now, "0 1000 7 funcgraph_entry func=0xa depth=0\n0 1500 7 funcgraph_exit func=0xa depth=0\n"
			"0 2000 7 funcgraph_entry func=0xb depth=0\n0 3500 7 funcgraph_exit func=0xb depth=0\n"
			"0 4000 7 funcgraph_entry func=0xd depth=0\n0 5000 7 funcgraph_exit func=0xd depth=0\n");
	text = exported_diff(&now, &before, to);
	loom_release(&before);
	loom_release(&now);
	return text;
}

TEST(folded_diff_has_the_weight_before_and_now_of_every_stack)
{
	char *text = differing("folded");

	if (text)
		CHECK_STR(text, "sh;0xa 600 500\nsh;0xb 300 1500\nsh;0xd 0 1000\nsh;0xc 100 0\n");
	free(text);
}

/* Shares: a 60 % -> 16.67 %, the largest change; b 30 % -> 50 %; d 0 -> 33.33 %. */
TEST(flame_diff_has_the_widths_of_now_and_the_colours_of_changes)
{
	static const char *const frames[] = {
		"data-w=\"3000\" data-d=\"1\" data-n=\"sh\"><title>sh (0.003 ms, 100.00%, was 100.00%)</title>",
		"fill=\"rgb(255,255,255)\"",
		"data-w=\"500\" data-d=\"2\" data-n=\"0xa\"><title>0xa (0.000 ms, 16.67%, was 60.00%)</title>",
		"fill=\"rgb(55,55,255)\"",
		"data-w=\"1500\" data-d=\"2\" data-n=\"0xb\"><title>0xb (0.002 ms, 50.00%, was 30.00%)</title>",
		"fill=\"rgb(255,163,163)\"",
		"data-w=\"1000\" data-d=\"2\" data-n=\"0xd\"><title>0xd (0.001 ms, 33.33%, was 0.00%)</title>",
		"fill=\"rgb(255,102,102)\"",
	};
	char *text = differing("flame"), *at = text;

	for (size_t i = 0; at && i < array_size(frames); i++) {
		at = strstr(at, frames[i]);
		CHECK_STR(at ? frames[i] : "not there", frames[i]);
	}
	if (text)
		CHECK(!strstr(text, "0xc"));
	free(text);
}

TEST(flame_escapes_the_names_of_tasks)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_task(&loom, 8, "</g><script>\"'&\x01\xff");
	loom_play(&loom, "0 1000 8 funcgraph_entry func=0x10 depth=0\n"
			 "0 2000 8 funcgraph_exit func=0x10 depth=0\n");
	text = exported(&loom, "flame", NULL, NULL);
	if (text) {
		CHECK(strstr(text, "data-n=\"&#60;/g&#62;&#60;script&#62;&#34;&#39;&#38;\xef\xbf\xbd\xef\xbf\xbd\""));
		CHECK(!strstr(text, "</g><script>\""));
	}
	free(text);
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "</g><script>\"'&??;0x10 1000\n");
	free(text);
	loom_release(&loom);
}

/* Whether the profile has a counter of this name with these differences from sample to sample. */
static bool counts(const char *profile, const char *name, const char *want)
{
	char label[80];
	const char *at = strstr(profile, "\"counters\":[");

	snprintf(label, sizeof(label), "{\"name\":\"%s\"", name);
	at = at ? strstr(at, label) : NULL;
	at = at ? strstr(at, "\"count\":") : NULL;
	return CHECK(at && !strncmp(at + strlen("\"count\":"), want, strlen(want)));
}

TEST(firefox_has_a_counter_for_each_cpus_frequency_and_each_kind_of_memory)
{
	struct loom loom;
	char *text;

	loom_init(&loom);
	loom_type(&loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(&loom, "kmem", "rss_stat", "u32 mm_id; u32 curr; int member; long size", "\"\"");
	loom_task(&loom, 7, "sh");
	loom_play(&loom, "0 1000 7 cpu_frequency state=2400000 cpu_id=0\n"
			 "0 2000 7 cpu_frequency state=1200000 cpu_id=1\n"
			 "0 3000 7 cpu_frequency state=800000 cpu_id=0\n"
			 "0 4000 7 rss_stat mm_id=5 curr=1 member=0 size=4096\n"
			 "0 5000 7 rss_stat mm_id=5 curr=1 member=1 size=8192\n"
			 "0 6000 7 rss_stat mm_id=5 curr=1 member=0 size=12288\n"
			 "0 7000 7 rss_stat mm_id=6 curr=0 member=77 size=-1\n");
	text = exported(&loom, "firefox", NULL, NULL);
	if (text) {
		CHECK(counts(text, "CPU 0 frequency (kHz)", "[2400000,-1600000]"));
		CHECK(counts(text, "CPU 1 frequency (kHz)", "[1200000]"));
		CHECK(counts(text, "mm 5 file pages", "[4096,8192]"));
		CHECK(counts(text, "mm 5 anonymous pages", "[8192]"));
		CHECK(counts(text, "mm 6 other pages", "[-1]"));
	}
	free(text);
	loom_release(&loom);
}
