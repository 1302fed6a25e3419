// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/table.h"

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/samples.h"
#include "tests/unit/test.h"

static const struct table_column columns[] = { { "NAME", TABLE_TEXT, NULL, 0 },
					       { "TIME", TABLE_TIME, NULL, TABLE_SPARE },
					       { "MORE", TABLE_NUMBER, NULL, TABLE_DATA_ONLY } };

static void fill(struct table *table)
{
	static const struct {
		const char *name;
		int64_t time; /* -1: none */
	} rows[] = { { "b", 20 }, { "c", -1 }, { "a", 300 }, { "d", 20 } };

	table_init(table, columns, array_size(columns));
	for (size_t i = 0; i < array_size(rows); i++) {
		table_cell(table, rows[i].name);
		if (rows[i].time < 0)
			table_cell(table, "-");
		else
			table_cell_s64(table, rows[i].time);
		table_cell_u64(table, i);
	}
}

static void check_csv(const struct table *table, const char *want)
{
	struct out out;

	REQUIRE(out_init(&out, 64));
	CHECK(table_write(table, TABLE_AS_CSV, &out));
	CHECK_MEM(out.start, out_len(&out), want, __builtin_strlen(want));
	out_release(&out);
}

TEST(table_sorts_numbers_from_the_largest_and_texts_by_their_bytes)
{
	struct table table;

	fill(&table);
	CHECK(table_column_named(&table, "time") == 1 && table_column_named(&table, "TIME_ns") == 1);
	CHECK(table_column_named(&table, "nothing") == -1);
	CHECK(table_sort(&table, 1));
	check_csv(&table, "name,time_ns,more\na,300,2\nb,20,0\nd,20,3\nc,,1\n");
	CHECK(table_sort(&table, 0));
	check_csv(&table, "name,time_ns,more\na,300,2\nb,20,0\nc,,1\nd,20,3\n");
	CHECK(table_keep(&table, 9) == 0 && table_keep(&table, 1) == 3);
	check_csv(&table, "name,time_ns,more\na,300,2\n");
	table_release(&table);
}

/* Samples of a row stay with it: a comparison names them by its cells. */
TEST(table_sorts_samples_with_their_rows)
{
	struct table table;

	table_init(&table, columns, array_size(columns));
	for (uint64_t i = 0; i < 3; i++) {
		struct samples samples = { .count = i + 1 };

		table_attach(&table, &samples);
		table_cell(&table, (const char *[]){ "b", "c", "a" }[i]);
		table_cell_u64(&table, i);
		table_cell_u64(&table, i);
	}
	CHECK(table_sort(&table, 0));
	REQUIRE(table.nr_attached == 3);
	for (size_t i = 0; i < 3; i++) {
		uint64_t number = 9;

		CHECK(table_number_at(&table, table.attached[i].row, 2, &number));
		CHECK(table.attached[i].samples.count == number + 1);
	}
	table_release(&table);
}

TEST(table_leaves_out_of_text_what_is_for_data_only_and_what_is_spare_where_the_line_is_long)
{
	static const char wide[] = "NAME   TIME\nb     20 ns\n", narrow[] = "NAME\nb\n";
	struct table table;
	struct out out;

	fill(&table);
	REQUIRE(out_init(&out, 64));
	CHECK(table_keep(&table, 1) == 3);
	CHECK(table_print(&table, &out));
	CHECK_MEM(out.start, out_len(&out), wide, sizeof(wide) - 1);
	out_clear(&out);
	table.width = 8;
	CHECK(table_print(&table, &out));
	CHECK_MEM(out.start, out_len(&out), narrow, sizeof(narrow) - 1);
	table_release(&table);
	out_release(&out);
}
