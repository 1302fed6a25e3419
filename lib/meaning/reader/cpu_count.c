// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/cpu_count.h"

#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

static void see(void *arg, const struct event *event)
{
	struct cpu_count *cpus = arg, *cpu = &cpus[event->cpu_index];

	if (event->kind == EVENT_LOST) {
		if (event->lost > 0)
			cpu->lost += (uint64_t)event->lost;
		else
			cpu->lost_some = true;
		return;
	}
	if (!cpu->seen)
		cpu->first = event->ts;
	cpu->seen = true;
	cpu->last = event->ts;
	cpu->events++;
}

int cpu_count_all(struct reader *reader, struct cpu_count **ret, struct fail *fail)
{
	const struct context *context = reader->buffers[0].context;
	struct cpu_count *cpus = calloc(trace_buffer(context->trace, context->buffer)->nr_cpus + 1, sizeof(*cpus));
	int r;

	if (!cpus)
		return fail_memory(fail);
	*ret = cpus;
	r = reader_start(reader, &(struct reader_options){ .pool = NULL }, fail);
	return r ? r : reader_run(reader, &(struct reader_consumer){ .see = see, .arg = cpus }, 1, fail);
}
