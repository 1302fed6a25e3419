// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "formats/export/intervals_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "tests/unit/test.h"

static const char *type_of(const struct column_shape *shape)
{
	if (shape->form == COLUMN_OF_TEXT)
		return "VARCHAR";
	return !shape->is_signed ? "unsigned" : shape->bits == 64 ? "BIGINT" : "INTEGER";
}

static bool describe(enum interval_table table, struct buf *into)
{
	struct column_shape columns[INTERVAL_COLUMNS_MAX];
	size_t nr = interval_columns(table, columns);
	bool ok = buf_addf(into, "%s: ", interval_table_name(table));

	for (size_t i = 0; ok && i < nr; i++)
		ok = buf_addf(into, "%s%s %s", i ? ", " : "", columns[i].name, type_of(&columns[i]));
	return ok && buf_addf(into, "\n");
}

/* Loaders depend on these columns: a change needs another INTERVALS_VERSION, or stands at the end of a table. */
TEST(interval_columns_are_those_of_the_committed_list)
{
	FILE *file = fopen("tests/cases/export/intervals.schema", "re");
	char line[2048];
	size_t nr = 0;

	if (!CHECK(file != NULL))
		return;
	CHECK(INTERVALS_VERSION == 1);
	while (fgets(line, sizeof(line), file)) {
		bool found = false;

		for (unsigned i = 0; i < INTERVAL_TABLES; i++) {
			cleanup_buf struct buf text = BUF_INIT;

			CHECK(describe(i, &text));
			found |= !strcmp(buf_str(&text), line);
		}
		CHECK(found);
		nr++;
	}
	fclose(file);
	CHECK(nr == INTERVAL_TABLES);
}
