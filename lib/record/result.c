// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/result.h"

#include <stdlib.h>

#include "lib/record/kept.h"
#include "lib/record/target.h"

static uint64_t since(uint64_t stop, uint64_t start)
{
	return stop > start ? stop - start : 0;
}

static bool add_cpu(struct record_result *result, const struct record_cpu *cpu)
{
	struct record_cpu *grown = reallocarray(result->cpus, result->nr_cpus + 1, sizeof(*grown));

	if (!grown)
		return false;
	result->cpus = grown;
	grown[result->nr_cpus++] = *cpu;
	result->events += cpu->events;
	result->lost += cpu->lost;
	return true;
}

int record_result_add(struct record_result *result, const struct target *target, struct fail *fail)
{
	for (size_t i = 0; i < target->nr_recorders; i++) {
		const struct recorder *recorder = target->recorders[i];
		const struct spool *spool = &recorder->spool;
		const struct ring_buffer_stats *start = &target->start[recorder->cpu];
		const struct ring_buffer_stats *stop = &target->stop[recorder->cpu];
		struct record_cpu sum = {
			.buffer = target->index, .cpu = recorder->cpu, .dropped_bytes = spool->dropped,
			.events = since(stop->entries + stop->read, start->read),
			.lost = since(stop->overrun, start->overrun) +
				since(stop->commit_overrun, start->commit_overrun) +
				since(stop->dropped, start->dropped),
		};

		if (spool->dropped) {
			uint64_t taken = sum.events;
			int err = kept_count(spool, &sum.events, fail);

			if (err)
				return err;
			sum.dropped_events = since(taken, sum.events);
		}
		result->at_most |= recorder->err != 0;
		result->raw += spool->raw;
		result->packed += spool_size(spool);
		if (!add_cpu(result, &sum))
			return fail_memory(fail);
	}
	return 0;
}

void record_result_release(struct record_result *result)
{
	free(result->parts);
	free(result->cpus);
	*result = (struct record_result){ .has_status = false };
}
