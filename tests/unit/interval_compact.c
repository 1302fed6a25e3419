// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/export/folder.h"
#include "formats/export/interval_compact.h"
#include "formats/export/intervals_internal.h"
#include "formats/export/parquet/groups_internal.h"
#include "formats/export/parquet/interval_file_internal.h"
#include "formats/export/parquet/read_internal.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/io.h"
#include "tests/unit/test.h"

enum { FILES = 7, ROWS = 300, HOSTS = 5 };
#define DAY INT64_C(86400000000000)

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* The tables gap and rollup. A column is the number of the row, so that each row can be told from all others. */
static void put_row(struct parquet_file *file, uint32_t *seed, uint64_t number, struct out *scratch)
{
	static const char *const kinds[] = { "run", "wakeup", "block" };
	size_t at = file->nr_columns > 12 ? 14 : 11;
	char host[16];
	int len = snprintf(host, sizeof(host), "host%u", draw(seed, HOSTS));

	parquet_file_text(file, 0, host, (size_t)len, scratch);
	parquet_file_integer(file, 1, 7);
	parquet_file_text(file, 2, "", 0, scratch);
	parquet_file_integer(file, 3, draw(seed, 1000));
	if (draw(seed, 4))
		parquet_file_integer(file, 4, (uint64_t)(draw(seed, 3) * DAY + draw(seed, 1000)));
	else
		parquet_file_null(file, 4);
	for (size_t i = 5; i < file->nr_columns; i++)
		if (i == at)
			parquet_file_integer(file, i, number);
		else if (i == 11)
			parquet_file_text(file, i, kinds[number % 3], strlen(kinds[number % 3]), scratch);
		else
			parquet_file_null(file, i);
	parquet_file_row(file);
}

static int make_sorted(const struct column_shape *shapes, size_t nr, unsigned which, const struct parquet_sort *sort)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct parquet_groups groups;
	struct parquet_file file;
	struct out out, scratch;
	uint32_t seed = which + 1;

	CHECK(out_init(&out, 1 << 12) && out_init(&scratch, 0));
	CHECK(parquet_file_init(&file, shapes, nr));
	CHECK(!parquet_groups_init(&groups, NULL, NULL));
	file.sort = *sort;
	file.bare = true;
	for (uint64_t i = 0; i < ROWS; i++) {
		put_row(&file, &seed, which * ROWS + i, &scratch);
		if (i % 100 == 99)
			parquet_groups_begin(&groups, &file, &out);
	}
	parquet_groups_end(&groups, &out);
	interval_file_end(&file, groups.at[0].writer, &out, NULL);
	CHECK(!io_write(fd, out.start, out_len(&out)));
	parquet_groups_release(&groups);
	parquet_file_release(&file);
	out_release(&out);
	out_release(&scratch);
	return fd;
}

static int make_input(const struct column_shape *shapes, size_t nr, unsigned which)
{
	const struct parquet_sort sort = interval_sort("gap");

	return make_sorted(shapes, nr, which, &sort);
}

/* Keeps the bytes of the only file, without the heads of its pieces. */
static int keep(void *arg, struct out *folder, struct fail *fail)
{
	struct bytes in = bytes_of(folder->start, out_len(folder), false);
	struct folder_piece piece;
	const uint8_t *at;

	(void)fail;
	while (bytes_take(&in, sizeof(piece), &at)) {
		memcpy(&piece, at, sizeof(piece));
		CHECK(bytes_take(&in, piece.name_len, &at));
		CHECK(memmem(at, piece.name_len, "/9-1.parquet", strlen("/9-1.parquet")));
		CHECK(bytes_take(&in, (size_t)piece.len, &at) && buf_add(arg, at, (size_t)piece.len));
	}
	return 0;
}

static int compact_table(const char *table, const int *inputs, size_t nr, size_t memory, struct buf *into,
			 struct fail *fail)
{
	static const char *const names[FILES] = { "1.parquet", "2.parquet", "3.parquet", "4.parquet",
						  "5.parquet", "6.parquet", "7.parquet" };
	struct interval_compaction wanted = { .table = table,
					      .inputs = inputs,
					      .names = names,
					      .nr_inputs = nr,
					      .stem = "9",
					      .temporaries = { memfd_create("a", MFD_CLOEXEC),
							       memfd_create("b", MFD_CLOEXEC) },
					      .memory = memory,
					      .write = keep,
					      .arg = into };
	int r = interval_compact(&wanted, fail);

	close(wanted.temporaries[0]);
	close(wanted.temporaries[1]);
	return r;
}

static int compact(const int *inputs, size_t nr, size_t memory, struct buf *into, struct fail *fail)
{
	return compact_table("gap", inputs, nr, memory, into, fail);
}

/* Whether all rows are there once, in their order. */
static void check_rows(const struct buf *whole, const struct column_shape *shapes, size_t nr)
{
	cleanup_fd int fd = memfd_create("whole", MFD_CLOEXEC);
	bool seen[FILES * ROWS] = { false };
	int64_t day = INT64_MIN, wall, ts, number, last[2] = { 0, 0 };
	struct parquet_footer footer;
	struct parquet_cursor cursor;
	struct parquet_pages pages;
	struct text_word host;
	char before[16] = "";
	size_t rows = 0;
	int r;

	CHECK(!io_write(fd, whole->data, whole->len));
	CHECK(!parquet_footer_read(fd, 0, whole->len, shapes, nr, &footer, NULL) && !parquet_pages_init(&pages, NULL));
	for (r = parquet_cursor_open(&cursor, &footer, 0, footer.nr_groups, shapes, nr, &pages, NULL); r > 0;
	     r = parquet_cursor_next(&cursor, NULL), rows++) {
		char now[16] = "";
		int64_t of, key[2];

		if (!CHECK(parquet_cursor_text(&cursor, 0, &host) && host.len == strlen("host0")))
			break;
		memcpy(now, host.at, host.len);
		wall = INT64_MIN;
		(void)parquet_cursor_integer(&cursor, 4, &wall);
		CHECK(parquet_cursor_integer(&cursor, 3, &ts) && parquet_cursor_integer(&cursor, 11, &number));
		of = wall == INT64_MIN ? INT64_MIN : wall / DAY;
		key[0] = wall;
		key[1] = ts;
		CHECK(of >= day);
		if (of == day) {
			CHECK(strcmp(now, before) >= 0);
			CHECK(strcmp(now, before) || (key[0] > last[0] || (key[0] == last[0] && key[1] >= last[1])));
		}
		CHECK(number >= 0 && number < FILES * ROWS && !seen[number]);
		seen[number] = true;
		day = of;
		memcpy(last, key, sizeof(last));
		memcpy(before, now, sizeof(before));
	}
	CHECK(!r);
	CHECK(rows == FILES * ROWS);
	parquet_cursor_close(&cursor);
	parquet_pages_release(&pages);
	parquet_footer_release(&footer);
}

TEST(interval_compact_merges_all_rows_in_their_order_in_one_pass_and_in_many)
{
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	cleanup_buf struct buf once = BUF_INIT, often = BUF_INIT;
	size_t nr = interval_columns(INTERVAL_GAP, shapes);
	int inputs[FILES];

	for (unsigned i = 0; i < FILES; i++)
		inputs[i] = make_input(shapes, nr, i);
	CHECK(!compact(inputs, FILES, 0, &once, NULL));
	CHECK(!compact(inputs, FILES, 1, &often, NULL));
	check_rows(&once, shapes, nr);
	CHECK(once.len == often.len && !memcmp(once.data, often.data, once.len));
	for (unsigned i = 0; i < FILES; i++)
		close(inputs[i]);
}

TEST(interval_compact_refuses_a_file_that_is_cut_at_any_byte)
{
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	size_t nr = interval_columns(INTERVAL_GAP, shapes);
	int input = make_input(shapes, nr, 0);
	off_t size = lseek(input, 0, SEEK_END);

	for (off_t cut = size - 1; cut >= 0; cut -= cut > 64 && cut < size - 64 ? 61 : 1) {
		cleanup_buf struct buf into = BUF_INIT;
		struct fail fail = FAIL_INIT;

		CHECK(!ftruncate(input, cut));
		CHECK(compact(&input, 1, 0, &into, &fail) == -EBADMSG);
		CHECK(strstr(fail.text, "'gap/1.parquet'"));
	}
	close(input);
}

/* A byte of a header of a page may say nothing that is needed; nearly all are the pages themselves. */
TEST(interval_compact_reads_no_page_in_which_a_bit_has_changed)
{
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	size_t nr = interval_columns(INTERVAL_GAP, shapes), refused = 0, same = 0;
	int input = make_input(shapes, nr, 0);
	off_t size = lseek(input, 0, SEEK_END);
	cleanup_buf struct buf whole = BUF_INIT;
	uint32_t footer;

	CHECK(!compact(&input, 1, 0, &whole, NULL));
	CHECK(pread(input, &footer, sizeof(footer), size - 8) == (ssize_t)sizeof(footer));
	for (off_t at = 4; at < size - 8 - (off_t)le32toh(footer); at++) {
		cleanup_buf struct buf into = BUF_INIT;
		char byte, flipped;
		int r;

		CHECK(pread(input, &byte, 1, at) == 1);
		flipped = (char)(byte ^ 1 << at % 8);
		CHECK(pwrite(input, &flipped, 1, at) == 1);
		r = compact(&input, 1, 0, &into, NULL);
		CHECK(pwrite(input, &byte, 1, at) == 1);
		refused += r != 0;
		same += !r && into.len == whole.len && !memcmp(into.data, whole.data, whole.len);
		CHECK(r || (into.len == whole.len && !memcmp(into.data, whole.data, whole.len)));
	}
	CHECK(refused > 10 * same);
	close(input);
}

TEST(interval_compact_sorts_what_an_older_weft_has_sorted_otherwise)
{
	const struct parquet_sort was = interval_sort("gap"), is = interval_sort("rollup");
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	cleanup_buf struct buf got = BUF_INIT, often = BUF_INIT, wanted = BUF_INIT;
	size_t nr = interval_columns(INTERVAL_ROLLUP, shapes);
	int old[FILES], new[FILES];

	for (unsigned i = 0; i < FILES; i++) {
		old[i] = make_sorted(shapes, nr, i, i % 2 ? &is : &was);
		new[i] = make_sorted(shapes, nr, i, &is);
	}
	CHECK(!compact_table("rollup", new, FILES, 0, &wanted, NULL));
	CHECK(!compact_table("rollup", old, FILES, 0, &got, NULL));
	CHECK(!compact_table("rollup", old, FILES, 1, &often, NULL));
	CHECK(got.len == wanted.len && !memcmp(got.data, wanted.data, got.len));
	CHECK(often.len == wanted.len && !memcmp(often.data, wanted.data, often.len));
	for (unsigned i = 0; i < FILES; i++) {
		close(old[i]);
		close(new[i]);
	}
}
