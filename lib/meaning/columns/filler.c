// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/filler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/meaning/columns/batch.h"
#include "lib/meaning/columns/cell.h"
#include "lib/meaning/columns/list.h"
#include "lib/meaning/columns/own.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/schema/format.h"

/* Where a type of event has the values of the columns. */
struct kind {
	const struct decoder *decoder; /* NULL: no plugin knows more, or no column asks for it */
	bool *has;                     /* for each column */
	struct cell cells[];           /* the same; for those that it has */
};

struct filler {
	const struct reader *reader;
	struct filler_options options;
	struct column_list list;
	struct column_shape *shapes; /* for each of the list */
	struct batch *batch;         /* NULL: no row since the last was taken */
	struct cell_making making;
	struct kinds kinds;
	bool shows_gaps, asks_facts;
	uint64_t gaps;
};

/* Types that are seen while the type of a column is looked for. */
struct search {
	const char *field;
	struct column_shape *shape;
	const struct format *first; /* a format that has the field; NULL: none yet */
	struct column_shape before; /* with which another one does not go together: */
	const struct format *other;
};

static void kind_free(void *kind)
{
	free(kind);
}

void filler_free(struct filler *filler)
{
	if (!filler)
		return;
	batch_free(filler->batch);
	kinds_release(&filler->kinds);
	cell_making_release(&filler->making);
	column_list_release(&filler->list);
	free(filler->shapes);
	free(filler);
}

/* Whether a type of event can occur; a selection without names of events lets all of them pass. */
static bool lets_pass(const uint64_t *types, int32_t id)
{
	return !types || (id >= 0 && id < EVENT_TYPES_MAX && types[id / 64] >> id % 64 & 1);
}

static const uint64_t *types_of(const struct reader_buffer *buffer)
{
	const struct selection *selection = buffer->selection ? buffer->selection : buffer->shown;
	const uint64_t *types = selection ? selection_types(selection) : NULL;

	for (size_t i = 0; types && i < EVENT_TYPES_MAX / 64; i++)
		if (types[i])
			return types;
	return NULL;
}

static void search_format(struct search *search, const struct context *context, const struct format *format)
{
	const struct field *field = format_field(format, search->field);
	struct column_shape shape = { .optional = true };
	struct cell cell = { .fact = NULL };

	if (!field)
		return;
	cell_bind(&cell, field, format, &context->abi, &shape);
	if (!search->first) {
		memcpy(shape.name, search->shape->name, sizeof(shape.name));
		*search->shape = shape;
		search->first = format;
	} else if (!search->other && !column_shape_widen(search->shape, &shape)) {
		search->other = format;
	}
}

static void search_fact(struct search *search, const struct context *context, const struct format *format)
{
	const struct decoder *decoder = context->plugins ? plugins_decoder(context->plugins, format) : NULL;
	const struct decoded_name *name = decoder ? decoder_find(decoder, search->field) : NULL;
	struct column_shape shape;
	struct cell cell = { .fact = NULL };

	if (!name)
		return;
	cell_bind_fact(&cell, name, &shape);
	memcpy(shape.name, search->shape->name, sizeof(shape.name));
	if (!search->first)
		*search->shape = shape;
	else if (!column_shape_widen(search->shape, &shape))
		search->other = format;
	search->first = search->first ? search->first : format;
}

/* `types`: which ones can occur; NULL: all. */
static void search_buffer(struct search *search, const struct reader_buffer *buffer, const uint64_t *types, bool facts)
{
	struct schema *schema = buffer->context->schema;
	const char *system, *name;
	int32_t id;

	for (size_t i = 0; schema_at(schema, i, &id, &system, &name); i++) {
		const struct format *format;

		if (!lets_pass(types, id))
			continue;
		/* Most formats of a file do not have the field: they are not parsed. */
		if (!types && !facts && !schema_mentions(schema, i, search->field, strlen(search->field)))
			continue;
		format = schema_format(schema, id, NULL);
		if (format && facts)
			search_fact(search, buffer->context, format);
		else if (format)
			search_format(search, buffer->context, format);
	}
}

/* Offers what a user may have meant, as --fields takes it. */
static void offer_columns(const struct reader_buffer *buffer, bool facts, struct near *near)
{
	const struct context *context = buffer->context;
	const char *system, *event;
	int32_t id;

	for (size_t i = 0; schema_at(context->schema, i, &id, &system, &event); i++) {
		const struct format *format = schema_format(context->schema, id, NULL);
		const struct decoder *decoder =
			facts && format && context->plugins ? plugins_decoder(context->plugins, format) : NULL;
		const struct decoded_name *fact;

		for (uint32_t k = 0; format && !facts && k < format->nr_fields; k++)
			near_offer(near, format->fields[k].name);
		for (size_t k = 0; decoder && (fact = decoder_name(decoder, k)); k++) {
			char name[NEAR_NAME_SIZE];

			snprintf(name, sizeof(name), COLUMN_FACT_PREFIX "%s", fact->name);
			near_offer_as(near, fact->name, name);
		}
	}
}

static int no_such_field(const struct reader *reader, const struct column *column, struct fail *fail)
{
	struct near near = near_to(column->field);
	bool facts = column->what == COLUMN_FACT;

	for (size_t i = 0; !facts && column_list_name(i); i++)
		near_offer(&near, column_list_name(i));
	for (size_t i = 0; i < reader->nr_buffers; i++)
		offer_columns(&reader->buffers[i], facts, &near);
	return near_fail(&near, fail, -ENOENT, "no event has a field '%s'", column->name);
}

int column_list_check(const struct column_list *list, const struct reader *reader, struct fail *fail)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct column *column = &list->at[i];
		struct column_shape shape = { .optional = true };
		struct search search = { .field = column->field, .shape = &shape };

		if (column->what != COLUMN_FIELD && column->what != COLUMN_FACT)
			continue;
		for (size_t k = 0; !search.first && k < reader->nr_buffers; k++)
			search_buffer(&search, &reader->buffers[k], NULL, column->what == COLUMN_FACT);
		if (!search.first)
			return no_such_field(reader, column, fail);
	}
	return 0;
}

static int find_shape(const struct filler *filler, const struct column *column, struct column_shape *shape,
		      struct fail *fail)
{
	struct search search = { .field = column->field, .shape = shape };
	bool facts = column->what == COLUMN_FACT;

	for (size_t i = 0; i < filler->reader->nr_buffers; i++)
		search_buffer(&search, &filler->reader->buffers[i], types_of(&filler->reader->buffers[i]), facts);
	if (!search.first)
		return no_such_field(filler->reader, column, fail);
	if (search.other)
		return fail_set(
			fail, -EINVAL,
			"the field '%s' of %s:%s and of %s:%s cannot be in one column: choose one of the events",
			column->name, search.first->system, search.first->name, search.other->system,
			search.other->name);
	return 0;
}

static int shape_of(struct filler *filler, size_t index, struct fail *fail)
{
	const struct column *column = &filler->list.at[index];
	const struct column_shape *own = column_own_shape(column->what);
	struct column_shape *shape = &filler->shapes[index];

	if (own) {
		*shape = *own;
		shape->optional |= filler->shows_gaps && column->what != COLUMN_TS && column->what != COLUMN_CPU;
	}
	snprintf(shape->name, sizeof(shape->name), "%s", column->name);
	if (own)
		return 0;
	if (column->what == COLUMN_TEXT && filler->options.text) {
		shape->form = COLUMN_OF_TEXT;
		shape->optional = true;
		return 0;
	}
	if (column->what == COLUMN_FIELD || column->what == COLUMN_FACT)
		return find_shape(filler, column, shape, fail);
	return fail_set(fail, -EINVAL, "'%s' is no column of one type: name what it should show", column->name);
}

static int init(struct filler *filler, const char *const *names, size_t nr, struct fail *fail)
{
	int r = 0;

	if (kinds_init(&filler->kinds, filler->reader->nr_buffers, kind_free) || !cell_making_init(&filler->making))
		return fail_memory(fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = column_list_add(&filler->list, names[i], strlen(names[i]), fail);
	if (!r && !filler->list.nr)
		r = fail_set(fail, -EINVAL, "no columns are named");
	if (r)
		return r;
	filler->shapes = calloc(nr, sizeof(*filler->shapes));
	if (!filler->shapes)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		filler->shows_gaps |= filler->list.at[i].what == COLUMN_LOST;
		filler->asks_facts |= filler->list.at[i].what == COLUMN_FACT;
	}
	for (size_t i = 0; !r && i < nr; i++)
		r = shape_of(filler, i, fail);
	return r;
}

int filler_new(const struct reader *reader, const char *const *names, size_t nr, const struct filler_options *options,
	       struct filler **ret, struct fail *fail)
{
	struct filler *filler = calloc(1, sizeof(*filler));
	int r;

	if (!filler)
		return fail_memory(fail);
	filler->reader = reader;
	filler->options = *options;
	filler->options.rows = options->rows ? options->rows : BATCH_ROWS;
	if (filler->options.rows > BATCH_ROWS_MAX)
		filler->options.rows = BATCH_ROWS_MAX;
	r = init(filler, names, nr, fail);
	if (r)
		filler_free(filler);
	else
		*ret = filler;
	return r;
}

const struct column_shape *filler_shapes(const struct filler *filler, size_t *ret_nr)
{
	*ret_nr = filler->list.nr;
	return filler->shapes;
}

/*
 * Whether the values have room in the column. Events can come that nobody asked for, such as the stack of an event,
 * with a field of the same name.
 */
static bool fits(const struct column_shape *column, const struct column_shape *field)
{
	struct column_shape wide = *column;

	return column_shape_widen(&wide, field) && wide.bits == column->bits && wide.is_signed == column->is_signed;
}

static void bind(const struct filler *filler, const struct context *context, const struct format *format,
		 struct kind *kind)
{
	struct column_shape shape = { .optional = true };

	if (context->plugins && filler->asks_facts)
		kind->decoder = plugins_decoder(context->plugins, format);
	for (size_t i = 0; i < filler->list.nr; i++) {
		const struct column *column = &filler->list.at[i];
		const struct field *field = NULL;
		const struct decoded_name *fact = NULL;

		if (column->what == COLUMN_FIELD)
			field = format_field(format, column->field);
		else if (column->what == COLUMN_FACT && kind->decoder)
			fact = decoder_find(kind->decoder, column->field);
		if (field)
			cell_bind(&kind->cells[i], field, format, &context->abi, &shape);
		else if (fact)
			cell_bind_fact(&kind->cells[i], fact, &shape);
		kind->has[i] = (field || fact) && fits(&filler->shapes[i], &shape);
	}
}

static const struct kind *kind_of(struct filler *filler, const struct context *context, const struct event *event)
{
	struct kind *kind = kinds_find(&filler->kinds, event);
	size_t nr = filler->list.nr;

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = calloc(1, sizeof(*kind) + nr * sizeof(kind->cells[0]) + nr * sizeof(bool));
	if (!kind)
		return NULL;
	kind->has = (bool *)&kind->cells[nr];
	if (event->type->format)
		bind(filler, context, event->type->format, kind);
	return kinds_set(&filler->kinds, event, kind) ? kind : NULL;
}

static void add_field(struct filler *filler, const struct kind *kind, size_t index, const struct context *context,
		      const struct event *event)
{
	const struct cell *cell = &kind->cells[index];
	struct column_value value;

	if (!kind->has[index]) {
		batch_put_null(filler->batch, index);
		return;
	}
	if (!cell_read(cell, &context->abi, event, &filler->making, &value))
		filler->batch->starved = true;
	batch_put(filler->batch, index, &value, &filler->making.scratch);
}

static void add_text(struct filler *filler, size_t index, const struct event *event)
{
	struct out *text = &filler->making.json;
	struct column_value value = { .kind = VALUE_IS_TEXT };

	out_clear(text);
	if (!filler->options.text(filler->options.text_arg, event, text) || text->failed) {
		filler->batch->starved = true;
		return;
	}
	value.text = text->start;
	value.len = out_len(text);
	batch_put(filler->batch, index, &value, &filler->making.scratch);
}

/* Most columns are these, and integers of fields: they are added without a detour. */
static inline bool add_quickly(struct batch *batch, size_t index, enum column_what what, const struct kind *kind,
			       const struct event *event)
{
	const struct place *place;

	switch (what) {
	case COLUMN_TS:
		batch_put_integer(batch, index, event->ts);
		return true;
	case COLUMN_CPU:
		batch_put_integer(batch, index, event->cpu);
		return true;
	case COLUMN_PID:
		if (!kind)
			return false;
		batch_put_integer(batch, index, (uint64_t)(int64_t)event->pid);
		return true;
	case COLUMN_FIELD:
		if (!kind)
			return false;
		if (!kind->has[index]) {
			batch_put_null(batch, index);
			return true;
		}
		place = &kind->cells[index].place;
		if (!place->size || place->offset > event->len || place->size > event->len - place->offset)
			return false;
		batch_put_integer(batch, index, place_u64(place, event));
		return true;
	default:
		return false;
	}
}

static void add_cell(struct filler *filler, const struct kind *kind, size_t index, const struct context *context,
		     const struct event *event)
{
	enum column_what what = filler->list.at[index].what;
	struct column_value value;

	if (column_own_shape(what)) {
		column_own_read(what, context, event, &value);
		batch_put(filler->batch, index, &value, &filler->making.scratch);
	} else if (!kind) {
		batch_put_null(filler->batch, index);
	} else if (what == COLUMN_TEXT) {
		add_text(filler, index, event);
	} else {
		add_field(filler, kind, index, context, event);
	}
}

bool filler_add(struct filler *filler, const struct event *event)
{
	const struct context *context = reader_context(filler->reader, event);
	const struct kind *kind = NULL;

	if (event->kind == EVENT_LOST) {
		filler->gaps++;
		if (!filler->shows_gaps)
			return true;
	} else {
		kind = kind_of(filler, context, event);
		if (!kind || (filler->asks_facts &&
			      !decoded_row_fill(&filler->making.row, kind->decoder, event->data, event->len)))
			return false;
	}
	if (!filler->batch)
		filler->batch = batch_new(filler->shapes, filler->list.nr, filler->options.rows);
	if (!filler->batch)
		return false;
	for (size_t i = 0; i < filler->list.nr; i++)
		if (!add_quickly(filler->batch, i, filler->list.at[i].what, kind, event))
			add_cell(filler, kind, i, context, event);
	batch_row(filler->batch);
	return !filler->batch->starved;
}

bool filler_is_full(const struct filler *filler)
{
	return filler->batch && batch_is_full(filler->batch);
}

struct batch *filler_take(struct filler *filler)
{
	struct batch *batch = filler->batch;

	filler->batch = NULL;
	return batch;
}

uint64_t filler_gaps(const struct filler *filler)
{
	return filler->gaps;
}
