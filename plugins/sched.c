// SPDX-License-Identifier: GPL-2.0-only
/*
 * A priority of the scheduler's events is the kernel's own number: -1 for a deadline task, 0 to 98 for real-time 99 to
 * 1, 100 to 139 for nice -20 to 19. include/linux/sched/prio.h.
 */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { FIRST, SECOND };

static const char *const switch_fields[] = { "prev_prio", "next_prio", NULL };
static const char *const prio_fields[] = { "prio", NULL };
static const char *const boost_fields[] = { "oldprio", "newprio", NULL };
static const char *const switch_facts[] = { "prev", "next", NULL };
static const char *const boost_facts[] = { "old", "new", NULL };
static const char *const prio_facts[] = { "priority", NULL };

static void put_priority(const struct weft_host *host, const char *fact, uint64_t value, struct weft_output *output)
{
	int64_t prio = (int64_t)value;
	char text[32];

	if (prio == -1)
		snprintf(text, sizeof(text), "deadline");
	else if (prio >= 0 && prio < 99)
		snprintf(text, sizeof(text), "rt:%d", 99 - (int)prio);
	else if (prio >= 100 && prio < 140 && prio != 120)
		snprintf(text, sizeof(text), "nice:%d", (int)prio - 120);
	else
		return;
	host->put_text(output, fact, text, strlen(text));
}

static void format_switch(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_priority(host, "prev", host->integer(record, FIRST, 0), output);
	put_priority(host, "next", host->integer(record, SECOND, 0), output);
}

static void format_prio(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_priority(host, "priority", host->integer(record, FIRST, 0), output);
}

static void format_boost(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_priority(host, "old", host->integer(record, FIRST, 0), output);
	put_priority(host, "new", host->integer(record, SECOND, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "sched_switch", switch_fields, format_switch, switch_facts },
	{ "sched_pi_setprio", boost_fields, format_boost, boost_facts },
	{ "sched_*", prio_fields, format_prio, prio_facts },
};

WEFT_PLUGIN("sched", handlers);
