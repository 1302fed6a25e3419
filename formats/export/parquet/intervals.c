// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/intervals_internal.h"
#include "formats/export/parquet/groups_internal.h"
#include "formats/export/parquet/interval_file_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/reader.h"

/*
 * Parquet files, one for each table of intervals, each of which is always there and always has the same columns: a
 * directory of one recording (weft export), or of many (interval_tables.h). When all open row groups reach BYTES_MAX,
 * the largest is written; those of a lake are larger, because they have the rows of many recordings.
 */
enum { BYTES_MAX = 24 << 20, LAKE_BYTES_MAX = 96 << 20, OUT_SIZE = 1 << 20 };
#define DAY_NS (86400 * NS_PER_S)

struct interval_tables {
	struct interval_tables_options options; /* .leaf: NULL: of one recording */
	struct parquet_groups groups;
	struct parquet_file files[INTERVAL_TABLES];
	size_t nr_columns[INTERVAL_TABLES];
	unsigned nr_files;
	size_t bytes, bytes_max; /* of all open groups */
	struct out scratch, own;
	struct out *folder; /* `own`, or that of the export */
	int error;
	struct fail failure;
};

struct intervals_export {
	struct export export; /* first */
	struct interval_tables tables;
	struct interval_rows *intervals;
};

static void keep_error(struct interval_tables *tables, int error, const struct fail *failure)
{
	if (tables->error || !error)
		return;
	tables->error = error;
	tables->failure = *failure;
}

static void no_memory(struct interval_tables *tables)
{
	struct fail fail = FAIL_INIT;

	keep_error(tables, fail_memory(&fail), &fail);
}

static void look(struct interval_tables *tables, const struct parquet_file *file)
{
	if (file->starved)
		no_memory(tables);
	keep_error(tables, tables->groups.error, &tables->groups.failure);
}

static void flush(struct interval_tables *tables, struct parquet_file *file)
{
	tables->bytes -= file->bytes;
	parquet_groups_begin(&tables->groups, file, tables->folder);
	look(tables, file);
}

static void put_value(struct interval_tables *tables, struct parquet_file *file, size_t column,
		      const struct column_value *value)
{
	if (value->kind == VALUE_IS_INTEGER)
		parquet_file_integer(file, column, value->number);
	else if (value->kind == VALUE_IS_TEXT)
		parquet_file_text(file, column, value->text, value->len, &tables->scratch);
	else
		parquet_file_null(file, column);
}

static void put_row(void *arg, enum interval_table table, const struct column_value *values)
{
	struct interval_tables *tables = arg;
	struct parquet_file *file = &tables->files[table], *largest = file;
	size_t before = file->bytes;

	if (tables->error)
		return;
	for (size_t i = 0; i < tables->nr_columns[table]; i++)
		put_value(tables, file, i, &values[i]);
	if (file->starved) {
		no_memory(tables);
		return;
	}
	parquet_file_row(file);
	tables->bytes += file->bytes - before;
	if (parquet_file_is_full(file))
		flush(tables, file);
	if (tables->bytes < tables->bytes_max)
		return;
	for (size_t i = 0; i < INTERVAL_TABLES; i++)
		if (tables->files[i].bytes > largest->bytes)
			largest = &tables->files[i];
	flush(tables, largest);
}

static void release_tables(struct interval_tables *tables)
{
	parquet_groups_release(&tables->groups);
	while (tables->nr_files)
		parquet_file_release(&tables->files[--tables->nr_files]);
	out_release(&tables->scratch);
}

struct parquet_sort interval_sort(const char *table)
{
	if (!strcmp(table, interval_table_name(INTERVAL_ROLLUP)))
		/* kind, host, wall, ts */
		return (struct parquet_sort){ .nr = 4, .by = { INTERVAL_COMMON, 0, 4, 3 }, .time = 2, .span = DAY_NS };
	return (struct parquet_sort){ .nr = 3, .by = { 0, 4, 3 }, .time = 1, .span = DAY_NS };
}

void interval_order(const struct parquet_sort *sort, const struct column_shape *shapes, char ret[PARQUET_ORDER_MAX])
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < sort->nr && len < PARQUET_ORDER_MAX; i++)
		len += (size_t)snprintf(ret + len, PARQUET_ORDER_MAX - len, "%s%s", i ? " " : "",
					shapes[sort->by[i]].name);
}

void interval_file_end(struct parquet_file *file, struct parquet_writer *writer, struct out *folder, struct buf *files)
{
	char version[16], order[PARQUET_ORDER_MAX];
	struct column_shape shapes[INTERVAL_COLUMNS_MAX];
	const char *facts[] = { "weft.intervals", version, file->sort.nr ? PARQUET_ORDER : NULL, order, NULL };

	for (size_t i = 0; i < file->nr_columns; i++)
		shapes[i] = file->columns[i].shape;
	interval_order(&file->sort, shapes, order);
	snprintf(version, sizeof(version), "%d", INTERVALS_VERSION);
	parquet_file_end(file, writer, facts, folder);
	if (files && !buf_addf(files, "%s %" PRIu64 "\n", file->name, file->all_rows))
		file->starved = true;
}

static int open_files(struct interval_tables *tables, struct fail *fail)
{
	struct column_shape columns[INTERVAL_COLUMNS_MAX];
	const char *leaf = tables->options.leaf;

	for (unsigned i = 0; i < INTERVAL_TABLES; i++) {
		struct parquet_file *file = &tables->files[i];

		tables->nr_columns[i] = interval_columns(i, columns);
		if (!parquet_file_init(file, columns, tables->nr_columns[i]))
			return fail_memory(fail);
		tables->nr_files++;
		snprintf(file->name, sizeof(file->name), leaf ? "%s/%s" : "%s.parquet", interval_table_name(i), leaf);
		if (leaf)
			file->sort = interval_sort(interval_table_name(i));
	}
	return 0;
}

static int init_tables(struct interval_tables *tables, struct pool *pool, struct out *folder, struct fail *fail)
{
	int r = out_init(&tables->scratch, 0) ? 0 : fail_memory(fail);

	tables->folder = folder;
	tables->bytes_max = tables->options.leaf ? LAKE_BYTES_MAX : BYTES_MAX;
	if (!r)
		r = parquet_groups_init(&tables->groups, pool, fail);
	return r ? r : open_files(tables, fail);
}

static void end_tables(struct interval_tables *tables)
{
	for (unsigned i = 0; i < INTERVAL_TABLES && !tables->error; i++)
		flush(tables, &tables->files[i]);
	parquet_groups_end(&tables->groups, tables->folder);
	for (unsigned i = 0; i < INTERVAL_TABLES && !tables->error; i++) {
		interval_file_end(&tables->files[i], tables->groups.at[0].writer, tables->folder,
				  tables->options.files);
		look(tables, &tables->files[i]);
	}
}

int interval_tables_new(const struct interval_tables_options *options, struct interval_tables **ret, struct fail *fail)
{
	struct interval_tables *tables = calloc(1, sizeof(*tables));
	int r;

	if (!tables)
		return fail_memory(fail);
	tables->options = *options;
	r = out_init(&tables->own, 2 * OUT_SIZE) ? init_tables(tables, options->pool, &tables->own, fail) :
						   fail_memory(fail);
	if (r)
		interval_tables_free(tables);
	else
		*ret = tables;
	return r;
}

void interval_tables_free(struct interval_tables *tables)
{
	if (!tables)
		return;
	release_tables(tables);
	out_release(&tables->own);
	free(tables);
}

/* Gives the owner what there is. */
static int write_out(struct interval_tables *tables, struct fail *fail)
{
	int r;

	if (tables->error)
		return fail_set(fail, tables->error, "%s", tables->failure.text);
	if (tables->own.failed)
		return fail_memory(fail);
	r = tables->options.write(tables->options.arg, &tables->own, fail);
	out_clear(&tables->own);
	return r;
}

int interval_tables_add(struct interval_tables *tables, struct reader *reader, const char *file, struct fail *fail)
{
	const struct interval_sink sink = { .arg = tables, .file = file, .row = put_row };
	struct interval_rows *intervals;
	struct event event;
	int r = interval_rows_new(reader, &sink, &intervals, fail);

	if (r)
		return r;
	while (!r && (r = reader_next(reader, &event, fail)) > 0) {
		interval_rows_see(intervals, &event, reader_shows(reader, &event));
		r = out_len(&tables->own) >= OUT_SIZE || tables->error ? write_out(tables, fail) : 0;
	}
	if (!r)
		interval_rows_end(intervals);
	if (!r && interval_rows_starved(intervals))
		r = fail_memory(fail);
	interval_rows_free(intervals);
	return r;
}

int interval_tables_end(struct interval_tables *tables, struct fail *fail)
{
	end_tables(tables);
	return write_out(tables, fail);
}

static void no_row(void *arg, enum interval_table table, const struct column_value *values)
{
	(void)arg;
	(void)table;
	(void)values;
}

int interval_loads(struct reader *reader, struct interval_load **ret, size_t *ret_nr, struct fail *fail)
{
	const struct interval_sink sink = { .row = no_row };
	struct interval_load *loads = NULL, load, *added;
	struct interval_rows *intervals;
	struct event event;
	size_t nr = 0;
	int r = interval_rows_new(reader, &sink, &intervals, fail);

	if (r)
		return r;
	while ((r = reader_next(reader, &event, fail)) > 0)
		interval_rows_count(intervals, &event);
	for (size_t i = 0; !r && i < reader->nr_buffers; i++) {
		if (!interval_rows_load(intervals, i, &load))
			continue;
		added = vec_push(loads, nr);
		if (added)
			*added = load;
		else
			r = fail_memory(fail);
	}
	if (!r && interval_rows_starved(intervals))
		r = fail_memory(fail);
	interval_rows_free(intervals);
	if (r) {
		free(loads);
		return r;
	}
	*ret = loads;
	*ret_nr = nr;
	return 0;
}

static void intervals_export_free(struct export *export)
{
	struct intervals_export *intervals = (struct intervals_export *)export;

	interval_rows_free(intervals->intervals);
	release_tables(&intervals->tables);
	free(intervals);
}

static int intervals_export_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct intervals_export *intervals = calloc(1, sizeof(*intervals));
	const struct interval_sink sink = { .arg = intervals ? &intervals->tables : NULL, .row = put_row };
	int r;

	if (!intervals)
		return fail_memory(fail);
	r = init_tables(&intervals->tables, input->pool, NULL, fail);
	if (!r)
		r = interval_rows_new(input->reader, &sink, &intervals->intervals, fail);
	if (r)
		intervals_export_free(&intervals->export);
	else
		*ret = &intervals->export;
	return r;
}

static void tell_error(struct intervals_export *intervals)
{
	if (intervals->tables.error)
		export_failed(&intervals->export, intervals->tables.error, &intervals->tables.failure);
}

static void intervals_begin(struct export *export)
{
	((struct intervals_export *)export)->tables.folder = export->out;
}

static void intervals_event(struct export *export, const struct event *event)
{
	struct intervals_export *intervals = (struct intervals_export *)export;

	if (export->error)
		return;
	interval_rows_see(intervals->intervals, event, export->shows);
	tell_error(intervals);
}

static void intervals_finish(struct export *export)
{
	struct intervals_export *intervals = (struct intervals_export *)export;

	if (!export->error)
		interval_rows_end(intervals->intervals);
	if (interval_rows_starved(intervals->intervals))
		export_no_memory(export);
	if (!export->error)
		end_tables(&intervals->tables);
	tell_error(intervals);
}

const struct export_ops intervals_export = {
	.name = "intervals",
	.summary = "a directory of Parquet files of runs, waits, calls and interrupts, the same tables for each kernel",
	.binary = true,
	.folder = true,
	.of_tasks = true,
	.create = intervals_export_new,
	.free = intervals_export_free,
	.begin = intervals_begin,
	.event = intervals_event,
	.end = intervals_finish,
};
