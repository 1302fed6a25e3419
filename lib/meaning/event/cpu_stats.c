// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/cpu_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/trace.h"

/* Parses a line "NAME: VALUE" of per_cpu/cpuN/stats. */
static void stats_line(struct cpu_stats *stats, struct text_word line)
{
	static const struct {
		const char *name;
		size_t offset;
	} names[] = {
		{ "entries: ", offsetof(struct cpu_stats, entries) },
		{ "overrun: ", offsetof(struct cpu_stats, overrun) },
		{ "commit overrun: ", offsetof(struct cpu_stats, commit_overrun) },
		{ "dropped events: ", offsetof(struct cpu_stats, dropped) },
		{ "read events: ", offsetof(struct cpu_stats, read) },
	};

	for (size_t i = 0; i < array_size(names); i++) {
		size_t len = strlen(names[i].name);

		if (line.len > len && !memcmp(line.at, names[i].name, len))
			*(uint64_t *)((char *)stats + names[i].offset) = strtoull(line.at + len, NULL, 10);
	}
}

static struct cpu_stats *add(struct cpu_stats_list *list, uint32_t cpu)
{
	struct cpu_stats *stats;

	if (list->nr >= TRACE_CPUS_MAX)
		return NULL;
	stats = vec_push(list->at, list->nr);
	if (stats)
		stats->cpu = cpu;
	list->starved |= !stats;
	return stats;
}

static void read_settings(struct cpu_stats_list *list, const struct trace *trace, size_t wanted)
{
	struct trace_text text;
	const char *name;
	size_t buffer;

	for (size_t i = 0; trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		struct cpu_stats *stats;
		struct text_word line;
		unsigned cpu;
		int end = 0;

		if (buffer != wanted || sscanf(name, "per_cpu/cpu%5u/stats%n", &cpu, &end) != 1 || !end || name[end])
			continue;
		stats = add(list, cpu);
		if (!stats)
			return;
		while (text_next_line(&text.text, &text.len, &line))
			stats_line(stats, line);
	}
}

/*
 * For a snapshot, also that of a latency tracer, the kernel has only the sum of all CPUs, "ENTRIES/WRITTEN": it counts
 * as the first CPU's.
 */
static void read_sum(struct cpu_stats_list *list, const struct trace *trace, size_t buffer)
{
	struct trace_text text = trace_setting(trace, buffer, "weft/entries");
	unsigned long long entries, written;
	struct cpu_stats *stats;

	if (!text.text || sscanf(text.text, "%20llu/%20llu", &entries, &written) != 2 || written < entries)
		return;
	stats = add(list, 0);
	if (!stats)
		return;
	stats->entries = entries;
	stats->overrun = written - entries;
}

void cpu_stats_read(struct cpu_stats_list *list, const struct trace *trace, size_t buffer)
{
	/* With a latency tracer, the kernel counts the live buffer, which is not in the file. */
	if (trace_setting(trace, buffer, "weft/section").text)
		read_sum(list, trace, buffer);
	if (!list->nr)
		read_settings(list, trace, buffer);
	if (!list->nr)
		read_sum(list, trace, buffer);
}

void cpu_stats_of_text(struct cpu_stats_list *list, struct trace_text text)
{
	struct cpu_stats *stats = NULL;
	struct text_word line;

	if (!text.text)
		return;
	while (text_next_line(&text.text, &text.len, &line)) {
		if (line.len > 5 && !memcmp(line.at, "CPU: ", 5))
			stats = add(list, (uint32_t)strtoul(line.at + 5, NULL, 10));
		else if (stats)
			stats_line(stats, line);
	}
}
