// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "tests/unit/exported.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static unsigned times_in(const char *text, const char *what)
{
	unsigned times = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		times++;
	return times;
}

static char *with_name(const char *comm)
{
	struct loom loom;
	char *text;

	loom_init(&loom);
	loom_type(&loom, "test", "said", "__data_loc char[] what", "\"%s\", __get_str(what)");
	loom_task(&loom, 8, comm);
	loom_play(&loom, "0 1000 7 sched_switch prev_pid=7 next_pid=8\n"
			 "0 1500 8 said what=</script><script>alert(1)</script>\n"
			 "0 2000 8 sched_switch prev_pid=8 next_pid=7\n");
	text = exported(&loom, "html", NULL, NULL);
	loom_release(&loom);
	return text;
}

TEST(html_lets_no_name_end_its_script)
{
	char *plain = with_name("sh"), *hostile = with_name("</script><!--<script>\"'&\x01\x7f\xff\xe2\x80\xa8");

	if (CHECK(plain && hostile)) {
		CHECK(times_in(plain, "</script>") == 4);
		CHECK(times_in(hostile, "</script>") == 4);
		CHECK(times_in(hostile, "<script") == 4);
		CHECK(!strstr(hostile, "<!--") && !strchr(hostile, '\x01'));
		CHECK(strstr(hostile, "\\u003c/script>\\u003c!--\\u003cscript>\\\"'&\\u0001"));
	}
	free(plain);
	free(hostile);
}

static void check_long(size_t len, bool shown)
{
	char *comm = malloc(len + 1), *text;
	char cut[258];

	if (!CHECK(comm != NULL))
		return;
	memset(comm, 'x', len);
	comm[len] = '\0';
	memset(cut, 'x', sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = '\0';
	text = with_name(comm);
	if (CHECK(text != NULL)) {
		CHECK(strlen(text) < (64 << 10));
		CHECK(!strstr(text, cut) && !strstr(text, cut + 1) == !shown);
	}
	free(text);
	free(comm);
}

TEST(html_cuts_long_names)
{
	check_long(4000, true);
	/* No table of names has this one. */
	check_long(64 << 10, false);
}

TEST(html_names_interrupts_counters_and_losses)
{
	static const char *const labels[] = { "irq 9 acpi", "softirq NET_RX", "softirq 12", "cpu_frequency",
					      "lost events" };
	struct loom loom;
	char *text;

	loom_init(&loom);
	loom_type(&loom, "irq", "softirq_entry", "u32 vec", "\"vec=%u\", REC->vec");
	loom_type(&loom, "irq", "softirq_exit", "u32 vec", "\"vec=%u\", REC->vec");
	loom_type(&loom, "power", "cpu_frequency", "u32 state; u32 cpu_id",
		  "\"state=%u cpu_id=%u\", REC->state, REC->cpu_id");
	loom_play(&loom, "0 1000 7 irq_handler_entry irq=9 name=acpi\n"
			 "0 2000 7 irq_handler_exit irq=9 ret=1\n"
			 "0 3000 7 softirq_entry vec=3\n"
			 "0 4000 7 softirq_exit vec=3\n"
			 "0 5000 7 softirq_entry vec=12\n"
			 "0 6000 7 softirq_exit vec=12\n"
			 "0 7000 7 cpu_frequency state=1800000 cpu_id=0\n"
			 "0 lost 12\n"
			 "0 9000 7 cpu_frequency state=800000 cpu_id=0\n");
	text = exported(&loom, "html", NULL, NULL);
	for (size_t i = 0; text && i < array_size(labels); i++)
		if (!CHECK(strstr(text, labels[i])))
			fprintf(stderr, "no '%s'\n", labels[i]);
	CHECK(text != NULL);
	free(text);
	loom_release(&loom);
}
