// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/table.h"

#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

TEST(table_aligns_cells_and_leaves_no_blanks_at_the_ends_of_lines)
{
	static const struct table_column columns[] = { { .title = "name" },
						       { "count", TABLE_NUMBER, NULL, 0 },
						       { .title = "note" } };
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

static const struct table_column odd_columns[] = {
	{ .title = "Task name" },
	{ "Size", TABLE_SIZE, NULL, 0 },
	{ "Time", TABLE_TIME, NULL, 0 },
	{ .title = "Events", .kind = TABLE_COUNT, .key = "nr" },
	{ .title = "%", .kind = TABLE_NUMBER, .key = "percent" },
};

/* Unusual texts, a missing number, negative numbers, and a last row that ends early. */
static void fill_odd(struct table *table)
{
	table_init(table, odd_columns, array_size(odd_columns));
	table_cell(table, "\347\271\224\346\234\272");
	table_cell_u64(table, 1536);
	table_cell_u64(table, 12345678);
	table_cell_u64(table, 1234567);
	table_cell_decimal(table, 995, 1);
	table_cell(table, "a\nb\033[31m\"c\",");
	table_cell(table, "-");
	table_cell_s64(table, -1500);
	table_cell(table, "");
	table_cell(table, "n/a");
	table_cell_mem(table, "\377\0x", 3);
}

/* Checks the written text and empties the out. */
static void check_out(struct out *out, const char *want)
{
	CHECK_MEM(out->start, out_len(out), want, strlen(want));
	out_clear(out);
}

TEST(table_shows_units_wide_characters_and_one_line_for_each_row)
{
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	fill_odd(&table);
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "Task name              Size     Time     Events     %\n"
			"\347\271\224\346\234\272                1.5 KiB  12.3 ms  1,234,567  99.5\n"
			"a\\012b\\033[31m\"c\",        -  -1.5 us              n/a\n"
			"\377\\000x\n");
	table_release(&table);
	out_release(&out);
}

TEST(table_separates_the_thousands_of_counts_with_decimals_as_those_without)
{
	static const struct table_column columns[] = { { .title = "/S", .kind = TABLE_COUNT },
						       { .title = "%", .kind = TABLE_NUMBER } };
	static const int64_t values[] = { 12345678, 9999, 10000, -10000, 5 };
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	table_init(&table, columns, array_size(columns));
	for (size_t i = 0; i < array_size(values); i++) {
		table_cell_decimal(&table, values[i], 1);
		table_cell_decimal(&table, values[i], 1);
	}
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "         /S          %\n"
			"1,234,567.8  1234567.8\n"
			"      999.9      999.9\n"
			"    1,000.0     1000.0\n"
			"   -1,000.0    -1000.0\n"
			"        0.5        0.5\n");
	CHECK(table_write(&table, TABLE_AS_CSV, &out));
	check_out(&out, "_s,_\n1234567.8,1234567.8\n999.9,999.9\n1000.0,1000.0\n-1000.0,-1000.0\n0.5,0.5\n");
	table_release(&table);
	out_release(&out);
}

TEST(table_gives_programs_plain_numbers_and_the_texts_as_they_are)
{
	static const char csv[] = "task_name,size_bytes,time_ns,nr,percent\n"
				  "\347\271\224\346\234\272,1536,12345678,1234567,99.5\n"
				  "\"a\nb\033[31m\"\"c\"\",\",,-1500,,n/a\n"
				  "\377\0x,,,,\n";
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	fill_odd(&table);
	CHECK(table_write(&table, TABLE_AS_JSON, &out));
	check_out(
		&out,
		"[{\"task_name\":\"\347\271\224\346\234\272\",\"size_bytes\":1536,\"time_ns\":12345678,\"nr\":1234567,"
		"\"percent\":99.5},\n"
		"{\"task_name\":\"a\\nb\\u001b[31m\\\"c\\\",\",\"size_bytes\":null,\"time_ns\":-1500,\"nr\":null,"
		"\"percent\":\"n/a\"},\n"
		"{\"task_name\":\"\\ufffd\\u0000x\",\"size_bytes\":null,\"time_ns\":null,\"nr\":null,"
		"\"percent\":null}]\n");
	CHECK(table_write(&table, TABLE_AS_CSV, &out));
	CHECK_MEM(out.start, out_len(&out), csv, sizeof(csv) - 1);
	table_release(&table);
	out_release(&out);
}

TEST(table_without_rows_has_its_titles_and_an_empty_array)
{
	static const struct table_column nameless[] = { { .title = "" }, { "", TABLE_TIME, NULL, 0 } };
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	table_init(&table, odd_columns, 2);
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "Task name  Size\n");
	CHECK(table_write(&table, TABLE_AS_JSON, &out));
	check_out(&out, "[]\n");
	CHECK(table_write(&table, TABLE_AS_CSV, &out));
	check_out(&out, "task_name,size_bytes\n");
	table_init(&table, nameless, array_size(nameless));
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "");
	CHECK(table_write(&table, TABLE_AS_CSV, &out));
	check_out(&out, "column1,column2_ns\n");
	out_release(&out);
}

TEST(table_wraps_a_column_that_is_to_wrap_between_words)
{
	static const struct table_column columns[] = { { .title = "" }, { "", TABLE_TEXT, NULL, TABLE_WRAP } };
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	table_init(&table, columns, array_size(columns));
	table_cell(&table, "reason");
	table_cell(&table, "rthog-207 ran for 65 ms before it");
	table_cell(&table, "why");
	table_cell(&table, "a-word-that-is-too-long for it");
	table_cell(&table, "none");
	table_cell(&table, "");
	table_cell(&table, "name");
	table_cell(&table, "wakeup");
	table.width = 22;
	CHECK(table_print(&table, &out));
	check_out(&out, "reason  rthog-207 ran\n"
			"        for 65 ms\n"
			"        before it\n"
			"why     a-word-that-is\n"
			"        -too-long for\n"
			"        it\n"
			"none\n"
			"name    wakeup\n");
	table.width = 0;
	CHECK(table_print(&table, &out));
	check_out(&out, "reason  rthog-207 ran for 65 ms before it\n"
			"why     a-word-that-is-too-long for it\n"
			"none\n"
			"name    wakeup\n");
	table_release(&table);
	out_release(&out);
}

TEST(table_fits_the_width_of_the_terminal_by_cutting_its_widest_texts)
{
	static const struct table_column columns[] = { { .title = "place" },
						       { "n", TABLE_NUMBER, NULL, 0 },
						       { .title = "why" } };
	struct table table;
	struct out out;
	uint32_t left_out;

	REQUIRE(out_init(&out, 64));
	table_init(&table, columns, array_size(columns));
	table_cell(&table, "a-place-with-a-long-name");
	table_cell_u64(&table, 1234567890);
	table_cell(&table, "\347\271\224\346\234\272\347\271\224\346\234\272\347\271\224\346\234\272");
	table_cell(&table, "short");
	table_cell_u64(&table, 7);
	table_cell(&table, "x");
	table.width = 36;
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "place                 n  why\n"
			"a-place-...  1234567890  \347\271\224\346\234\272\347\271\224\346\234\272...\n"
			"short                 7  x\n");
	/* Numbers are never cut, and no text becomes narrower than eight columns: columns of numbers go before. */
	table.width = 29;
	CHECK(table_print_fitting(&table, &out, &left_out) && left_out == 1 << 1);
	check_out(&out, "place                why\n"
			"a-place-with-a-l...  \347\271\224\346\234\272...\n"
			"short                x\n");
	table.width = 1;
	CHECK(table_print_fitting(&table, &out, &left_out) && left_out == (1 << 1 | 1 << 2));
	check_out(&out, "place\na-pla...\nshort\n");
	table.width = 30;
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "place              n  why\n"
			"a-pla...  1234567890  \347\271\224\346\234\272...\n"
			"short              7  x\n");
	table.width = 50;
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "place                              n  why\n"
			"a-place-with-a-long-name  1234567890  "
			"\347\271\224\346\234\272\347\271\224\346\234\272\347\271\224\346\234\272\n"
			"short                              7  x\n");
	table_release(&table);
	out_release(&out);
}

TEST(table_cuts_texts_in_the_middle_where_their_ends_tell_them_apart)
{
	static const struct table_column columns[] = { { .title = "WAKEUPS" }, { "COUNT", TABLE_NUMBER, NULL, 0 } };
	struct table table;
	struct out out;

	REQUIRE(out_init(&out, 64));
	table_init(&table, columns, array_size(columns));
	table_cell(&table, "waking to queued");
	table_cell_u64(&table, 1);
	table_cell(&table, "waking to running");
	table_cell_u64(&table, 2);
	table.width = 18;
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	check_out(&out, "WAKEUPS      COUNT\n"
			"waki...eued      1\n"
			"waki...ning      2\n");
	table_release(&table);
	out_release(&out);
}

TEST(table_takes_cells_of_any_length)
{
	static const struct table_column columns[] = { { .title = "text" }, { "n", TABLE_NUMBER, NULL, 0 } };
	enum { LONG = 1 << 17 };
	cleanup_free char *cell = malloc(LONG + 1);
	struct table table;
	struct out out;

	REQUIRE(cell && out_init(&out, 64));
	memset(cell, 'x', LONG);
	cell[LONG] = '\0';
	table_init(&table, columns, array_size(columns));
	table_cell(&table, cell);
	table_cell_u64(&table, 1);
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	CHECK(out_len(&out) == 2 * (LONG + 4));
	out_clear(&out);
	CHECK(table_write(&table, TABLE_AS_JSON, &out));
	CHECK(out_len(&out) == LONG + strlen("[{\"text\":\"\",\"n\":1}]\n"));
	table.width = 40;
	out_clear(&out);
	CHECK(table_write(&table, TABLE_AS_TEXT, &out));
	CHECK(out_len(&out) == 82);
	table_release(&table);
	out_release(&out);
}
