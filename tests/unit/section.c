// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/answers/latency/latency_section_internal.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

#define HEAD(latency, entries, cpu, task)                                                                 \
	"# tracer: irqsoff\n#\n# irqsoff latency trace v1.1.5 on 6.12.0\n"                                \
	"# latency: " latency " us, #" entries ", CPU#" cpu " | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n" \
	"#    | task: " task " (uid:0 nice:0 policy:0 rt_prio:0)\n"

static bool is(struct text_word word, const char *text)
{
	if (text_word_is(word, text))
		return true;
	printf("'%.*s', not '%s'\n", (int)word.len, word.at, text);
	return false;
}

/* 100 us with interrupts off: 30 in the task, 50 in an interrupt, 15 in a softirq, 5 in the task again. */
TEST(a_section_is_split_by_what_its_entries_say)
{
	static const char text[] =
		HEAD("100", "6/6", "1",
		     "a-b-72") "#  => started at: one\n#  => ended at:   five\n#\n"
			       "     a-b-72        1d....    1us : one <-zero\n"
			       "     a-b-72        1d..1.   30us+: two <-one\n"
			       "     a-b-72        1d.h1.   32us#: three <-irq_entry\n"
			       "     a-b-72        1d.s..   80us : four: vec=1 [action=TIMER]\n"
			       "     a-b-72        1d....   95us : five\n"
			       "     a-b-72        1d....  104us : tracer_hardirqs_on <-five\n"
			       "     a-b-72        1d....  200us : <stack trace>\n => five\n => six\n => seven\n";
	struct section section;

	CHECK(!section_read(&section, text, strlen(text), 2, NULL));
	CHECK(section.us == 100);
	CHECK(section.parts[SECTION_TASK] == 32 + 5);
	CHECK(section.parts[SECTION_IRQ] == 48);
	CHECK(section.parts[SECTION_SOFTIRQ] == 15);
	CHECK(section.parts[SECTION_UNKNOWN] == 0);
	CHECK_STR(section.comm, "a-b");
	CHECK(section.pid == 72);
	CHECK_STR(section.head.started, "one");
	CHECK_STR(section.head.ended, "five");
	CHECK_STR(section.stack, "five <- six <- seven");
	CHECK(section.nr_gaps == 2);
	CHECK(section.gaps[0].us == 48);
	CHECK(is(section.gaps[0].entry.what, "three"));
	CHECK(is(section.gaps[0].entry.caller, "irq_entry"));
	CHECK(is(section.gaps[0].next, "four"));
	CHECK(section.gaps[1].us == 30);
	CHECK(section.gaps[1].from == 0);
	CHECK(is(section.most.what, "three"));
	section_release(&section);
}

/*
 * CPU 0 wakes a task that runs on CPU 1, where the first entry comes 40 us later. Entries of the other CPU tell nothing
 * about it.
 */
TEST(a_wakeup_is_unknown_until_the_first_entry_of_its_cpu)
{
	static const char text[] =
		HEAD("90", "4/4", "1",
		     "rt-23") "  <idle>-0         0d.s7.    6us!:        0:120:R   + [001]      23:  0:R rt\n"
			      "     hlp-232       1dNs2.   40us!: try_to_wake_up <-swake_up_one\n"
			      "  <idle>-0         0d.s7.   50us!: other <-one\n"
			      "  <idle>-0         1d..3.   60us : __schedule\n";
	struct section section;

	CHECK(!section_read(&section, text, strlen(text), 10, NULL));
	CHECK(section.parts[SECTION_UNKNOWN] == 40);
	CHECK(section.parts[SECTION_SOFTIRQ] == 20);
	CHECK(section.parts[SECTION_IDLE] == 30);
	CHECK(section.nr_gaps == 2);
	CHECK(is(section.first.comm, "<idle>"));
	section_release(&section);
}

/* The time that was overwritten is unknown and does not belong to the first entry. */
TEST(a_section_with_lost_entries_is_unknown_until_the_first)
{
	static const char text[] = HEAD("90", "1/70", "0", "a-1") "       a-1         0d..3.   60us : late\n";
	struct section section;

	CHECK(!section_read(&section, text, strlen(text), 10, NULL));
	CHECK(section.parts[SECTION_UNKNOWN] == 60);
	CHECK(section.parts[SECTION_TASK] == 30);
	section_release(&section);
}

/* When a function of a graph ends, its caller continues. */
TEST(a_section_in_a_graph_is_its_functions)
{
	static const char text[] =
		HEAD("50", "5/5", "0",
		     "sh-164") "        0 us |   0)     sh-164     |  d.... |   0.000 us    |  irqentry_enter();\n"
			       "        5 us |   0)     sh-164     |  d..1. |               |  irq_enter_rcu() {\n"
			       "        7 us |   0)     sh-164     |  d.h1. |   1.122 us    |    preempt_count_add();\n"
			       "        8 us |   0)     sh-164     |  d.h1. |               |    inner() {\n"
			       "       20 us |   0)     sh-164     |  d.h1. |   12.122 us   |    }\n"
			       "       40 us |   0)     sh-164     |  d.h.. |   4.387 us    |  }\n"
			       "      sh-164       0d.s.. 4922us : <stack trace>\n => irq_exit_rcu\n";
	struct section section;

	CHECK(!section_read(&section, text, strlen(text), 10, NULL));
	CHECK(section.parts[SECTION_TASK] == 7);
	CHECK(section.parts[SECTION_IRQ] == 43);
	CHECK(is(section.most.what, "irq_enter_rcu"));
	CHECK(section.most.us == 2 + 20);
	CHECK_STR(section.stack, "irq_exit_rcu");
	section_release(&section);
}

TEST(a_text_of_no_section_is_told_apart)
{
	static const char *const texts[] = { "", "# tracer: nop\n", "# latency: much us, #1/1, CPU#0 | (M:x\n" };
	struct section section;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK(section_read(&section, texts[i], strlen(texts[i]), 10, NULL) < 0);
		section_release(&section);
	}
}
