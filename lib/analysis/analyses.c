// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/analysis.h"

#include <string.h>

static const struct analysis_ops *const analyses[] = {
	&summary_analysis, &sched_analysis, &syscalls_analysis, &latency_analysis, &irq_analysis,   &graph_analysis,
	&block_analysis,   &locks_analysis, &stacks_analysis,   &memory_analysis,  &power_analysis, &tasks_analysis,
};

const struct analysis_ops *analysis_at(size_t index)
{
	return index < array_size(analyses) ? analyses[index] : NULL;
}

const struct analysis_ops *analysis_named(const char *name)
{
	for (size_t i = 0; i < array_size(analyses); i++)
		if (!strcmp(analyses[i]->name, name))
			return analyses[i];
	return NULL;
}
