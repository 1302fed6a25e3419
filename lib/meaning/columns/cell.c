// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/cell.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/schema/format.h"

enum { SCRATCH_SIZE = 4096, LIST_FIRST = 64 };

bool cell_making_init(struct cell_making *making)
{
	*making = (struct cell_making){ .list = NULL };
	return out_init(&making->scratch, SCRATCH_SIZE) && out_init(&making->json, SCRATCH_SIZE);
}

void cell_making_release(struct cell_making *making)
{
	decoded_row_release(&making->row);
	if (making->scratch.start)
		out_release(&making->scratch);
	if (making->json.start)
		out_release(&making->json);
	free(making->list);
}

static bool is_list(const struct field *field)
{
	return field->flags & (FIELD_ARRAY | FIELD_DYNAMIC) && field_int_size(field->elem_size);
}

void cell_bind(struct cell *cell, const struct field *field, const struct format *format, const struct schema_abi *abi,
	       struct column_shape *ret_shape)
{
	cell->place = place_of(field, abi);
	cell->form = cell->place.size     ? COLUMN_INTEGER :
		     value_is_text(field) ? COLUMN_OF_TEXT :
		     is_list(field)       ? COLUMN_LIST :
					    COLUMN_JSON;
	cell->stack = cell->form == COLUMN_LIST && value_is_stack(field, format);
	ret_shape->form = cell->form;
	ret_shape->bits = (uint8_t)(8 * (cell->form == COLUMN_LIST ? field->elem_size : cell->place.size));
	ret_shape->is_signed = cell->form == COLUMN_LIST ? field->flags & FIELD_SIGNED : cell->place.is_signed;
	ret_shape->optional = true;
}

void cell_bind_fact(struct cell *cell, const struct decoded_name *fact, struct column_shape *ret_shape)
{
	cell->fact = fact;
	cell->form = fact->is_number ? COLUMN_INTEGER : COLUMN_OF_TEXT;
	*ret_shape = (struct column_shape){ .form = cell->form, .bits = 64, .is_signed = true, .optional = true };
}

/* Adds to the list; the lists of an event are at most as long as its record. */
static bool add(struct cell_making *making, size_t at, uint64_t value)
{
	if (at == making->list_size) {
		size_t size = making->list_size ? 2 * making->list_size : LIST_FIRST;
		uint64_t *list = reallocarray(making->list, size, sizeof(*list));

		if (!list)
			return false;
		making->list = list;
		making->list_size = size;
	}
	making->list[at] = value;
	return true;
}

static bool read_list(const struct cell *cell, const struct schema_abi *abi, const struct event *event,
		      struct cell_making *making, struct column_value *ret)
{
	const struct place *place = &cell->place;
	struct field element = { .size = place->field->elem_size, .flags = place->field->flags & FIELD_SIGNED };
	const uint8_t *at;
	size_t len, nr = 0;

	if (!place_bytes(place, event, &at, &len))
		return true;
	for (; element.size <= len; nr++, at += element.size, len -= element.size)
		if (!add(making, nr, field_int(&element, abi, at, len)))
			return false;
	*ret = (struct column_value){ .kind = VALUE_IS_LIST, .list = making->list, .len = nr };
	return true;
}

static bool read_stack(const struct cell *cell, const struct event *event, struct cell_making *making,
		       struct column_value *ret)
{
	struct stack stack;
	uint64_t address;
	size_t nr = 0;

	stack_of_kernel(&cell->place, event, &stack);
	for (; stack_next(&stack, &address); nr++)
		if (!add(making, nr, address))
			return false;
	*ret = (struct column_value){ .kind = VALUE_IS_LIST, .list = making->list, .len = nr };
	return true;
}

static void read_fact(const struct cell *cell, struct cell_making *making, struct column_value *ret)
{
	const struct decoded *fact = decoded_row_find(&making->row, cell->fact->name);
	bool is_number = fact && fact->kind != DECODED_TEXT;

	if (!fact || is_number != cell->fact->is_number)
		return;
	if (is_number)
		*ret = (struct column_value){ .kind = VALUE_IS_INTEGER, .number = fact->value };
	else
		*ret = (struct column_value){ .kind = VALUE_IS_TEXT, .text = fact->text, .len = fact->len };
}

static bool read_json(const struct cell *cell, const struct schema_abi *abi, const struct event *event,
		      struct cell_making *making, struct column_value *ret)
{
	out_clear(&making->json);
	value_put(cell->place.field, abi, event, false, &making->json);
	if (making->json.failed)
		return false;
	if (out_len(&making->json) != 4 || memcmp(making->json.start, "null", 4))
		*ret = (struct column_value){ .kind = VALUE_IS_TEXT,
					      .text = making->json.start,
					      .len = out_len(&making->json) };
	return true;
}

bool cell_read(const struct cell *cell, const struct schema_abi *abi, const struct event *event,
	       struct cell_making *making, struct column_value *ret)
{
	const struct place *place = &cell->place;

	*ret = (struct column_value){ .kind = VALUE_IS_NULL };
	if (cell->fact) {
		read_fact(cell, making, ret);
		return true;
	}
	if (cell->stack)
		return read_stack(cell, event, making, ret);
	switch (cell->form) {
	case COLUMN_INTEGER:
		if (place->offset <= event->len && place->size <= event->len - place->offset)
			*ret = (struct column_value){ .kind = VALUE_IS_INTEGER, .number = place_u64(place, event) };
		return true;
	case COLUMN_OF_TEXT:
		if (place_string(place, event, &ret->text, &ret->len))
			ret->kind = VALUE_IS_TEXT;
		return true;
	case COLUMN_LIST:
		return read_list(cell, abi, event, making, ret);
	case COLUMN_JSON:
		return read_json(cell, abi, event, making, ret);
	case COLUMN_REAL:
		return true;
	}
	return true;
}
