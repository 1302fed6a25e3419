// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An SQLite database. One table for each type of event of each instance, e_SYSTEM_EVENT, with ts, cpu, utid, a column
 * for each field, NAME_sym where the print fmt names the field's values, and decoded_NAME for each fact that a plugin
 * lists; the view ftrace_event has them all, and
 * event_table says which table is whose; lost, and the tables of sqlite_tracks.h; meta. Integers are SQLite's of 64
 * bits with a sign: those from 2^63 on have the same bits and are negative, as printf('%x', column) shows. Arrays and
 * structures are JSON.
 * One thread writes all of it: a page of a table has its place in the file when it is full, behind those of the other
 * tables, and each row has the number of a name, a task or a track, which is new when it is first met.
 */
#include "formats/export/exports_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/sqlite/db_internal.h"
#include "formats/export/sqlite/tracks_internal.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/schema/value_names.h"
#include "lib/meaning/timeline/path.h"

/* SQLite accepts 500 SELECTs in one view and 2000 columns; a statement takes memory as long as it is prepared. */
enum { KINDS_MAX = 4096, COLUMNS_MAX = 500, VIEW_MAX = 400, TABLE_NAME = 160 };

struct kind {
	struct db_table *table; /* NULL: left out; borrowed */
	struct cell {
		struct place place;
		bool text;
		struct value_names *names; /* of its values, for the column NAME_sym; NULL: they have none */
	} * cells;
	size_t nr_cells;
	bool named;                    /* a cell has names of its values */
	const struct decoder *decoder; /* NULL: no plugin knows more; borrowed */
};

/* A table of events, for the view of all events. */
struct made {
	char name[TABLE_NAME];
	char event[80], system[80];
	size_t buffer;
};

struct sqlite {
	struct export export; /* first */
	struct db *db;        /* borrowed */
	struct kinds kinds;
	struct sqlite_tracks **tracks; /* by buffer */
	size_t nr_buffers;
	struct db_table *meta, *lost;
	struct sqlite_tables tables;
	struct made *made;
	size_t nr_made;
	struct decoded_row row;
	struct out json;
	uint64_t wide, first, last;
	bool begun;
};

static void kind_free(void *memory)
{
	struct kind *kind = memory;

	for (size_t i = 0; i < kind->nr_cells; i++)
		value_names_free(kind->cells[i].names);
	free(kind->cells);
	free(kind);
}

static void sqlite_free(struct export *export)
{
	struct sqlite *sqlite = (struct sqlite *)export;

	kinds_release(&sqlite->kinds);
	for (size_t i = 0; sqlite->tracks && i < sqlite->nr_buffers; i++)
		sqlite_tracks_free(sqlite->tracks[i]);
	free(sqlite->tracks);
	free(sqlite->made);
	decoded_row_release(&sqlite->row);
	if (sqlite->json.start)
		out_release(&sqlite->json);
	free(sqlite);
}

static void put_word(struct sqlite *sqlite, const char *key, const char *value)
{
	db_text(sqlite->db, key, strlen(key));
	db_text(sqlite->db, value, strlen(value));
	db_insert(sqlite->db, sqlite->meta);
}

static void put_number(struct sqlite *sqlite, const char *key, uint64_t value)
{
	db_text(sqlite->db, key, strlen(key));
	db_s64(sqlite->db, (int64_t)value);
	db_insert(sqlite->db, sqlite->meta);
}

static void put_meta(struct sqlite *sqlite, const struct context *context)
{
	put_word(sqlite, "clock", context->clock ? context->clock : "");
	put_word(sqlite, "release", context->release);
	put_word(sqlite, "machine", context->machine);
}

static int init(struct sqlite *sqlite, const struct export_input *input, struct fail *fail)
{
	size_t nr_buffers = input->reader->nr_buffers;
	const struct fail *failure;
	int r;

	sqlite->db = input->db;
	sqlite->tracks = calloc(nr_buffers + 1, sizeof(struct sqlite_tracks *));
	if (!sqlite->tracks || !out_init(&sqlite->json, 1024) || kinds_init(&sqlite->kinds, nr_buffers, kind_free))
		return fail_memory(fail);
	sqlite->meta = db_table(sqlite->db, "meta", "key TEXT, value");
	sqlite_tables_make(&sqlite->tables, sqlite->db);
	sqlite->lost = db_table(sqlite->db, "lost", "ts INTEGER, cpu INTEGER, count INTEGER, instance TEXT");
	sqlite->nr_buffers = nr_buffers;
	for (size_t i = 0; i < nr_buffers; i++) {
		const struct context *context = input->reader->buffers[i].context;

		if (!i)
			put_meta(sqlite, context);
		sqlite->tracks[i] = sqlite_tracks_new(sqlite->db, &sqlite->tables, context, (uint16_t)i,
						      input->reader->buffers[i].shown);
		if (!sqlite->tracks[i])
			return fail_memory(fail);
	}
	r = db_error(sqlite->db, &failure);
	return r ? fail_set(fail, r, "%s", failure->text) : 0;
}

static int sqlite_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	struct sqlite *sqlite = calloc(1, sizeof(*sqlite));
	int r = sqlite ? init(sqlite, input, fail) : fail_memory(fail);

	if (r && sqlite)
		sqlite_free(&sqlite->export);
	else if (!r)
		*ret = &sqlite->export;
	return r;
}

/* Writes a quoted name of SQL; characters that no name of the kernel has become "_". */
static void put_name(struct out *out, const char *name, const char *behind)
{
	out_char(out, '"');
	for (const char *at = name; *at && at < name + 64; at++)
		out_char(out, isalnum((unsigned char)*at) ? *at : '_');
	out_str(out, behind);
	out_char(out, '"');
}

static bool is_taken(const struct format *format, uint32_t index)
{
	static const char *const ours[] = { "ts", "cpu", "utid", "rowid" };
	const char *name = format->fields[index].name;

	for (size_t i = 0; i < array_size(ours); i++)
		if (!strcasecmp(ours[i], name))
			return true;
	for (uint32_t i = format->nr_common; i < index; i++)
		if (!strcasecmp(format->fields[i].name, name))
			return true;
	return false;
}

/* The columns of what a plugin knows, in the order of its list. */
static void put_decoded_columns(const struct decoder *decoder, const struct format *format, struct out *out)
{
	const struct decoded_name *listed;

	for (size_t i = 0; decoder && (listed = decoder_name(decoder, i)); i++) {
		char name[80];

		snprintf(name, sizeof(name), "decoded_%.60s", listed->name);
		out_str(out, ", ");
		put_name(out, name, format_field(format, name) ? "_2" : "");
		out_str(out, listed->is_number ? " INTEGER" : " TEXT");
	}
}

/* The columns with the names of values, behind the fields. */
static void put_sym_columns(const struct kind *kind, const struct format *format, struct out *out)
{
	for (uint32_t i = 0; i < kind->nr_cells; i++) {
		const char *field = format->fields[format->nr_common + i].name;
		char name[80];

		if (!kind->cells[i].names)
			continue;
		snprintf(name, sizeof(name), "%.58s_sym", field);
		out_str(out, ", ");
		put_name(out, name, format_field(format, name) ? "_2" : "");
		out_str(out, " TEXT");
	}
}

/* A column whose name is used already gets a number after it. */
static void put_columns(const struct kind *kind, const struct format *format, struct out *out)
{
	out_str(out, "ts INTEGER, cpu INTEGER, utid INTEGER");
	for (uint32_t i = 0; i < kind->nr_cells; i++) {
		char number[16];

		snprintf(number, sizeof(number), "_%u", i + 1);
		out_str(out, ", ");
		put_name(out, format->fields[format->nr_common + i].name,
			 is_taken(format, format->nr_common + i) ? number : "");
		out_str(out, kind->cells[i].place.size ? " INTEGER" : " TEXT");
	}
	put_sym_columns(kind, format, out);
	put_decoded_columns(kind->decoder, format, out);
	out_char(out, '\0');
}

static bool is_made(const struct sqlite *sqlite, const char *name)
{
	for (size_t i = 0; i < sqlite->nr_made; i++)
		if (!strcasecmp(sqlite->made[i].name, name))
			return true;
	return false;
}

/* Names the table e_SYSTEM_EVENT, with a number if another instance has such a table. */
static struct made *name_table(struct sqlite *sqlite, const struct format *format, size_t buffer)
{
	struct made *made = vec_push(sqlite->made, sqlite->nr_made);
	int len;

	if (!made)
		return NULL;
	sqlite->nr_made--;
	made->buffer = buffer;
	len = snprintf(made->name, sizeof(made->name), "e_%.60s_%.60s", format->system, format->name);
	snprintf(made->event, sizeof(made->event), "%.79s", format->name);
	snprintf(made->system, sizeof(made->system), "%.79s", format->system);
	for (char *at = made->name; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	for (unsigned i = 2; is_made(sqlite, made->name); i++)
		snprintf(made->name + len, sizeof(made->name) - (size_t)len, "_%u", i);
	sqlite->nr_made++;
	return made;
}

static bool kind_fill(struct sqlite *sqlite, struct kind *kind, const struct format *format, const struct event *event)
{
	const struct schema_abi *abi = &export_context(&sqlite->export, event)->abi;
	size_t nr = format->nr_fields - format->nr_common;
	const struct made *made;
	int err = 0;

	if (sqlite->nr_made == KINDS_MAX)
		return true;
	nr = nr > COLUMNS_MAX ? COLUMNS_MAX : nr;
	sqlite->wide += format->nr_fields - format->nr_common > COLUMNS_MAX;
	kind->cells = calloc(nr + 1, sizeof(*kind->cells));
	kind->nr_cells = kind->cells ? nr : 0;
	made = kind->cells ? name_table(sqlite, format, event->buffer) : NULL;
	if (!made)
		return false;
	for (size_t i = 0; !err && i < kind->nr_cells; i++) {
		const struct field *field = &format->fields[format->nr_common + i];
		struct cell *cell = &kind->cells[i];

		*cell = (struct cell){ .place = place_of(field, abi), .text = value_is_text(field) };
		err = value_names_new(abi, &event->type->context->env, format, field, &cell->names, NULL);
		kind->named |= cell->names != NULL;
	}
	if (err)
		return false;
	if (event->type->context->plugins)
		kind->decoder = plugins_decoder(event->type->context->plugins, format);
	out_clear(&sqlite->json);
	put_columns(kind, format, &sqlite->json);
	kind->table = db_table(sqlite->db, made->name, sqlite->json.start);
	return true;
}

static const struct kind *kind_of(struct sqlite *sqlite, const struct event *event)
{
	struct kind *kind = kinds_find(&sqlite->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = calloc(1, sizeof(*kind));
	if (kind && event->type->format && !kind_fill(sqlite, kind, event->type->format, event)) {
		kind_free(kind);
		kind = NULL;
	}
	if (kind && kinds_set(&sqlite->kinds, event, kind))
		return kind;
	export_no_memory(&sqlite->export);
	return NULL;
}

static void put_cell(struct sqlite *sqlite, const struct cell *cell, const struct event *event)
{
	const char *text;
	size_t len;

	if (cell->place.size) {
		if (cell->place.offset <= event->len && cell->place.size <= event->len - cell->place.offset)
			db_s64(sqlite->db, place_s64(&cell->place, event));
		else
			db_null(sqlite->db);
		return;
	}
	if (cell->text) {
		if (place_string(&cell->place, event, &text, &len))
			db_text(sqlite->db, text, len);
		else
			db_null(sqlite->db);
		return;
	}
	out_clear(&sqlite->json);
	value_put(cell->place.field, &export_context(&sqlite->export, event)->abi, event, false, &sqlite->json);
	if (strncmp(sqlite->json.start, "null", 4))
		db_text(sqlite->db, sqlite->json.start, out_len(&sqlite->json));
	else
		db_null(sqlite->db);
}

static void put_names(struct sqlite *sqlite, const struct kind *kind, const struct event *event)
{
	const char *text;
	size_t len;

	for (size_t i = 0; i < kind->nr_cells; i++) {
		const struct cell *cell = &kind->cells[i];

		if (!cell->names)
			continue;
		if (cell->place.offset <= event->len && cell->place.size <= event->len - cell->place.offset &&
		    value_names_find(cell->names, place_u64(&cell->place, event), &text, &len))
			db_text(sqlite->db, text, len);
		else
			db_null(sqlite->db);
	}
}

static void put_decoded(struct sqlite *sqlite, const struct decoder *decoder, const struct event *event)
{
	const struct decoded_name *listed;

	if (!decoded_row_fill(&sqlite->row, decoder, event->data, event->len))
		export_no_memory(&sqlite->export);
	for (size_t i = 0; (listed = decoder_name(decoder, i)); i++) {
		const struct decoded *decoded = decoded_row_find(&sqlite->row, listed->name);

		if (!decoded)
			db_null(sqlite->db);
		else if (decoded->kind == DECODED_TEXT)
			db_text(sqlite->db, decoded->text, decoded->len);
		else
			db_s64(sqlite->db, (int64_t)decoded->value);
	}
}

static void put_lost(struct sqlite *sqlite, const struct event *event)
{
	const char *instance = export_context(&sqlite->export, event)->instance;

	db_s64(sqlite->db, (int64_t)event->ts);
	db_s64(sqlite->db, event->cpu);
	if (event->lost > 0)
		db_s64(sqlite->db, event->lost);
	else
		db_null(sqlite->db);
	db_text(sqlite->db, instance, strlen(instance));
	db_insert(sqlite->db, sqlite->lost);
}

static void tell_failure(struct sqlite *sqlite)
{
	const struct fail *failure;
	int error = db_error(sqlite->db, &failure);

	if (error)
		export_failed(&sqlite->export, error, failure);
}

static void sqlite_event(struct export *export, const struct event *event)
{
	struct sqlite *sqlite = (struct sqlite *)export;
	struct sqlite_tracks *tracks = sqlite->tracks[event->buffer];
	const struct kind *kind;

	if (!sqlite->begun)
		sqlite->first = event->ts;
	sqlite->begun = true;
	sqlite->last = event->ts;
	sqlite_tracks_see(tracks, export, event);
	if (event->kind == EVENT_LOST) {
		put_lost(sqlite, event);
		return;
	}
	kind = export->shows ? kind_of(sqlite, event) : NULL;
	if (!kind)
		return;
	if (!kind->table) {
		sqlite->export.left_out++;
		return;
	}
	db_s64(sqlite->db, (int64_t)event->ts);
	db_s64(sqlite->db, event->cpu);
	db_s64(sqlite->db, sqlite_tracks_utid(tracks, event->pid));
	for (size_t i = 0; i < kind->nr_cells; i++)
		put_cell(sqlite, &kind->cells[i], event);
	if (kind->named)
		put_names(sqlite, kind, event);
	if (kind->decoder)
		put_decoded(sqlite, kind->decoder, event);
	db_insert(sqlite->db, kind->table);
	if (__builtin_expect(sqlite->db->pages.error, 0))
		tell_failure(sqlite);
}

/* Writes a string of SQL. */
static void put_quoted(struct out *out, const char *text)
{
	out_char(out, '\'');
	for (const char *at = text; *at; at++) {
		if (*at == '\'')
			out_char(out, '\'');
		out_char(out, *at);
	}
	out_char(out, '\'');
}

static const char *instance_of(const struct sqlite *sqlite, size_t buffer)
{
	return sqlite->export.reader->buffers[buffer].context->instance;
}

/* Makes views of `nr` tables each, and one of all these views, because SQLite limits the tables in a view. */
static void make_views(struct sqlite *sqlite)
{
	struct out *out = &sqlite->json;
	size_t parts = (sqlite->nr_made + VIEW_MAX - 1) / VIEW_MAX;

	for (size_t part = 0; part < parts; part++) {
		char name[32];

		snprintf(name, sizeof(name), "ftrace_event_%zu", part);
		out_clear(out);
		for (size_t i = part * VIEW_MAX; i < sqlite->nr_made && i < (part + 1) * VIEW_MAX; i++) {
			const struct made *made = &sqlite->made[i];

			out_f(out, "%sSELECT ts, ", i > part * VIEW_MAX ? " UNION ALL " : "");
			put_quoted(out, made->event);
			out_f(out, " AS name, cpu, utid, %zu AS buffer, ", made->buffer);
			put_quoted(out, instance_of(sqlite, made->buffer));
			out_f(out, " AS instance FROM %s", made->name);
		}
		out_char(out, '\0');
		db_view(sqlite->db, name, out->start);
	}
	out_clear(out);
	for (size_t part = 0; part < parts; part++)
		out_f(out, "%sSELECT * FROM ftrace_event_%zu", part ? " UNION ALL " : "", part);
	if (!parts)
		out_str(out, "SELECT 0 AS ts, '' AS name, 0 AS cpu, 0 AS utid, 0 AS buffer, '' AS instance WHERE 0");
	out_char(out, '\0');
	db_view(sqlite->db, "ftrace_event", out->start);
}

/* Which table has which events: each instance has tables of its own. */
static void put_tables(struct sqlite *sqlite)
{
	struct db_table *table =
		db_table(sqlite->db, "event_table", "name TEXT, system TEXT, event TEXT, instance TEXT");

	for (size_t i = 0; i < sqlite->nr_made; i++) {
		const struct made *made = &sqlite->made[i];
		const char *const texts[] = { made->name, made->system, made->event,
					      instance_of(sqlite, made->buffer) };

		for (size_t j = 0; j < array_size(texts); j++)
			db_text(sqlite->db, texts[j], strlen(texts[j]));
		db_insert(sqlite->db, table);
	}
}

static void put_date(struct sqlite *sqlite, const struct export_date *date, struct db_table *clock)
{
	db_s64(sqlite->db, (int64_t)date->ts);
	db_s64(sqlite->db, date->wall_ns);
	if (date->bound_ns == WALL_NO_BOUND)
		db_null(sqlite->db);
	else
		db_s64(sqlite->db, (int64_t)date->bound_ns);
	db_s64(sqlite->db, date->drift);
	db_insert(sqlite->db, clock);
}

/*
 * The rows are those of the first event and of each time at which the time of day was set. The key date_offset_ns is
 * what is added to the time of the first event.
 */
static void put_clock(struct sqlite *sqlite)
{
	uint64_t ts = sqlite->first, next;
	struct export_date date;
	struct db_table *clock;
	int64_t offset;

	if (!sqlite->begun || !export_day_offset(sqlite->export.reader, ts, &offset))
		return;
	put_number(sqlite, "date_offset_ns", (uint64_t)offset);
	clock = db_table(sqlite->db, "clock", "ts INTEGER, wall_ns INTEGER, bound_ns INTEGER, drift INTEGER");
	for (; ts != UINT64_MAX; ts = next)
		if (export_date_at(sqlite->export.reader, ts, sqlite->last, &date, &next))
			put_date(sqlite, &date, clock);
	db_view(sqlite->db, "event_wall",
		"SELECT *, strftime('%Y-%m-%d %H:%M:%S', wall_ns / 1000000000, 'unixepoch') || "
		"printf('.%09d', wall_ns % 1000000000) AS wall FROM (SELECT *, (SELECT wall_ns + e.ts - clock.ts + "
		"(e.ts - clock.ts) * drift / 1000000000000 FROM clock WHERE clock.ts <= e.ts "
		"ORDER BY clock.ts DESC LIMIT 1) AS wall_ns FROM ftrace_event AS e)");
}

/* Of a file with several machines: so many ns the times of each may be off beside those of another one. */
static void put_clock_errors(struct sqlite *sqlite)
{
	const struct reader *reader = sqlite->export.reader;
	struct db_table *table = NULL;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct context *context = reader->buffers[i].context;

		if (!context->compared)
			continue;
		if (!table)
			table = db_table(sqlite->db, "clock_error", "instance TEXT, ns INTEGER");
		db_text(sqlite->db, context->instance, strlen(context->instance));
		db_s64(sqlite->db, (int64_t)context->clock_error_ns);
		db_insert(sqlite->db, table);
	}
}

static void sqlite_end(struct export *export)
{
	struct sqlite *sqlite = (struct sqlite *)export;

	/* A task of which only these tell gets a row of its own, too. */
	for (size_t i = 0; sqlite->nr_buffers && i < export->nr_paths; i++)
		sqlite_tracks_why(sqlite->tracks[0], &export->paths[i], (int64_t)i + 1);
	for (size_t i = 0; i < sqlite->nr_buffers; i++)
		sqlite_tracks_end(sqlite->tracks[i], sqlite->first, sqlite->last);
	for (size_t i = 0; i < sqlite->nr_buffers; i++)
		if (sqlite_tracks_starved(sqlite->tracks[i]))
			export_no_memory(export);
	put_number(sqlite, "start", sqlite->first);
	put_number(sqlite, "end", sqlite->last);
	put_tables(sqlite);
	make_views(sqlite);
	put_clock(sqlite);
	put_clock_errors(sqlite);
	db_view(sqlite->db, "thread_time",
		"SELECT thread.tid, thread.name, count(*) AS turns, "
		"sum(ifnull(dur, (SELECT value FROM meta WHERE key = 'end') - ts)) AS dur, "
		"thread.instance FROM sched JOIN thread USING (utid) GROUP BY utid");
	if (sqlite->json.failed)
		export_no_memory(export);
	db_finish(sqlite->db);
	tell_failure(sqlite);
	if (sqlite->export.left_out)
		export_note(export, "%" PRIu64 " events of types without a format, or beyond %d types, are left out",
			    sqlite->export.left_out, KINDS_MAX);
	if (sqlite->wide)
		export_note(export, "of %" PRIu64 " types only the first %d fields are columns", sqlite->wide,
			    COLUMNS_MAX);
}

const struct export_ops sqlite_export = {
	.name = "sqlite",
	.summary = "a database for sqlite3, with a table for each type of event",
	.binary = true,
	.takes_decode = true,
	.paths = 10,
	.open = db_open,
	.close = db_free,
	.of_tasks = true,
	.create = sqlite_new,
	.free = sqlite_free,
	.event = sqlite_event,
	.end = sqlite_end,
};
