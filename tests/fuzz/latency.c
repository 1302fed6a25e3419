// SPDX-License-Identifier: GPL-2.0-only
/* Any text as that of latency-format, beside the events of a small recording. */
#include "lib/event/context.h"
#include "lib/event/latency_facts.h"
#include "lib/trace/trace.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct context *context;
	static struct trace *trace;
	struct latency_facts facts;

	if (!context && (trace_open("tests/corpora/report/accept/hwlat-6.12.dat", &trace, NULL) ||
			 context_new(trace, 0, &context, NULL)))
		__builtin_trap();
	/* A clock that counts leaves the unit away. */
	context->unit = len && data[len - 1] & 1 ? CLOCK_UNIT_COUNT : CLOCK_UNIT_NS;
	if (latency_facts_read(context, (const char *)data, len, &facts, NULL))
		return 0;
	if (facts.samples > facts.lines || strlen(facts.head.preempt_model) >= PREEMPT_MODEL_MAX)
		__builtin_trap();
	return 0;
}
