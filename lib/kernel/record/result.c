// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/result.h"

#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/event_count_internal.h"
#include "lib/kernel/record/target.h"

static uint64_t since(uint64_t stop, uint64_t start)
{
	return stop > start ? stop - start : 0;
}

int record_result_put(struct record_result *result, const struct record_cpu *cpu, struct fail *fail)
{
	struct record_cpu *added = vec_push(result->cpus, result->nr_cpus);

	if (!added)
		return fail_memory(fail);
	*added = *cpu;
	result->events += cpu->events;
	result->lost += cpu->lost;
	if (cpu->cleared > result->cleared)
		result->cleared = cpu->cleared;
	return 0;
}

/* Takes the counts from the pages if the kernel's counters do not count the saved events. */
static int count_pages(struct record_cpu *sum, const struct recorder *recorder, struct fail *fail)
{
	uint64_t taken = sum->events;
	struct event_count kept;
	int err = event_count_count(&recorder->spool, &kept, fail);

	if (err)
		return err;
	sum->events = kept.events;
	if (!sum->cleared)
		sum->dropped_events = since(taken, kept.events);
	if (kept.lost > sum->overrun) {
		sum->lost += kept.lost - sum->overrun;
		sum->overrun = kept.lost;
	}
	return 0;
}

int record_result_add(struct record_result *result, const struct target *target, struct fail *fail)
{
	result->events += target->worst_entries;
	for (size_t i = 0; i < target->nr_recorders; i++) {
		const struct recorder *recorder = target->recorders[i];
		const struct spool *spool = &recorder->spool;
		const struct ring_watch *watch = &recorder->watch;
		const struct ring_buffer_stats *stop = &target->stop[recorder->cpu];
		struct record_cpu sum = {
			.buffer = target->index,
			.cpu = recorder->cpu,
			.dropped_bytes = spool->dropped,
			.cleared = watch->cleared,
			.events = since(stop->entries + stop->read, watch->base.read),
			.overrun = ring_watch_overrun(watch, stop),
			.lost = ring_watch_lost(watch, stop),
		};
		int err = spool->dropped || sum.cleared ? count_pages(&sum, recorder, fail) : 0;

		if (err)
			return err;
		result->at_most |= recorder->err != 0;
		result->raw += spool->raw;
		result->packed += spool_size(spool);
		/* The counters count the live buffer, which is not saved. */
		if (target->keeps_worst)
			continue;
		err = record_result_put(result, &sum, fail);
		if (err)
			return err;
	}
	return 0;
}

void record_result_release(struct record_result *result)
{
	free(result->parts);
	free(result->cpus);
	free(result->missed_probes);
	*result = (struct record_result){ .has_status = false };
}
