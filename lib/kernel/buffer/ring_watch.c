// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/buffer/ring_watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"

enum { STATS_SIZE = 1024 };

struct ring_watch ring_watch_open(const struct instance *instance, uint32_t cpu, const struct ring_buffer_stats *base)
{
	struct ring_watch watch = { .fd = -1, .base = *base, .last = *base };
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	if (instance_open_file(instance, file, O_RDONLY | O_CLOEXEC, &watch.fd, NULL))
		watch.fd = -1;
	return watch;
}

void ring_watch_close(struct ring_watch *watch)
{
	cleanup_fd_close(&watch->fd);
	watch->fd = -1;
}

static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static uint64_t written(const struct ring_buffer_stats *stats)
{
	return stats->entries + stats->overrun + stats->read;
}

/*
 * Whether the buffer was cleared since the last look. The kernel does not read all counters at one moment: an event
 * that is overwritten or read between the first and the last counter counts twice, at most as many as were written
 * before (tracing_stats_read()). So a sum that falls to no less than half is no sign of a clear.
 */
static bool is_cleared(const struct ring_watch *watch, const struct ring_buffer_stats *stats, uint64_t taken)
{
	const struct ring_buffer_stats *last = &watch->last;

	return stats->read < last->read + since(taken, watch->taken) / 2 || stats->overrun < last->overrun ||
	       stats->commit_overrun < last->commit_overrun || stats->dropped < last->dropped ||
	       written(stats) < written(last) / 2;
}

/*
 * Whether nothing was counted yet. Setting up a buffer or turning tracing on may clear it; if nothing was counted,
 * nothing was lost.
 */
static bool is_fresh(const struct ring_watch *watch, uint64_t taken)
{
	const struct ring_buffer_stats *last = &watch->last, *base = &watch->base;

	return !watch->cleared && !taken && last->read == base->read && written(last) == written(base) &&
	       last->commit_overrun == base->commit_overrun && last->dropped == base->dropped;
}

void ring_watch_add(struct ring_watch *watch, const struct ring_buffer_stats *stats, uint64_t taken)
{
	if (is_cleared(watch, stats, taken)) {
		watch->cleared += !is_fresh(watch, taken);
		watch->overrun = ring_watch_overrun(watch, &watch->last);
		watch->commit_overrun += since(watch->last.commit_overrun, watch->base.commit_overrun);
		watch->dropped = ring_watch_dropped(watch, &watch->last);
		watch->base = (struct ring_buffer_stats){ .entries = 0 };
	}
	watch->last = *stats;
	watch->taken = taken;
}

void ring_watch_look(struct ring_watch *watch, uint64_t taken)
{
	struct ring_buffer_stats stats;
	char text[STATS_SIZE];
	ssize_t len = watch->fd < 0 ? -1 : pread(watch->fd, text, sizeof(text), 0);

	if (len <= 0)
		return;
	stats = ring_buffer_parse_stats(text, (size_t)len);
	ring_watch_add(watch, &stats, taken);
}

uint64_t ring_watch_overrun(const struct ring_watch *watch, const struct ring_buffer_stats *stats)
{
	return watch->overrun + since(stats->overrun, watch->base.overrun);
}

uint64_t ring_watch_dropped(const struct ring_watch *watch, const struct ring_buffer_stats *stats)
{
	return watch->dropped + since(stats->dropped, watch->base.dropped);
}

uint64_t ring_watch_lost(const struct ring_watch *watch, const struct ring_buffer_stats *stats)
{
	return ring_watch_overrun(watch, stats) + ring_watch_dropped(watch, stats) + watch->commit_overrun +
	       since(stats->commit_overrun, watch->base.commit_overrun);
}
