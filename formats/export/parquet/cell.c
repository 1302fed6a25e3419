// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/parquet/cell_internal.h"

#include "formats/export/parquet/file_internal.h"
#include "formats/value.h"
#include "lib/event/event.h"
#include "lib/follow/stack.h"
#include "lib/schema/format.h"

#include <string.h>

static bool is_list(const struct field *field)
{
	return field->flags & (FIELD_ARRAY | FIELD_DYNAMIC) && field_int_size(field->elem_size);
}

void parquet_cell_bind(struct parquet_cell *cell, const struct field *field, const struct format *format,
		       const struct schema_abi *abi, struct parquet_shape *ret_shape)
{
	cell->place = place_of(field, abi);
	cell->form = cell->place.size     ? PARQUET_INTEGER :
		     value_is_text(field) ? PARQUET_TEXT :
		     is_list(field)       ? PARQUET_LIST :
					    PARQUET_JSON;
	cell->stack = cell->form == PARQUET_LIST && value_is_stack(field, format);
	ret_shape->form = cell->form;
	ret_shape->bits = (uint8_t)(8 * (cell->form == PARQUET_LIST ? field->elem_size : cell->place.size));
	ret_shape->is_signed = cell->form == PARQUET_LIST ? field->flags & FIELD_SIGNED : cell->place.is_signed;
	ret_shape->optional = true;
}

void parquet_cell_bind_fact(struct parquet_cell *cell, const struct decoded_name *fact, struct parquet_shape *ret_shape)
{
	cell->fact = fact;
	cell->form = fact->is_number ? PARQUET_INTEGER : PARQUET_TEXT;
	*ret_shape = (struct parquet_shape){ .form = cell->form, .bits = 64, .is_signed = true, .optional = true };
}

static void put_list(const struct place *place, const struct schema_abi *abi, struct parquet_file *file, size_t column,
		     const struct event *event)
{
	struct field element = { .size = place->field->elem_size, .flags = place->field->flags & FIELD_SIGNED };
	const uint8_t *at;
	uint32_t nr = 0;
	size_t len;

	if (!place_bytes(place, event, &at, &len)) {
		parquet_file_null(file, column);
		return;
	}
	for (; element.size <= len; nr++, at += element.size, len -= element.size)
		parquet_file_integer(file, column, field_int(&element, abi, at, len));
	parquet_file_list(file, column, nr);
}

static void put_stack(const struct place *caller, struct parquet_file *file, size_t column, const struct event *event)
{
	struct stack stack;
	uint64_t address;
	uint32_t nr = 0;

	stack_of_kernel(caller, event, &stack);
	for (; stack_next(&stack, &address); nr++)
		parquet_file_integer(file, column, address);
	parquet_file_list(file, column, nr);
}

static void put_fact(const struct parquet_cell *cell, struct parquet_making *making, struct parquet_file *file,
		     size_t column)
{
	const struct decoded *fact = decoded_row_find(&making->row, cell->fact->name);
	bool is_number = fact && fact->kind != DECODED_TEXT;

	if (!fact || is_number != cell->fact->is_number)
		parquet_file_null(file, column);
	else if (is_number)
		parquet_file_integer(file, column, fact->value);
	else
		parquet_file_text(file, column, fact->text, fact->len, &making->scratch);
}

void parquet_cell_put(const struct parquet_cell *cell, const struct schema_abi *abi, const struct event *event,
		      struct parquet_making *making, struct parquet_file *file, size_t column)
{
	const struct place *place = &cell->place;
	const char *text;
	size_t len;

	if (cell->fact) {
		put_fact(cell, making, file, column);
		return;
	}
	if (cell->form == PARQUET_INTEGER) {
		if (place->offset <= event->len && place->size <= event->len - place->offset)
			parquet_file_integer(file, column, place_u64(place, event));
		else
			parquet_file_null(file, column);
		return;
	}
	if (cell->form == PARQUET_TEXT) {
		if (place_string(place, event, &text, &len))
			parquet_file_text(file, column, text, len, &making->scratch);
		else
			parquet_file_null(file, column);
		return;
	}
	if (cell->stack) {
		put_stack(place, file, column, event);
		return;
	}
	if (cell->form == PARQUET_LIST) {
		put_list(place, abi, file, column, event);
		return;
	}
	out_clear(&making->json);
	value_put(place->field, abi, event, false, &making->json);
	if (strncmp(making->json.start, "null", 4))
		parquet_file_text(file, column, making->json.start, out_len(&making->json), &making->scratch);
	else
		parquet_file_null(file, column);
}
