// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any bytes as a Parquet file of the table wakeup of a lake. Each row is read; a text lies in its dictionary.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/export/intervals_internal.h"
#include "formats/export/parquet/read_internal.h"
#include "lib/ground/base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(const struct parquet_cursor *cursor, const struct column_shape *shapes, size_t nr)
{
	struct text_word word;
	int64_t number;

	for (size_t i = 0; i < nr; i++) {
		const struct buf *dictionary = &cursor->columns[i].dictionary;

		if (!column_is_text(&shapes[i]))
			(void)parquet_cursor_integer(cursor, i, &number);
		else if (parquet_cursor_text(cursor, i, &word) &&
			 (word.at < dictionary->data || word.len > dictionary->len ||
			  word.at + word.len > dictionary->data + dictionary->len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	size_t nr = interval_columns(INTERVAL_WAKEUP, shapes);
	cleanup_fd int fd = memfd_create("parquet", MFD_CLOEXEC);
	struct parquet_footer footer = { .fd = -1 };
	struct parquet_cursor cursor;
	struct parquet_pages pages;
	int r;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return 0;
	if (parquet_footer_read(fd, 0, len, shapes, nr, &footer, NULL))
		return 0;
	if (!parquet_pages_init(&pages, NULL)) {
		r = parquet_cursor_open(&cursor, &footer, 0, footer.nr_groups, shapes, nr, &pages, NULL);
		/* A file may say that it has more rows than bytes: a page of nulls is small. */
		for (unsigned i = 0; r > 0 && i < 1 << 20; i++) {
			look(&cursor, shapes, nr);
			r = parquet_cursor_next(&cursor, NULL);
		}
		parquet_cursor_close(&cursor);
		parquet_pages_release(&pages);
	}
	parquet_footer_release(&footer);
	return 0;
}
