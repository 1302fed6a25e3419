// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/interval_compact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/export/intervals_internal.h"
#include "formats/export/parquet/groups_internal.h"
#include "formats/export/parquet/interval_file_internal.h"
#include "formats/export/parquet/read_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"

/*
 * CURSORS_MEMORY: of all that are merged at once. FILE_MAX: a file ends behind the row group with which it gets so
 * large. DAY_ROWS: a row group with so many rows ends with its day.
 */
enum { CURSORS_MEMORY = 160 << 20, FILE_MAX = 120 << 20, OUT_SIZE = 1 << 20, DAY_ROWS = 1 << 14 };

/* Some groups whose rows are sorted. */
struct run {
	const struct parquet_footer *footer;
	size_t first, nr;
	const char *name; /* of the file */
};

struct runs {
	struct run *at;
	size_t nr;
};

/* A cursor and what its row is compared by: the day, and each column of the order as a text or a number. */
struct merged {
	struct parquet_cursor cursor;
	const char *name;
	size_t index;
	int64_t day;
	struct text_word texts[PARQUET_SORT_MAX];
	int64_t numbers[PARQUET_SORT_MAX];
};

struct merging {
	const struct interval_compaction *compaction;
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	size_t nr_columns;
	struct parquet_sort sort;
	char order[PARQUET_ORDER_MAX];
	struct parquet_footer **footers;
	size_t nr_footers;
	struct parquet_pages pages;
	struct parquet_groups groups;
	struct parquet_file file;
	bool open; /* the file is being filled */
	struct out out, scratch;
	struct buf last; /* the texts by which the row before is compared */
	int64_t last_day;
	unsigned nr_files;
	int to; /* a temporary file, which gets the output at `at`; -1: the files */
	uint64_t at;
};

static int write_out(struct merging *merging, struct fail *fail)
{
	const struct interval_compaction *compaction = merging->compaction;
	size_t len = out_len(&merging->out);
	int r;

	if (merging->groups.error)
		return fail_set(fail, merging->groups.error, "%s", merging->groups.failure.text);
	if (merging->out.failed || merging->file.starved)
		return fail_memory(fail);
	if (merging->to < 0) {
		r = compaction->write(compaction->arg, &merging->out, fail);
	} else {
		r = io_pwrite(merging->to, merging->out.start, len, merging->at);
		if (r)
			r = fail_set(fail, r, "cannot write a temporary file: %s", strerror(-r));
		merging->at += len;
	}
	out_clear(&merging->out);
	return r;
}

static int open_file(struct merging *merging, struct fail *fail)
{
	struct parquet_file *file = &merging->file;

	if (!parquet_file_init(file, merging->shapes, merging->nr_columns))
		return fail_memory(fail);
	merging->open = true;
	file->sort = merging->sort;
	file->bare = merging->to >= 0;
	snprintf(file->name, sizeof(file->name), "%s/%s-%u.parquet", merging->compaction->table,
		 merging->compaction->stem, file->bare ? 0 : ++merging->nr_files);
	return 0;
}

static int end_file(struct merging *merging, struct fail *fail)
{
	int r;

	parquet_groups_begin(&merging->groups, &merging->file, &merging->out);
	parquet_groups_end(&merging->groups, &merging->out);
	interval_file_end(&merging->file, merging->groups.at[0].writer, &merging->out,
			  merging->file.bare ? NULL : merging->compaction->files);
	r = write_out(merging, fail);
	parquet_file_release(&merging->file);
	merging->open = false;
	return r;
}

/* Between two rows. */
static int make_room(struct merging *merging, bool new_day, struct fail *fail)
{
	struct parquet_file *file = &merging->file;

	if (merging->open && (parquet_file_is_full(file) ||
			      (new_day && file->rows && (file->rows >= DAY_ROWS || file->offset >= INTERVAL_FILE_MIN))))
		parquet_groups_begin(&merging->groups, file, &merging->out);
	if (merging->open && merging->to < 0 && !file->rows &&
	    (file->offset >= FILE_MAX || (new_day && file->offset >= INTERVAL_FILE_MIN)) && end_file(merging, fail))
		return -1;
	if (out_len(&merging->out) >= OUT_SIZE && write_out(merging, fail))
		return -1;
	return merging->open ? 0 : open_file(merging, fail);
}

static void put_row(struct merging *merging, const struct merged *merged)
{
	struct parquet_file *file = &merging->file;
	struct text_word word;
	int64_t number;

	for (size_t i = 0; i < merging->nr_columns; i++) {
		if (column_is_text(&merging->shapes[i])) {
			if (parquet_cursor_text(&merged->cursor, i, &word))
				parquet_file_text(file, i, word.at, word.len, &merging->scratch);
			else
				parquet_file_null(file, i);
		} else if (parquet_cursor_integer(&merged->cursor, i, &number)) {
			parquet_file_integer(file, i, (uint64_t)number);
		} else {
			parquet_file_null(file, i);
		}
	}
	parquet_file_row(file);
}

static int compare(const struct merged *one, const struct merged *other)
{
	int order = (one->day > other->day) - (one->day < other->day);

	for (size_t i = 0; !order && i < PARQUET_SORT_MAX; i++) {
		order = text_word_compare(one->texts[i], other->texts[i]);
		if (!order)
			order = (one->numbers[i] > other->numbers[i]) - (one->numbers[i] < other->numbers[i]);
	}
	return order;
}

static bool is_before(const struct merged *one, const struct merged *other)
{
	int order = compare(one, other);

	return order ? order < 0 : one->index < other->index;
}

static void fill_key(const struct merging *merging, struct merged *merged)
{
	const struct parquet_sort *sort = &merging->sort;

	for (size_t i = 0; i < PARQUET_SORT_MAX; i++) {
		bool text = i < sort->nr && column_is_text(&merging->shapes[sort->by[i]]), known = i >= sort->nr;

		merged->texts[i] = (struct text_word){ .at = "" };
		merged->numbers[i] = 0;
		if (text)
			known = parquet_cursor_text(&merged->cursor, sort->by[i], &merged->texts[i]);
		else if (!known)
			known = parquet_cursor_integer(&merged->cursor, sort->by[i], &merged->numbers[i]);
		if (!known)
			merged->numbers[i] = INT64_MIN;
	}
	merged->day = parquet_sort_span(sort, merged->numbers[sort->time]);
}

/* Of a row whose page is about to go. */
static bool keep_texts(struct merging *merging, struct merged *merged)
{
	size_t at = 0;

	buf_clear(&merging->last);
	for (size_t i = 0; i < PARQUET_SORT_MAX; i++)
		if (!buf_add(&merging->last, merged->texts[i].at, merged->texts[i].len))
			return false;
	for (size_t i = 0; i < PARQUET_SORT_MAX; at += merged->texts[i++].len)
		if (merged->texts[i].len)
			merged->texts[i].at = merging->last.data + at;
	return true;
}

/* Moves heap[0] to its place. */
static void sift(struct merged **heap, size_t nr)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < nr) {
		struct merged *moved = heap[at];

		if (child + 1 < nr && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], moved))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

/* Goes to the next row of heap[0]. Its rows are in order, or the file is none of a lake. */
static int advance(struct merging *merging, struct merged **heap, size_t *nr, struct fail *fail)
{
	struct merged *merged = heap[0], before = *merged;
	int r;

	if (!keep_texts(merging, &before))
		return fail_memory(fail);
	r = parquet_cursor_next(&merged->cursor, fail);
	if (r < 0)
		return fail_in(fail, r, "'%s'", merged->name);
	if (!r) {
		heap[0] = heap[--*nr];
	} else {
		fill_key(merging, merged);
		if (compare(merged, &before) < 0)
			return fail_set(fail, -EBADMSG, "'%s': its rows are not in their order", merged->name);
	}
	sift(heap, *nr);
	return 0;
}

static int merge_rows(struct merging *merging, struct merged **heap, size_t nr, struct fail *fail)
{
	bool begun = false;
	int r = 0;

	for (size_t i = 1; i < nr; i++)
		for (size_t k = i; k && is_before(heap[k], heap[k - 1]); k--) {
			struct merged *moved = heap[k];

			heap[k] = heap[k - 1];
			heap[k - 1] = moved;
		}
	while (!r && nr) {
		bool new_day = begun && heap[0]->day != merging->last_day;

		r = make_room(merging, new_day, fail);
		if (r)
			return r;
		merging->last_day = heap[0]->day;
		begun = true;
		put_row(merging, heap[0]);
		r = merging->file.starved ? fail_memory(fail) : advance(merging, heap, &nr, fail);
	}
	return r || !merging->open ? r : end_file(merging, fail);
}

/*
 * Opens as many of the runs as there is memory for, two at least, and merges them: into the files if these are all,
 * else into the temporary file. *ret: how many.
 */
static int merge_some(struct merging *merging, const struct runs *runs, size_t from, int temporary, size_t *ret,
		      struct fail *fail)
{
	size_t nr = runs->nr - from, memory = 0, opened = 0;
	struct merged *merged = calloc(nr, sizeof(*merged)), **heap = calloc(nr, sizeof(struct merged *));
	size_t most = merging->compaction->memory ? merging->compaction->memory : CURSORS_MEMORY;
	int r = merged && heap ? 0 : fail_memory(fail);

	while (r >= 0 && opened < nr && (memory < most || opened < 2)) {
		const struct run *run = &runs->at[from + opened];
		struct merged *one = &merged[opened];

		r = parquet_cursor_open(&one->cursor, run->footer, run->first, run->nr, merging->shapes,
					merging->nr_columns, &merging->pages, fail);
		one->name = run->name;
		one->index = opened;
		heap[opened++] = one;
		if (r < 0)
			(void)fail_in(fail, r, "'%s'", one->name);
		else
			fill_key(merging, one);
		memory += parquet_cursor_memory(&one->cursor);
	}
	*ret = opened;
	merging->to = !from && opened == nr ? -1 : temporary;
	if (r >= 0)
		r = merge_rows(merging, heap, opened, fail);
	for (size_t i = 0; i < opened; i++)
		parquet_cursor_close(&merged[i].cursor);
	free(merged);
	free(heap);
	return r;
}

static int add_run(struct runs *runs, const struct parquet_footer *footer, size_t first, size_t nr, const char *name,
		   struct fail *fail)
{
	struct run *run = vec_push(runs->at, runs->nr);

	if (!run)
		return fail_memory(fail);
	*run = (struct run){ .footer = footer, .first = first, .nr = nr, .name = name };
	return 0;
}

/* The footer of a file, which stays until the end. */
static int add_footer(struct merging *merging, int fd, uint64_t base, uint64_t size, const struct parquet_footer **ret,
		      struct fail *fail)
{
	struct parquet_footer *footer = calloc(1, sizeof(*footer)), **added;
	int r = footer ? parquet_footer_read(fd, base, size, merging->shapes, merging->nr_columns, footer, fail) :
			 fail_memory(fail);

	added = r ? NULL : vec_push(merging->footers, merging->nr_footers);
	if (!added) {
		free(footer);
		return r ? r : fail_memory(fail);
	}
	*added = footer;
	*ret = footer;
	return 0;
}

/* Copies rows of another order, which an older weft has written, into the temporary file that the first pass reads. */
static int copy_rows(struct merging *merging, const struct parquet_footer *from, const char *name, struct fail *fail)
{
	struct merged merged = { .name = name };
	int r = parquet_cursor_open(&merged.cursor, from, 0, from->nr_groups, merging->shapes, merging->nr_columns,
				    &merging->pages, fail);

	merging->to = merging->compaction->temporaries[1];
	while (r > 0) {
		if (make_room(merging, false, fail)) {
			r = -1;
			break;
		}
		put_row(merging, &merged);
		r = merging->file.starved ? fail_memory(fail) : parquet_cursor_next(&merged.cursor, fail);
	}
	parquet_cursor_close(&merged.cursor);
	return r ? fail_in(fail, r, "'%s'", name) : end_file(merging, fail);
}

/* Each group of the copy is sorted. */
static int sort_again(struct merging *merging, const struct parquet_footer *from, const char *name, struct runs *runs,
		      struct fail *fail)
{
	const struct parquet_footer *footer;
	uint64_t start = merging->at;
	int r = from->nr_groups ? copy_rows(merging, from, name, fail) : 0;

	if (r || !from->nr_groups)
		return r;
	r = add_footer(merging, merging->to, start, merging->at - start, &footer, fail);
	for (size_t i = 0; !r && i < footer->nr_groups; i++)
		r = add_run(runs, footer, i, 1, name, fail);
	return r;
}

/* What older files, which do not tell their order, have. */
static bool is_other_order(const struct merging *merging, const struct parquet_footer *footer)
{
	return strcmp(*footer->order ? footer->order : "host wall ts", merging->order) != 0;
}

/* What this has written is sorted as a whole, a group of what was added alone. */
static int add_input(struct merging *merging, size_t input, struct runs *runs, struct fail *fail)
{
	const struct interval_compaction *compaction = merging->compaction;
	const char *name = compaction->names[input];
	const struct parquet_footer *footer;
	struct stat st;
	int r;

	if (fstat(compaction->inputs[input], &st))
		return fail_set(fail, -errno, "'%s': %s", name, strerror(errno));
	r = add_footer(merging, compaction->inputs[input], 0, (uint64_t)st.st_size, &footer, fail);
	if (r)
		return fail_in(fail, r, "'%s/%s'", compaction->table, name);
	if (is_other_order(merging, footer))
		return sort_again(merging, footer, name, runs, fail);
	if (strchr(name, '-'))
		return footer->nr_groups ? add_run(runs, footer, 0, footer->nr_groups, name, fail) : 0;
	for (size_t i = 0; !r && i < footer->nr_groups; i++)
		r = add_run(runs, footer, i, 1, name, fail);
	return r;
}

/* Each pass makes fewer runs of many, until all are merged into the files. */
static int merge_all(struct merging *merging, struct runs *runs, struct fail *fail)
{
	const int *temporaries = merging->compaction->temporaries;
	int r = 0;

	for (unsigned pass = 0; !r && runs->nr; pass++) {
		struct runs next = { .nr = 0 };
		const struct parquet_footer *footer;
		size_t some = 0;

		merging->at = 0;
		for (size_t from = 0; !r && from < runs->nr; from += some) {
			uint64_t start = merging->at;
			int to = temporaries[pass % 2];

			r = merge_some(merging, runs, from, to, &some, fail);
			if (r || merging->to < 0)
				continue;
			r = add_footer(merging, to, start, merging->at - start, &footer, fail);
			if (!r)
				r = add_run(&next, footer, 0, footer->nr_groups, "a temporary file", fail);
		}
		free(runs->at);
		*runs = next;
	}
	return r;
}

/* A table without rows has a file, too: readers find its columns. */
static int write_empty(struct merging *merging, struct fail *fail)
{
	int r = open_file(merging, fail);

	return r ? r : end_file(merging, fail);
}

int interval_file_day(int fd, const char *table, int64_t *ret, struct fail *fail)
{
	const struct parquet_sort sort = interval_sort(table);
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	struct parquet_footer footer;
	struct stat st;
	size_t nr;
	int r = interval_table_find(table, shapes, &nr);

	if (r)
		return fail_set(fail, r, "there is no table '%s'", table);
	if (fstat(fd, &st))
		return fail_set(fail, -errno, "%s", strerror(errno));
	r = parquet_footer_read(fd, 0, (uint64_t)st.st_size, shapes, nr, &footer, fail);
	if (r)
		return r;
	*ret = parquet_sort_span(&sort, footer.most[sort.by[sort.time]]);
	parquet_footer_release(&footer);
	return 0;
}

static int start(struct merging *merging, struct fail *fail)
{
	int r = interval_table_find(merging->compaction->table, merging->shapes, &merging->nr_columns);

	if (r)
		return fail_set(fail, r, "there is no table '%s'", merging->compaction->table);
	merging->sort = interval_sort(merging->compaction->table);
	interval_order(&merging->sort, merging->shapes, merging->order);
	if (!out_init(&merging->out, 2 * OUT_SIZE) || !out_init(&merging->scratch, 0))
		return fail_memory(fail);
	r = parquet_pages_init(&merging->pages, fail);
	return r ? r : parquet_groups_init(&merging->groups, merging->compaction->pool, fail);
}

static void release(struct merging *merging)
{
	parquet_groups_release(&merging->groups);
	if (merging->open)
		parquet_file_release(&merging->file);
	parquet_pages_release(&merging->pages);
	for (size_t i = 0; i < merging->nr_footers; i++) {
		parquet_footer_release(merging->footers[i]);
		free(merging->footers[i]);
	}
	free(merging->footers);
	buf_release(&merging->last);
	if (merging->out.start)
		out_release(&merging->out);
	if (merging->scratch.start)
		out_release(&merging->scratch);
}

int interval_compact(const struct interval_compaction *compaction, struct fail *fail)
{
	struct merging merging = { .compaction = compaction, .to = -1 };
	struct runs runs = { .nr = 0 };
	int r = start(&merging, fail);

	for (size_t i = 0; !r && i < compaction->nr_inputs; i++)
		r = add_input(&merging, i, &runs, fail);
	if (!r)
		r = merge_all(&merging, &runs, fail);
	if (!r && !merging.nr_files)
		r = write_empty(&merging, fail);
	free(runs.at);
	release(&merging);
	return r;
}
