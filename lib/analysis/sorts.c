// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/sorts.h"

#include "lib/base/buf.h"
#include "lib/base/table.h"

#include <string.h>

bool sorts_list(const struct analysis_sorts *sorts, const char *between, struct buf *into)
{
	bool first = true, ok = true;

	for (size_t i = 0; i < sorts->nr; i++) {
		char key[TABLE_KEY_SIZE], title[TABLE_KEY_SIZE];
		const char *name = table_title(&sorts->columns[i], title);

		if (!*name || sorts->data_only & 1U << i)
			continue;
		if (strchr(name, ' '))
			name = table_key(&sorts->columns[i], i, key);
		ok = ok && buf_addf(into, "%s%s", first ? "" : between, name);
		first = false;
	}
	return ok;
}
