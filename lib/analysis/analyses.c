// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/analysis.h"

#include "lib/base/buf.h"

#include <assert.h>
#include <string.h>

#define ANALYSIS_ENTRY(name) &name##_analysis,

static const struct analysis_ops *const analyses[] = { ANALYSES(ANALYSIS_ENTRY) };

static_assert(array_size(analyses) <= ANALYSES_MAX, "raise ANALYSES_MAX");

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

bool analysis_list_text(struct buf *into)
{
	for (size_t i = 0; i < array_size(analyses); i++)
		if (!buf_addf(into, "%s%s", !i ? "" : i + 1 < array_size(analyses) ? ", " : " and ", analyses[i]->name))
			return false;
	return true;
}
