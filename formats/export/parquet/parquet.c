// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/last_tasks_internal.h"
#include "formats/export/parquet/groups_internal.h"
#include "formats/export/parquet/writer_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/columns/cell.h"
#include "lib/meaning/columns/own.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/reader/reader.h"

/*
 * Parquet, a file for each type of event, lost.parquet, clock.parquet and who.parquet; of machines whose clocks were
 * compared also clock_error.parquet. The columns are ts, cpu, pid, comm, tgid, flags, preempt_count, instance, and
 * the fields: integers of their size and sign, texts, arrays of integers as lists; structures as JSON; null beyond a
 * record's end. When all open row groups reach BYTES_MAX, the largest is written.
 */

enum { BYTES_MAX = 24 << 20, COLUMNS_MAX = 500, FACTS = 12, NAME_LEN_MAX = 140, FILES_MAX = 1 << 16 };

/* The columns that all files have, in front of those of the event's fields; and those of lost.parquet. */
static const enum column_what own[] = { COLUMN_TS,   COLUMN_CPU,   COLUMN_PID,           COLUMN_COMM,
					COLUMN_TGID, COLUMN_FLAGS, COLUMN_PREEMPT_COUNT, COLUMN_INSTANCE };
static const enum column_what lost[] = { COLUMN_TS, COLUMN_CPU, COLUMN_LOST, COLUMN_INSTANCE };
static const struct column_shape dates[] = {
	{ .name = "ts", .bits = 64, .is_signed = true },
	{ .name = "wall_ns", .bits = 64, .is_signed = true },
	{ .name = "bound_ns", .bits = 64, .is_signed = true, .optional = true },
	{ .name = "drift", .bits = 64, .is_signed = true },
};

/* Behind these, and before the instance, are those of enum who_part. */
static const struct column_shape whose[] = {
	{ .name = "pid", .bits = 32, .is_signed = true },
	{ .name = "ts", .bits = 64, .is_signed = true },
	{ .name = "dur", .bits = 64, .is_signed = true },
	{ .name = "tgid", .bits = 32, .is_signed = true, .optional = true },
};

enum {
	OWN_NR = array_size(own),
	LOST_NR = array_size(lost),
	DATES_NR = array_size(dates),
	WHOSE_NR = array_size(whose)
};

/* The files that have no event. */
enum { MADE_LOST, MADE_CLOCK, MADE_WHO, MADE_EVENTS };

/* A file and its event. */
struct made {
	struct parquet_file file;
	char name[NAME_LEN_MAX + 16]; /* without ".parquet" */
	char event[2 * 64 + 2];       /* "sched:sched_switch" */
	size_t buffer;
};

struct kind {
	struct made *made; /* NULL: left out; borrowed */
	struct cell *cells;
	size_t nr_cells;
	const struct decoder *decoder; /* NULL: no plugin knows more; borrowed */
};

struct parquet {
	struct export export; /* first */
	struct parquet_groups groups;
	struct kinds kinds;
	struct made **made;       /* begin with MADE_LOST, MADE_CLOCK and MADE_WHO */
	struct made *clock_error; /* one of them; NULL: no clocks were compared */
	size_t nr_made;
	size_t bytes; /* bytes of all open groups */
	struct cell_making making;
	char date[32]; /* the offset from ts to the time of day; "" when unknown */
	bool begun;
	uint64_t first, last; /* times of events */
	struct u64_map tasks; /* by buffer << 32 | PID: that occurred */
	struct last_tasks seen;
	uint64_t wide;
};

static void kind_free(void *memory)
{
	struct kind *kind = memory;

	free(kind->cells);
	free(kind);
}

static void parquet_free(struct export *export)
{
	struct parquet *parquet = (struct parquet *)export;

	kinds_release(&parquet->kinds);
	parquet_groups_release(&parquet->groups);
	for (size_t i = 0; i < parquet->nr_made; i++) {
		if (parquet->made[i])
			parquet_file_release(&parquet->made[i]->file);
		free(parquet->made[i]);
	}
	free(parquet->made);
	cell_making_release(&parquet->making);
	u64_map_release(&parquet->tasks);
	free(parquet);
}

static int parquet_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct parquet *parquet = calloc(1, sizeof(*parquet));
	int r;

	if (!parquet)
		return fail_memory(fail);
	u64_map_init(&parquet->tasks, 1);
	if (kinds_init(&parquet->kinds, input->reader->nr_buffers, kind_free) || !cell_making_init(&parquet->making))
		r = fail_memory(fail);
	else
		r = parquet_groups_init(&parquet->groups, input->pool, fail);
	if (r)
		parquet_free(&parquet->export);
	else
		*ret = &parquet->export;
	return r;
}

static bool is_named(const struct parquet *parquet, const char *name)
{
	for (size_t i = 0; i < parquet->nr_made; i++)
		if (!strcasecmp(parquet->made[i]->name, name))
			return true;
	return false;
}

/* Makes the name of a file from the letters, digits and '_' of `name`; the name must be free. */
static void name_file(const struct parquet *parquet, struct made *made, const char *name)
{
	size_t len = 0;

	for (; name[len] && len < NAME_LEN_MAX; len++)
		made->name[len] = isalnum((unsigned char)name[len]) || name[len] == '.' ? name[len] : '_';
	if (*made->name == '.')
		*made->name = '_';
	for (unsigned i = 2; is_named(parquet, made->name); i++)
		snprintf(made->name + len, sizeof(made->name) - len, ".%u", i);
}

static struct made *made_new(struct parquet *parquet, const char *name, const struct column_shape *shapes, size_t nr)
{
	struct made *made = calloc(1, sizeof(*made)), **slot;

	if (!made || !parquet_file_init(&made->file, shapes, nr)) {
		free(made);
		return NULL;
	}
	name_file(parquet, made, name);
	slot = vec_push(parquet->made, parquet->nr_made);
	if (!slot) {
		parquet_file_release(&made->file);
		free(made);
		return NULL;
	}
	*slot = made;
	snprintf(made->file.name, sizeof(made->file.name), "%s.parquet", made->name);
	return made;
}

static void fill_shapes(const enum column_what *whats, size_t nr, struct column_shape *ret)
{
	for (size_t i = 0; i < nr; i++)
		ret[i] = *column_own_shape(whats[i]);
}

/* Before the files of events, which get another name if one is called so. */
static void begin_clock_errors(struct parquet *parquet)
{
	const struct column_shape shapes[] = { *column_own_shape(COLUMN_INSTANCE),
					       { .name = "ns", .bits = 64, .is_signed = true } };
	const struct reader *reader = parquet->export.reader;
	bool any = false;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		any |= reader->buffers[i].context->compared;
	if (any)
		parquet->clock_error = made_new(parquet, "clock_error", shapes, array_size(shapes));
	if (any && !parquet->clock_error)
		export_no_memory(&parquet->export);
}

static void parquet_begin(struct export *export)
{
	struct parquet *parquet = (struct parquet *)export;
	struct column_shape shapes[LOST_NR], who[WHOSE_NR + WHO_PARTS + 1];

	fill_shapes(lost, LOST_NR, shapes);
	snprintf(shapes[2].name, sizeof(shapes[2].name), "count");
	memcpy(who, whose, sizeof(whose));
	for (enum who_part part = 0; part < WHO_PARTS; part++) {
		who[WHOSE_NR + part] = (struct column_shape){ .form = COLUMN_OF_TEXT, .optional = true };
		snprintf(who[WHOSE_NR + part].name, sizeof(who->name), "%s", who_part_word(part));
	}
	who[WHOSE_NR + WHO_PARTS] = *column_own_shape(COLUMN_INSTANCE);
	if (!made_new(parquet, "lost", shapes, LOST_NR) || !made_new(parquet, "clock", dates, DATES_NR) ||
	    !made_new(parquet, "who", who, array_size(who)))
		export_no_memory(export);
	begin_clock_errors(parquet);
}

static bool has_name(const struct column_shape *shapes, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcasecmp(shapes[i].name, name))
			return true;
	return false;
}

/* A field with the name of a column of weft, or of an earlier field, is field_NAME, with a number if that is used. */
static void name_column(struct column_shape *shapes, size_t at, const char *name)
{
	char *into = shapes[at].name;
	size_t size = sizeof(shapes[at].name);

	snprintf(into, size, "%.50s", name);
	if (has_name(shapes, at, into))
		snprintf(into, size, "field_%.50s", name);
	for (unsigned i = 2; has_name(shapes, at, into); i++)
		snprintf(into, size, "field_%.50s_%u", name, i);
	/* A format's text is untrusted, but a column's name must be UTF-8. */
	for (; *into; into++)
		if ((unsigned char)*into < ' ' || (unsigned char)*into >= 0x7f)
			*into = '_';
}

/* Whether another system has an event of this name: then the names of both files begin with the system's name. */
static bool is_ambiguous(const struct context *context, const struct format *format)
{
	const char *system, *name;
	int32_t id;

	for (size_t i = 0; schema_at(context->schema, i, &id, &system, &name); i++)
		if (id != format->id && !strcmp(name, format->name))
			return true;
	return false;
}

static bool is_same(const struct made *made, const char *event, const struct column_shape *shapes, size_t nr)
{
	if (strcmp(made->event, event) || made->file.nr_columns != nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct column_shape *has = &made->file.columns[i].shape, *wants = &shapes[i];

		if (strcmp(has->name, wants->name) || has->form != wants->form || has->bits != wants->bits ||
		    has->is_signed != wants->is_signed)
			return false;
	}
	return true;
}

/* The file of a type of event: instances share it if their fields are the same. */
static struct made *find_made(struct parquet *parquet, const struct event *event, const struct column_shape *shapes,
			      size_t nr)
{
	const struct format *format = event->type->format;
	char name[NAME_LEN_MAX + 1];
	struct made *made;

	snprintf(name, sizeof(name), "%.64s:%.64s", format->system, format->name);
	for (size_t i = MADE_EVENTS; i < parquet->nr_made; i++)
		if (is_same(parquet->made[i], name, shapes, nr))
			return parquet->made[i];
	if (parquet->nr_made == FILES_MAX)
		return NULL;
	if (is_ambiguous(export_context(&parquet->export, event), format))
		name[strcspn(name, ":")] = '.';
	made = made_new(parquet, strchr(name, ':') ? strchr(name, ':') + 1 : name, shapes, nr);
	if (made) {
		snprintf(made->event, sizeof(made->event), "%.64s:%.64s", format->system, format->name);
		made->buffer = event->buffer;
	} else {
		export_no_memory(&parquet->export);
	}
	return made;
}

/* The columns of what a plugin knows, in the order of its list. */
static void shape_facts(struct kind *kind, struct column_shape *shapes)
{
	const struct decoded_name *name;
	char text[80];

	for (size_t i = 0; kind->decoder && (name = decoder_name(kind->decoder, i)); i++) {
		struct cell *cell = &kind->cells[kind->nr_cells];
		struct column_shape *shape = &shapes[OWN_NR + kind->nr_cells];

		cell_bind_fact(cell, name, shape);
		snprintf(text, sizeof(text), "decoded_%.40s", name->name);
		name_column(shapes, OWN_NR + kind->nr_cells++, text);
	}
}

static bool kind_fill(struct parquet *parquet, struct kind *kind, const struct format *format,
		      const struct event *event)
{
	const struct context *context = export_context(&parquet->export, event);
	const struct schema_abi *abi = &context->abi;
	size_t nr = format->nr_fields - format->nr_common, facts = 0;
	struct column_shape *shapes;

	if (context->plugins)
		kind->decoder = plugins_decoder(context->plugins, format);
	while (kind->decoder && decoder_name(kind->decoder, facts))
		facts++;
	parquet->wide += nr > COLUMNS_MAX;
	kind->nr_cells = nr > COLUMNS_MAX ? COLUMNS_MAX : nr;
	kind->cells = calloc(kind->nr_cells + facts + 1, sizeof(*kind->cells));
	shapes = calloc(OWN_NR + kind->nr_cells + facts, sizeof(*shapes));
	if (!kind->cells || !shapes) {
		free(shapes);
		return false;
	}
	fill_shapes(own, OWN_NR, shapes);
	for (size_t i = 0; i < kind->nr_cells; i++) {
		cell_bind(&kind->cells[i], &format->fields[format->nr_common + i], format, abi, &shapes[OWN_NR + i]);
		name_column(shapes, OWN_NR + i, format->fields[format->nr_common + i].name);
	}
	shape_facts(kind, shapes);
	kind->made = find_made(parquet, event, shapes, OWN_NR + kind->nr_cells);
	free(shapes);
	return true;
}

static const struct kind *kind_of(struct parquet *parquet, const struct event *event)
{
	struct kind *kind = kinds_find(&parquet->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = calloc(1, sizeof(*kind));
	if (kind && event->type->format && !kind_fill(parquet, kind, event->type->format, event)) {
		kind_free(kind);
		kind = NULL;
	}
	if (kind && kinds_set(&parquet->kinds, event, kind))
		return kind;
	export_no_memory(&parquet->export);
	return NULL;
}

static void put_value(struct parquet *parquet, struct parquet_file *file, size_t column,
		      const struct column_value *value)
{
	switch (value->kind) {
	case VALUE_IS_NULL:
	case VALUE_IS_REAL:
		parquet_file_null(file, column);
		return;
	case VALUE_IS_INTEGER:
		parquet_file_integer(file, column, value->number);
		return;
	case VALUE_IS_TEXT:
		parquet_file_text(file, column, value->text, value->len, &parquet->making.scratch);
		return;
	case VALUE_IS_LIST:
		for (size_t i = 0; i < value->len; i++)
			parquet_file_integer(file, column, value->list[i]);
		parquet_file_list(file, column, (uint32_t)value->len);
		return;
	}
}

static void put_own(struct parquet *parquet, struct parquet_file *file, const enum column_what *whats, size_t nr,
		    const struct event *event)
{
	const struct context *context = export_context(&parquet->export, event);
	struct column_value value;

	for (size_t i = 0; i < nr; i++) {
		column_own_read(whats[i], context, event, &value);
		put_value(parquet, file, i, &value);
	}
}

static void put_cells(struct parquet *parquet, const struct kind *kind, const struct event *event)
{
	const struct schema_abi *abi = &export_context(&parquet->export, event)->abi;
	struct column_value value;

	if (kind->decoder && !decoded_row_fill(&parquet->making.row, kind->decoder, event->data, event->len))
		export_no_memory(&parquet->export);
	for (size_t i = 0; i < kind->nr_cells; i++) {
		if (!cell_read(&kind->cells[i], abi, event, &parquet->making, &value))
			export_no_memory(&parquet->export);
		put_value(parquet, &kind->made->file, OWN_NR + i, &value);
	}
}

static void look(struct parquet *parquet, const struct made *made)
{
	if (made->file.starved)
		export_no_memory(&parquet->export);
	if (parquet->groups.error)
		export_failed(&parquet->export, parquet->groups.error, &parquet->groups.failure);
}

static void flush(struct parquet *parquet, struct made *made)
{
	parquet->bytes -= made->file.bytes;
	parquet_groups_begin(&parquet->groups, &made->file, parquet->export.out);
	look(parquet, made);
}

/* Ends a row; `before` is the size of its file without the row. */
static void end_row(struct parquet *parquet, struct made *made, size_t before)
{
	struct made *largest = made;

	parquet_file_row(&made->file);
	parquet->bytes += made->file.bytes - before;
	if (parquet_file_is_full(&made->file))
		flush(parquet, made);
	if (parquet->bytes < BYTES_MAX)
		return;
	for (size_t i = 0; i < parquet->nr_made; i++)
		if (parquet->made[i]->file.bytes > largest->file.bytes)
			largest = parquet->made[i];
	flush(parquet, largest);
}

static void parquet_event(struct export *export, const struct event *event)
{
	struct parquet *parquet = (struct parquet *)export;
	const struct kind *kind;
	struct made *made;
	int64_t offset;
	size_t before;

	if (export->error || parquet->nr_made < MADE_EVENTS)
		return;
	if (!parquet->begun) {
		if (export_day_offset(export->reader, event->ts, &offset))
			snprintf(parquet->date, sizeof(parquet->date), "%" PRId64, offset);
		parquet->first = event->ts;
	}
	parquet->begun = true;
	parquet->last = event->ts;
	if (event->kind != EVENT_LOST && !last_tasks_same(&parquet->seen, event) &&
	    !u64_map_add(&parquet->tasks, (uint64_t)event->buffer << 32 | (uint32_t)event->pid))
		export_no_memory(export);
	kind = event->kind == EVENT_LOST ? NULL : kind_of(parquet, event);
	if (event->kind != EVENT_LOST && !kind)
		return;
	made = kind ? kind->made : parquet->made[MADE_LOST];
	if (!made) {
		parquet->export.left_out++;
		return;
	}
	before = made->file.bytes;
	if (kind) {
		put_own(parquet, &made->file, own, OWN_NR, event);
		put_cells(parquet, kind, event);
	} else {
		put_own(parquet, &made->file, lost, LOST_NR, event);
	}
	if (made->file.starved)
		export_no_memory(export);
	else
		end_row(parquet, made, before);
}

/* A row for the first event, and for each time at which the time of day was set. */
static void put_dates(struct parquet *parquet)
{
	struct made *clock = parquet->made[MADE_CLOCK];
	struct export_date date;

	for (uint64_t ts = parquet->first, next; ts != UINT64_MAX; ts = next) {
		size_t before = clock->file.bytes;

		if (!export_date_at(parquet->export.reader, ts, parquet->last, &date, &next))
			continue;
		parquet_file_integer(&clock->file, 0, date.ts);
		parquet_file_integer(&clock->file, 1, (uint64_t)date.wall_ns);
		if (date.bound_ns == WALL_NO_BOUND)
			parquet_file_null(&clock->file, 2);
		else
			parquet_file_integer(&clock->file, 2, date.bound_ns);
		parquet_file_integer(&clock->file, 3, (uint64_t)date.drift);
		end_row(parquet, clock, before);
	}
}

/* Of a file with several machines: so many ns the times of each instance may be off beside those of another machine. */
static void put_clock_errors(struct parquet *parquet)
{
	struct made *made = parquet->clock_error;

	for (size_t i = 0; made && i < parquet->export.reader->nr_buffers; i++) {
		const struct context *context = parquet->export.reader->buffers[i].context;
		size_t before = made->file.bytes;

		if (!context->compared)
			continue;
		parquet_file_text(&made->file, 0, context->instance, strlen(context->instance),
				  &parquet->making.scratch);
		parquet_file_integer(&made->file, 1, context->clock_error_ns);
		end_row(parquet, made, before);
	}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Rows of a task, for each time during which nothing changed. */
static void put_task(struct parquet *parquet, const struct context *context, int32_t pid)
{
	struct made *made = parquet->made[MADE_WHO];
	struct export_who who;

	for (uint64_t ts = parquet->first; ts < parquet->last; ts = who.until) {
		size_t before = made->file.bytes;

		export_who_at(context, pid, ts, parquet->last, &who);
		parquet_file_integer(&made->file, 0, (uint64_t)pid);
		parquet_file_integer(&made->file, 1, ts);
		parquet_file_integer(&made->file, 2, who.until - ts);
		if (who.tgid)
			parquet_file_integer(&made->file, 3, (uint64_t)who.tgid);
		else
			parquet_file_null(&made->file, 3);
		for (enum who_part part = 0; part < WHO_PARTS; part++) {
			const char *text = who.texts[part];

			if (text)
				parquet_file_text(&made->file, WHOSE_NR + part, text, strlen(text),
						  &parquet->making.scratch);
			else
				parquet_file_null(&made->file, WHOSE_NR + part);
		}
		parquet_file_text(&made->file, WHOSE_NR + WHO_PARTS, context->instance, strlen(context->instance),
				  &parquet->making.scratch);
		end_row(parquet, made, before);
	}
}

/* All tasks but the idle ones, in the order of their buffers and PIDs. */
static void put_who(struct parquet *parquet)
{
	cleanup_free uint64_t *keys = calloc(parquet->tasks.len + 1, sizeof(*keys));
	size_t nr = 0;
	uint64_t key;

	if (!keys) {
		export_no_memory(&parquet->export);
		return;
	}
	for (size_t at = 0; u64_map_next(&parquet->tasks, &at, &key);)
		if ((uint32_t)key)
			keys[nr++] = key;
	qsort(keys, nr, sizeof(*keys), by_number);
	for (size_t i = 0; i < nr; i++)
		put_task(parquet, parquet->export.reader->buffers[keys[i] >> 32].context, (int32_t)(uint32_t)keys[i]);
}

static void end_made(struct parquet *parquet, struct made *made)
{
	const struct context *context =
		parquet->export.reader->nr_buffers ? parquet->export.reader->buffers[made->buffer].context : NULL;
	const char *facts[FACTS] = { "weft.event", made->event };

	if (context) {
		facts[2] = "weft.clock";
		facts[3] = context->clock ? context->clock : "";
		facts[4] = "weft.release";
		facts[5] = context->release;
		facts[6] = "weft.machine";
		facts[7] = context->machine;
		facts[8] = *parquet->date ? "weft.date_offset_ns" : NULL;
		facts[9] = parquet->date;
	}
	parquet_file_end(&made->file, parquet->groups.at[0].writer, facts, parquet->export.out);
	look(parquet, made);
}

static void parquet_end(struct export *export)
{
	struct parquet *parquet = (struct parquet *)export;

	if (parquet->begun && !export->error) {
		put_dates(parquet);
		put_who(parquet);
		put_clock_errors(parquet);
	}
	for (size_t i = 0; i < parquet->nr_made && !export->error; i++)
		flush(parquet, parquet->made[i]);
	parquet_groups_end(&parquet->groups, export->out);
	for (size_t i = 0; i < parquet->nr_made && !export->error; i++)
		end_made(parquet, parquet->made[i]);
	if (parquet->export.left_out)
		export_note(export, "%" PRIu64 " events of types without a format are left out",
			    parquet->export.left_out);
	if (parquet->wide)
		export_note(export, "of %" PRIu64 " types only the first %d fields are columns", parquet->wide,
			    COLUMNS_MAX);
}

const struct export_ops parquet_export = {
	.name = "parquet",
	.summary = "a directory of Parquet files, one for each type of event, for DuckDB, Spark, ClickHouse and others",
	.takes_decode = true,
	.binary = true,
	.folder = true,
	.create = parquet_new,
	.free = parquet_free,
	.begin = parquet_begin,
	.event = parquet_event,
	.end = parquet_end,
};
