// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/table.h"

#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "tests/unit/test.h"

TEST(table_aligns_cells_and_leaves_no_blanks_at_the_ends_of_lines)
{
	static const struct table_column columns[] = { { "name", false }, { "count", true }, { "note", false } };
	static const char want[] = " name     count  note\n"
				   " warp         7\n"
				   " shuttle  12345  fast\n"
				   "              x\n";
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	table_init(&table, columns, array_size(columns));
	table.indent = 1;
	table_cell(&table, "warp");
	table_cell_u64(&table, 7);
	table_cell(&table, "");
	table_cell(&table, "shuttle");
	table_cellf(&table, "%d", 12345);
	table_cell(&table, "fast");
	table_cell(&table, "");
	table_cell(&table, "x");
	CHECK(table_print(&table, &out));
	CHECK_MEM(out.start, out_len(&out), want, sizeof(want) - 1);
	table_release(&table);
	out_release(&out);
}
