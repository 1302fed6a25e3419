// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any text as latency-format of the kernel, beside the events of a small recording, and as the text of the
 * longest section.
 */
#include <string.h>

#include "lib/answers/latency/latency_section_internal.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/latency_facts.h"
#include "lib/pages/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void split(const char *text, size_t len)
{
	struct section section;
	uint64_t sum = 0, gaps = 0;

	if (!section_read(&section, text, len, len % 5, NULL)) {
		for (size_t i = 0; i < SECTION_CONTEXTS; i++)
			sum += section.parts[i];
		for (size_t i = 0; i < section.nr_gaps; i++)
			gaps += section.gaps[i].us;
		if (sum != section.us || gaps > sum || section.nr_gaps > len % 5)
			__builtin_trap();
	}
	section_release(&section);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct context *context;
	static struct trace *trace;
	struct latency_facts facts;

	if (!context && (trace_open("tests/corpora/report/accept/hwlat-6.12.dat", &trace, NULL) ||
			 context_new(trace, 0, &context, NULL)))
		__builtin_trap();
	split((const char *)data, len);
	/* With a clock that counts, the kernel prints no unit. */
	context->unit = len && data[len - 1] & 1 ? CLOCK_UNIT_COUNT : CLOCK_UNIT_NS;
	if (latency_facts_read(context, (const char *)data, len, &facts, NULL))
		return 0;
	if (facts.samples > facts.lines || strlen(facts.head.preempt_model) >= PREEMPT_MODEL_MAX)
		__builtin_trap();
	return 0;
}
