// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/analysis.h"

#include <string.h>

#define ANALYSIS_ENTRY(name) &name##_analysis,

static const struct analysis_ops *const analyses[] = { ANALYSES(ANALYSIS_ENTRY) };

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
