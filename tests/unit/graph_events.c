// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/graph_events.h"

#include "lib/meaning/event/softirqs.h"
#include "lib/meaning/schema/format.h"
#include "tests/unit/test.h"

static enum graph_event event_of(const char *system, const char *name)
{
	struct format format = { .system = system, .name = name };

	return graph_event_of(&format);
}

TEST(graph_events_are_entries_and_exits_of_the_kernels_own_system)
{
	CHECK(event_of("ftrace", "funcgraph_entry") == GRAPH_EVENT_ENTRY);
	CHECK(event_of("ftrace", "fgraph_retaddr_entry") == GRAPH_EVENT_ENTRY);
	CHECK(event_of("ftrace", "funcgraph_exit") == GRAPH_EVENT_EXIT);
	CHECK(event_of("ftrace", "function") == GRAPH_EVENT_NONE);
	CHECK(event_of("user_events", "funcgraph_exit") == GRAPH_EVENT_NONE);
	CHECK(graph_event_of(NULL) == GRAPH_EVENT_NONE);
}

TEST(softirqs_have_the_names_of_the_kernels_text)
{
	CHECK_STR(softirq_name(0), "HI");
	CHECK_STR(softirq_name(7), "SCHED");
	CHECK_STR(softirq_name(SOFTIRQS - 1), "RCU");
	CHECK(!softirq_name(SOFTIRQS));
}
