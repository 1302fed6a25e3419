// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/query/selection.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/*
 * 0xf was called before the trace began. 0xa calls 0xb, which calls 0xc, and then 0xd. An interrupt hits 0xd: its first
 * function has no flag, its second one gets it while it runs. The end of 0xe is not in the trace.
 */
static const char script[] = "0 1000 7 funcgraph_entry func=0xa depth=1\n"
			     "0 1100 7 funcgraph_entry func=0xb depth=2\n"
			     "0 1200 7 funcgraph_entry func=0xc depth=3\n"
			     "0 1600 7 funcgraph_exit func=0xc depth=3 calltime=1200 rettime=1600\n"
			     "0 1700 7 funcgraph_exit func=0xb depth=2 calltime=1100 rettime=1700\n"
			     "0 1800 7 funcgraph_entry func=0xd depth=2\n"
			     "0 1810 7 funcgraph_entry func=0x5000 depth=3\n"
			     "0 1820 7 funcgraph_entry func=0x1 depth=4\n"
			     "0 1830 7 funcgraph_exit func=0x1 depth=4 calltime=1820 rettime=1830 common_flags=8\n"
			     "0 1840 7 funcgraph_entry func=0x2 depth=4 common_flags=8\n"
			     "0 1860 7 funcgraph_exit func=0x2 depth=4 calltime=1840 rettime=1860 common_flags=8\n"
			     "0 1870 7 funcgraph_exit func=0x5000 depth=3 calltime=1810 rettime=1870\n"
			     "0 1900 7 funcgraph_exit func=0xd depth=2 calltime=1800 rettime=1900\n"
			     "1 1950 8 funcgraph_entry func=0xd depth=0\n"
			     "0 2000 7 funcgraph_exit func=0xa depth=1 calltime=1000 rettime=2000\n"
			     "1 2050 8 funcgraph_exit func=0xd depth=0 calltime=1950 rettime=2050\n"
			     "0 2100 7 funcgraph_exit func=0xf depth=0 calltime=100 rettime=2100\n"
			     "0 2200 7 funcgraph_entry func=0xe depth=0\n";

struct asked {
	const char *filter; /* NULL: none */
	bool negated;
	uint8_t flags_out;
	const char *want;
};

/* The times of the events that are kept, each followed by a blank. */
static void kept(struct context *context, const struct asked *asked, char *into, size_t size)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct selection *selection = NULL;
	struct events *events = NULL;
	struct event event;
	size_t len = 0;

	*into = '\0';
	REQUIRE(!selection_new(context, &selection, NULL));
	if (asked->filter)
		CHECK(!selection_add_filter(selection, asked->filter, asked->negated, NULL));
	selection_leave_out_flags(selection, asked->flags_out);
	CHECK(!selection_read_first(selection, &options, NULL));
	CHECK(selection_follows_calls(selection) && !selection_lacks_durations(selection));
	REQUIRE(!events_open(context, &options, &events, NULL));
	while (len < size && events_next(events, &event, NULL) > 0)
		if (selection_keep(selection, &event))
			len += (size_t)snprintf(into + len, size - len, "%llu ", (unsigned long long)event.ts);
	events_free(events);
	selection_free(selection);
}

/* Asks the rows about the events of a script. */
static void check_kept(const char *kallsyms, const char *events, const struct asked *table, size_t nr)
{
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;
	char got[256];

	loom_init(&loom);
	loom_graph(&loom);
	loom.kallsyms = kallsyms;
	loom_play(&loom, events);
	trace = loom_trace(&loom);
	if (CHECK(trace && !context_new(trace, 0, &context, NULL)))
		for (size_t i = 0; i < nr; i++) {
			kept(context, &table[i], got, sizeof(got));
			CHECK_STR(got, table[i].want);
		}
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
}

TEST(picks_keep_a_call_with_its_callers_and_leave_out_interrupts)
{
	static const struct asked table[] = {
		{ "duration > 300ns", false, 0, "1000 1100 1200 1600 1700 2000 2100 " },
		{ "duration > 500ns", false, 0, "1000 1100 1700 2000 2100 " },
		{ "duration > 1500ns", false, 0, "2100 " },
		{ "duration > 5us", false, 0, "" },
		{ "duration < 50ns", false, 0, "1000 1800 1810 1820 1830 1840 1860 1870 1900 2000 2100 " },
		{ "duration < 50ns", true, 0,
		  "1000 1100 1200 1600 1700 1800 1810 1870 1900 1950 2000 2050 2100 2200 " },
		{ "duration < 500ns && func == 12", false, 0, "1000 1100 1200 1600 1700 2000 2100 " },
		{ NULL, false, EVENT_HARDIRQ, "1000 1100 1200 1600 1700 1800 1900 1950 2000 2050 2100 2200 " },
		{ "duration < 50ns", false, EVENT_HARDIRQ, "" },
		/* The interrupt's first function lasts 60 ns, and has no flag: it is out by its address alone. */
		{ "duration < 70ns", false, EVENT_HARDIRQ, "" },
	};

	check_kept("0000000000005000 T __irqentry_text_start\n0000000000006000 T __irqentry_text_end\n", script, table,
		   sizeof(table) / sizeof(table[0]));
}

/* The entries of 0xc, 0xb and 0xa were lost: how deep they were says who called whom. */
TEST(picks_keep_the_callers_of_a_call_whose_entries_were_lost)
{
	static const char lost[] = "0 1000 7 funcgraph_exit func=0xd depth=2 calltime=10 rettime=1000\n"
				   "0 1600 7 funcgraph_exit func=0xc depth=3 calltime=1200 rettime=1600\n"
				   "0 1610 7 funcgraph_exit func=0xb depth=3 calltime=1100 rettime=1610\n"
				   "1 1620 8 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1620\n"
				   "0 1650 7 funcgraph_exit func=0xb depth=2 calltime=1100 rettime=1650\n"
				   "0 1660 7 funcgraph_exit func=0xd depth=2 calltime=1000 rettime=1660\n"
				   "0 1670 7 funcgraph_exit func=0xa depth=1 calltime=1000 rettime=1670\n"
				   "0 lost 3\n"
				   "0 1800 7 funcgraph_exit func=0xa depth=0 calltime=100 rettime=1800\n"
				   "0 1900 0 funcgraph_exit func=0xc depth=1 calltime=1200 rettime=1900\n"
				   "1 1910 0 funcgraph_exit func=0xa depth=0 calltime=100 rettime=1910\n"
				   "0 1920 0 funcgraph_exit func=0xa depth=0 calltime=100 rettime=1920\n";
	static const struct asked table[] = {
		{ "duration > 300ns && func == 12", false, 0, "1600 1650 1670 1900 1920 " },
		{ "duration > 400ns && func == 12", false, 0, "1900 1920 " },
		{ "duration > 900ns && func == 10", false, 0, "1800 1910 1920 " },
	};

	check_kept(NULL, lost, table, sizeof(table) / sizeof(table[0]));
}

/* 8 is the flag of a hard interrupt, 16 that of a softirq. */
TEST(picks_tell_a_softirq_at_the_end_of_a_hard_interrupt_from_it)
{
	static const char irqs[] =
		"0 1000 7 funcgraph_entry func=0x5000 depth=0\n"
		"0 1010 7 funcgraph_entry func=0x1 depth=1\n"
		"0 1020 7 funcgraph_exit func=0x1 depth=1 calltime=1010 rettime=1020\n"
		"0 1030 7 funcgraph_entry func=0x7000 depth=1\n"
		"0 1040 7 funcgraph_entry func=0x2 depth=2 common_flags=16\n"
		"0 1045 7 funcgraph_entry func=0x2 depth=3 common_flags=24\n"
		"0 1046 7 funcgraph_exit func=0x2 depth=3 calltime=1045 rettime=1046 common_flags=24\n"
		"0 1050 7 funcgraph_exit func=0x2 depth=2 calltime=1040 rettime=1050 common_flags=16\n"
		"0 1060 7 funcgraph_exit func=0x7000 depth=1 calltime=1030 rettime=1060\n"
		"0 1070 7 funcgraph_exit func=0x5000 depth=0 calltime=1000 rettime=1070\n"
		"0 1080 7 funcgraph_entry func=0x3 depth=0\n"
		"0 1090 7 funcgraph_exit func=0x3 depth=0 calltime=1080 rettime=1090\n";
	static const struct asked table[] = {
		{ NULL, false, EVENT_HARDIRQ, "1030 1040 1050 1060 1080 1090 " },
		{ NULL, false, EVENT_SOFTIRQ, "1000 1010 1020 1070 1080 1090 " },
		{ NULL, false, EVENT_HARDIRQ | EVENT_SOFTIRQ, "1080 1090 " },
	};

	check_kept("0000000000005000 T __irqentry_text_start\n0000000000006000 T __irqentry_text_end\n"
		   "0000000000007000 T __softirqentry_text_start\n0000000000008000 T __softirqentry_text_end\n",
		   irqs, table, sizeof(table) / sizeof(table[0]));
}
