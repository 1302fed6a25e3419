/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_SORTS_H
#define WEFT_ANALYSIS_SORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct table_column;

/* The columns of the first table of an analysis, by which --sort orders it. */
struct analysis_sorts {
	const struct table_column *columns;
	size_t nr;
	uint32_t data_only; /* a bit for each column that is never in the text, or only with an option or some events */
};

extern const struct analysis_sorts sched_sorts, syscalls_sorts, latency_sorts, irq_sorts, graph_sorts, block_sorts,
	locks_sorts, stacks_sorts, memory_sorts, power_sorts, tasks_sorts;

/* Adds the names of the columns, each as one word that --sort takes: a title, or what JSON calls it. */
bool sorts_list(const struct analysis_sorts *sorts, const char *between, struct buf *into);

#endif
