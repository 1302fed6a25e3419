// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/progress.h"

#include <sys/stat.h>

#include "lib/ground/base/now.h"
#include "lib/ground/base/scale.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/record/target.h"

static uint64_t lost(const struct ring_buffer_stats *stats)
{
	return stats->overrun + stats->commit_overrun + stats->dropped;
}

static uint64_t happened(const struct ring_buffer_stats *stats)
{
	return stats->entries + stats->read + lost(stats);
}

static void add_recorder(const struct target *target, const struct recorder *recorder, struct progress *ret)
{
	static const struct ring_buffer_stats none;
	const struct ring_buffer_stats *start =
		target->start && recorder->cpu < target->nr_cpus ? &target->start[recorder->cpu] : &none;
	uint64_t size = ring_buffer_cpu_size(target->instance, recorder->cpu);
	struct ring_buffer_stats stats;
	struct stat st;
	unsigned fill;

	/* The recorder's thread writes to the file, but does not change the descriptor. */
	if (!fstat(recorder->spool.fd, &st))
		ret->bytes +=
			(uint64_t)st.st_size - (st.st_size < SPOOL_HEAD_SIZE ? (uint64_t)st.st_size : SPOOL_HEAD_SIZE);
	if (ring_buffer_stats(target->instance, recorder->cpu, &stats, NULL))
		return;
	if (happened(&stats) >= happened(start)) {
		ret->events += happened(&stats) - happened(start);
		ret->lost += lost(&stats) - lost(start);
	}
	fill = size ? (unsigned)scale_round_mul_div(stats.bytes, 100, size) : 0;
	ret->fill = fill > ret->fill ? fill : ret->fill;
}

void progress_read(const struct target *targets, size_t nr_targets, uint64_t started_ns, struct progress *ret)
{
	*ret = (struct progress){ .lasted_ns = now_ns() - started_ns };
	for (size_t i = 0; i < nr_targets; i++)
		for (size_t j = 0; j < targets[i].nr_recorders; j++)
			add_recorder(&targets[i], targets[i].recorders[j], ret);
	ret->fill = ret->fill > 100 ? 100 : ret->fill;
}
