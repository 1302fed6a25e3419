// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/analysis.h"

#include <assert.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/table.h"

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

bool analysis_sorts(const struct analysis_ops *ops, const char *between, struct buf *into)
{
	bool first = true, ok = true;

	for (size_t i = 0; ops->columns[i].title; i++) {
		const struct table_column *column = &ops->columns[i];
		char key[TABLE_KEY_SIZE], title[TABLE_KEY_SIZE];
		const char *name = table_title(column, title);

		if (!*name || column->flags & TABLE_DATA_ONLY)
			continue;
		if (strchr(name, ' '))
			name = table_key(column, i, key);
		ok = ok && buf_addf(into, "%s%s", first ? "" : between, name);
		first = false;
	}
	return ok;
}

bool analysis_list_text(struct buf *into)
{
	for (size_t i = 0; i < array_size(analyses); i++)
		if (!buf_addf(into, "%s%s", !i ? "" : i + 1 < array_size(analyses) ? ", " : " and ", analyses[i]->name))
			return false;
	return true;
}
