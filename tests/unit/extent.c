// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/reader/extent.h"

#include <stdint.h>
#include <stdio.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

static bool find(struct loom *loom, struct extent *extent)
{
	struct trace *trace = loom_trace(loom);
	struct context *context = NULL;
	struct fail fail = FAIL_INIT;

	*extent = (struct extent){ .known = false };
	CHECK(trace && !context_new(trace, 0, &context, &fail) && !extent_find(context, extent, &fail));
	CHECK_STR(fail.text, "");
	context_free(context);
	trace_free(trace);
	return extent->known;
}

TEST(extent_is_from_the_first_event_of_any_cpu_to_the_last_of_any)
{
	struct extent extent;
	struct loom loom;
	char line[128];

	loom_init(&loom);
	/* The first event is on CPU 1, the last on CPU 0, and there are pages between them. */
	loom_play(&loom, "1 500 7 irq_handler_entry irq=1 name=a\n");
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(line, sizeof(line), "%u %u 7 irq_handler_entry irq=%u name=abc", i % 3, 1000 + i * 10, i);
		loom_play(&loom, line);
	}
	loom_play(&loom, "0 9000000 7 irq_handler_exit irq=1\n");
	CHECK(find(&loom, &extent) && extent.found);
	CHECK(extent.first == 500 && extent.last == 9000000);
	loom_release(&loom);
}

TEST(extent_of_a_trace_without_events_is_not_found)
{
	struct extent extent;
	struct loom loom;

	loom_init(&loom);
	CHECK(find(&loom, &extent) && !extent.found);
	loom_release(&loom);
}
