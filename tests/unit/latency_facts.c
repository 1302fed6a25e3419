// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/latency_facts.h"

#include <stdio.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

enum { EVENTS = 60 };

struct made {
	struct loom loom;
	struct trace *trace;
	struct context *context;
	uint64_t times[EVENTS];
	char text[EVENTS * 120];
	size_t len;
};

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % sides;
}

/* ns2usecs() of kernel/trace/trace.c rounds to the nearest one; a counter is printed as it is. */
static uint64_t shown(uint64_t ts, uint64_t start, bool counts)
{
	return counts ? ts - start : (ts - start + 500) / 1000;
}

static size_t print_short(struct made *made, unsigned pid, unsigned cpu, uint64_t time, bool counts)
{
	return (size_t)snprintf(made->text + made->len, sizeof(made->text) - made->len,
				counts ? "%8.8s-%-7u %udn.%d. %4llu: irq_handler_exit: irq=1\n" :
					 "%8.8s-%-7u %udn.%d. %4lluus%c: irq_handler_exit: irq=1\n",
				"weaver", pid, cpu, 1, (unsigned long long)time, '+');
}

static size_t print_verbose(struct made *made, unsigned pid, unsigned cpu, uint64_t time, bool counts)
{
	char *at = made->text + made->len;
	size_t size = sizeof(made->text) - made->len;
	unsigned long long ms = time / 1000, us = time % 1000;

	return (size_t)(counts ?
				snprintf(at, size, "%16s %7u %3u %d %08x %08x [%016llx] %llu (+%d): irq=1\n", "we aver",
					 pid, cpu, 1, 0, 7, (unsigned long long)time, (unsigned long long)time, 3) :
				snprintf(at, size,
					 "%16s %7u %3u %d %08x %08x [%08llx] %llu.%03llums (+0.000ms): irq=1\n",
					 "we aver", pid, cpu, 1, 0, 7, (unsigned long long)time, ms, us));
}

/* Events since `start`, and the kernel's lines of them: lat_print_generic(), lat_print_timestamp(). */
static bool make(struct made *made, uint64_t start, uint32_t seed, bool counts, bool verbose)
{
	char script[EVENTS * 80];
	uint64_t ts = start;
	size_t len = 0;

	*made = (struct made){ .len = 0 };
	loom_init(&made->loom);
	made->loom.clock = counts ? "counter" : "local";
	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned cpu = dice(&seed, 3), pid = 5 + dice(&seed, 3);

		ts += dice(&seed, 2500);
		made->times[i] = ts;
		len += (size_t)snprintf(script + len, sizeof(script) - len, "%u %llu %u irq_handler_exit irq=1\n", cpu,
					(unsigned long long)ts, pid);
		made->len += verbose ? print_verbose(made, pid, cpu, shown(ts, start, counts), counts) :
				       print_short(made, pid, cpu, shown(ts, start, counts), counts);
	}
	loom_play(&made->loom, script);
	made->trace = loom_trace(&made->loom);
	return CHECK(made->trace && !context_new(made->trace, 0, &made->context, NULL));
}

static void end(struct made *made)
{
	context_free(made->context);
	trace_free(made->trace);
	loom_release(&made->loom);
}

/* Whatever time is found, the text follows from it. */
TEST(latency_facts_find_a_start_from_which_the_kernel_s_times_follow)
{
	for (uint32_t seed = 1; seed < 40; seed++) {
		bool counts = seed % 4 == 0;
		uint64_t start = seed % 3 ? 1000000007 * (uint64_t)seed : 0;
		struct latency_facts facts;
		struct made made;

		if (make(&made, start, seed, counts, seed % 5 == 0)) {
			CHECK(!latency_facts_read(made.context, made.text, made.len, &facts, NULL));
			CHECK(facts.lines == EVENTS && facts.samples == EVENTS && facts.time_start_known);
			for (unsigned i = 0; i < EVENTS; i++)
				if (!CHECK(shown(made.times[i], facts.time_start, counts) ==
					   shown(made.times[i], start, counts)))
					break;
			CHECK(!counts || facts.time_start == start);
		}
		end(&made);
	}
}

TEST(latency_facts_take_no_start_from_a_text_of_other_events)
{
	static const char *const texts[] = {
		"",
		"# tracer: nop\n",
		"  weaver-5       9dn.1.    3us+: irq_handler_exit: irq=1\n",
		"  weaver-9999    0dn.1.    3us+: irq_handler_exit: irq=1\n",
		"  weaver-5       0dn.1. 999999999999us+: irq_handler_exit: irq=1\n",
		"  weaver-5       0dn.1.    3us : \n  weaver-77      0dn.1.    3us : \n"
		"  weaver-78      0dn.1.    3us : \n"
		"  weaver-79      0dn.1.    3us : \n",
		" => stack_of_a_kernel\n",
		"          weaver       9   0 1 00000000 00000007 [0363a2c5] 0.003ms (+0.903ms): irq=1\n",
		"          weaver       5   0 1 00000000 00000007 [0363a2c5] 0.03ms (+0.903ms): irq=1\n",
	};
	static const unsigned lines[] = { 0, 0, 1, 1, 1, 4, 0, 1, 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct latency_facts facts;
		struct made made;

		if (make(&made, 1000, 3, false, false)) {
			CHECK(!latency_facts_read(made.context, texts[i], strlen(texts[i]), &facts, NULL));
			CHECK(!facts.time_start_known && facts.lines == lines[i] && facts.samples < 2);
		}
		end(&made);
	}
}

/* A name with a newline splits its line: "we\nver" has the width of the column. */
TEST(latency_facts_find_the_columns_behind_a_name_with_a_newline)
{
	struct latency_facts facts;
	struct made made;

	if (make(&made, 5000, 9, false, false)) {
		for (char *name = made.text; (name = strstr(name, "weaver")); name += 6)
			name[2] = '\n';
		CHECK(!latency_facts_read(made.context, made.text, made.len, &facts, NULL));
		CHECK(facts.lines == EVENTS && facts.samples == EVENTS && facts.time_start_known);
	}
	end(&made);
}

/* The first two events were overwritten before the kernel printed its text; all are of one task on one CPU. */
TEST(latency_facts_are_learnt_from_what_the_kernel_still_had)
{
	static const struct {
		const char *stats, *sample;
		bool known;
		uint64_t start;
	} rows[] = {
		/* 500,900 ns are the line's 1 us. The time of the page is cut to us. */
		{ "entries: 2\noldest event ts:     0.000500\n",
		  "# latency: 259 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"
		  "  weaver-7       0dn.1.    1us : irq=1\n  weaver-7       0dn.1.  101us : irq=1\n",
		  true, 500000 },
		/* Nothing says what is left: the first events of the file are taken. */
		{ "entries: 2\noldest event ts: soon\n",
		  "# latency: 259 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"
		  "  weaver-7       0dn.1.    1us : irq=1\n  weaver-7       0dn.1.  101us : irq=1\n",
		  true, 100000 },
		/* The kernel's page came after the one that the reader had begun. */
		{ "entries: 2\noldest event ts:     0.000900\n",
		  "# latency: 259 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"
		  "  weaver-7       0dn.1.    1us : irq=1\n  weaver-7       0dn.1.  101us : irq=1\n",
		  true, 100000 },
		/* A CPU without entries says nothing. */
		{ "entries: 0\noldest event ts:     0.000500\n",
		  "# latency: 259 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"
		  "  weaver-7       0dn.1.    1us : irq=1\n  weaver-7       0dn.1.  101us : irq=1\n",
		  true, 100000 },
		/* No line has a time. */
		{ "entries: 2\noldest event ts:     0.000500\n",
		  "# latency: 259 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n", false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct context *context = NULL;
		struct trace *trace;
		struct loom loom;

		loom_init(&loom);
		loom_setting(&loom, "weft/latency_sample", rows[i].sample);
		loom_setting(&loom, "per_cpu/cpu0/stats", rows[i].stats);
		loom_play(&loom, "0 100900 7 irq_handler_exit irq=1\n0 200900 7 irq_handler_exit irq=1\n"
				 "0 500900 7 irq_handler_exit irq=1\n0 600900 7 irq_handler_exit irq=1\n");
		trace = loom_trace(&loom);
		if (CHECK(trace && !context_new(trace, 0, &context, NULL) && !latency_facts_learn(context, NULL))) {
			CHECK(context->time_start_known == rows[i].known);
			/* It may be half a microsecond off. */
			if (rows[i].known)
				CHECK(context->time_start + 500 > rows[i].start - 100 &&
				      context->time_start < rows[i].start + 500);
			CHECK(context->buffer_cpu == 1);
			CHECK_STR(context->preempt_model, "preempt");
		}
		context_free(context);
		trace_free(trace);
		loom_release(&loom);
	}
}
