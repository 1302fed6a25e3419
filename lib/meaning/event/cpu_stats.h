/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_CPU_STATS_H
#define WEFT_MEANING_EVENT_CPU_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct trace;
struct trace_text;

/* per_cpu/cpuN/stats */
struct cpu_stats {
	uint32_t cpu;
	uint64_t entries, overrun, commit_overrun, dropped, read;
};

/* The counts of a buffer's CPUs, as the file has them. */
struct cpu_stats_list {
	struct cpu_stats *at;
	size_t nr;
	bool starved; /* memory ran out: some are missing */
};

/* Reads them from the settings of a buffer. The list must be empty, and the caller frees `at`. */
void cpu_stats_read(struct cpu_stats_list *list, const struct trace *trace, size_t buffer);

/* Reads them from the text that trace-cmd writes, which has "CPU: N" before the lines of each CPU. */
void cpu_stats_of_text(struct cpu_stats_list *list, struct trace_text text);

#endif
