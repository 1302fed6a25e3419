// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/context.h"

#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <stdio.h>

static bool counts(const char *clock)
{
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;
	bool ret;

	loom_init(&loom);
	loom.clock = clock;
	trace = loom_trace(&loom);
	ret = CHECK(trace && !context_new(trace, 0, &context, NULL)) && context->unit == CLOCK_UNIT_COUNT;
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
	return ret;
}

/* trace_clocks[] of kernel/trace/trace.c and ARCH_TRACE_CLOCKS of each architecture: their in_ns. */
TEST(context_knows_the_clocks_that_count_no_nanoseconds)
{
	static const char *const ticks[] = { "counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod" };
	static const char *const times[] = { "local", "global", "perf", "mono", "mono_raw", "boot", "tai" };

	for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
		CHECK(counts(ticks[i]));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		CHECK(!counts(times[i]));
}

/* Loom's pages are those of a 64-bit kernel. Under setarch (PER_LINUX32) uname -m names a 32-bit machine. */
TEST(context_takes_the_machine_of_uname_for_that_of_the_kernel)
{
	static const char *const names[][2] = {
		{ "x86_64", "x86_64" },  { "aarch64", "aarch64" }, { "i686", "x86_64" },
		{ "armv8l", "aarch64" }, { "s390", "s390x" },      { "loongarch64", "loongarch64" },
		{ "armv7l", "armv7l" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct context *context = NULL;
		struct trace *trace;
		struct loom loom;
		char uname[64];

		loom_init(&loom);
		snprintf(uname, sizeof(uname), "Linux loom 6.12.0 #1 SMP %s", names[i][0]);
		loom.uname = uname;
		trace = loom_trace(&loom);
		if (CHECK(trace && !context_new(trace, 0, &context, NULL)))
			CHECK_STR(context->machine, names[i][1]);
		context_free(context);
		trace_free(trace);
		loom_release(&loom);
	}
}
