// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/export/interval_tables.h"
#include "formats/export/intervals_internal.h"
#include "formats/export/parquet/read_internal.h"
#include "lib/ground/base/fail.h"

static size_t place_of(const struct column_shape *shapes, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(shapes[i].name, name))
			return i;
	return nr;
}

struct places {
	size_t host, dur, kind, key, detail, middle, count, sum, release; /* .nr: the table has no such column */
};

static uint64_t number_at(const struct parquet_cursor *cursor, size_t column)
{
	int64_t number;

	return column < cursor->nr_columns && parquet_cursor_integer(cursor, column, &number) && number > 0 ?
		       (uint64_t)number :
		       0;
}

static struct text_word text_at(const struct parquet_cursor *cursor, size_t column)
{
	struct text_word word;

	return column < cursor->nr_columns && parquet_cursor_text(cursor, column, &word) ?
		       word :
		       (struct text_word){ .at = "" };
}

static int read_rows(struct parquet_cursor *cursor, const struct places *at,
		     bool (*see)(void *arg, const struct interval_figure *figure), void *arg, int r, struct fail *fail)
{
	for (; r > 0; r = parquet_cursor_next(cursor, fail)) {
		const struct interval_figure figure = {
			.host = text_at(cursor, at->host),
			.kind = text_at(cursor, at->kind),
			.key = text_at(cursor, at->key),
			.detail = text_at(cursor, at->detail),
			.release = text_at(cursor, at->release),
			.middle = number_at(cursor, at->middle),
			.count = number_at(cursor, at->count),
			.sum = number_at(cursor, at->sum),
			.dur = number_at(cursor, at->dur),
		};

		if (!see(arg, &figure))
			return fail_memory(fail);
	}
	return r;
}

int interval_figures(int fd, bool rollup, bool (*see)(void *arg, const struct interval_figure *figure), void *arg,
		     struct fail *fail)
{
	enum interval_table table = rollup ? INTERVAL_ROLLUP : INTERVAL_RECORDING;
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	size_t nr = interval_columns(table, shapes);
	const struct places at = {
		.host = place_of(shapes, nr, "host"),
		.dur = place_of(shapes, nr, "dur"),
		.kind = place_of(shapes, nr, "kind"),
		.key = place_of(shapes, nr, "key"),
		.detail = place_of(shapes, nr, "detail"),
		.middle = place_of(shapes, nr, "middle"),
		.count = place_of(shapes, nr, "count"),
		.sum = place_of(shapes, nr, "sum"),
		.release = place_of(shapes, nr, "release"),
	};
	struct parquet_footer footer = { .nr_groups = 0 };
	struct parquet_pages pages = { .frames = NULL };
	struct parquet_cursor cursor = { .nr_columns = 0 };
	struct stat st;
	int r = fstat(fd, &st) ? fail_set(fail, -errno, "%s", strerror(errno)) : 0;

	if (!r)
		r = parquet_footer_read(fd, 0, (uint64_t)st.st_size, shapes, nr, &footer, fail);
	if (r)
		return r;
	r = parquet_pages_init(&pages, fail);
	if (!r && footer.nr_groups) {
		r = parquet_cursor_open(&cursor, &footer, 0, footer.nr_groups, shapes, nr, &pages, fail);
		r = read_rows(&cursor, &at, see, arg, r, fail);
	}
	parquet_cursor_close(&cursor);
	parquet_pages_release(&pages);
	parquet_footer_release(&footer);
	return r;
}
