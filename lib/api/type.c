// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_type and weft_field: the types of events that a reader has seen, with the places of their fields. */
#include "lib/api/api_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/context.h"

const weft_type api_lost_type = { .system = "", .name = "lost events" };

static enum weft_field_kind kind_of(const struct field *field)
{
	if (value_is_text(field))
		return WEFT_FIELD_STRING;
	if (!(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC)))
		return field_int_size(field->size) ? WEFT_FIELD_INTEGER : WEFT_FIELD_BYTES;
	return field_int_size(field->elem_size) ? WEFT_FIELD_ARRAY : WEFT_FIELD_BYTES;
}

static void bind_fields(weft_type *type, const struct format *format)
{
	for (uint32_t i = 0; i < format->nr_fields; i++)
		type->fields[i] = (weft_field){ .place = place_of(&format->fields[i], &type->event->context->abi),
						.type = type,
						.kind = kind_of(&format->fields[i]),
						.is_common = i < format->nr_common,
						.is_stack = value_is_stack(&format->fields[i], format) };
}

static bool is_named(const weft_type *type, const char *name)
{
	size_t len = strlen(type->system);

	return len && !strncmp(name, type->system, len) && name[len] == ':' && !strcmp(name + len + 1, type->name);
}

const struct api_handler *api_handler_of(const weft_reader *reader, const weft_type *type)
{
	for (size_t i = 0; i < reader->nr_handlers; i++)
		if (reader->handlers[i]->make && is_named(type, reader->handlers[i]->name))
			return reader->handlers[i];
	return NULL;
}

static weft_type *type_new(weft_reader *reader, const struct event_type *event)
{
	weft_type *type = calloc(1, sizeof(*type));
	const struct format *format = event->format;

	if (!type)
		return NULL;
	*type = (weft_type){ .reader = reader,
			     .event = event,
			     .system = format ? format->system : "",
			     .name = format ? format->name : "",
			     .nr_fields = format ? format->nr_fields : 0 };
	type->fields = calloc(type->nr_fields + 1, sizeof(*type->fields));
	if (!type->fields) {
		free(type);
		return NULL;
	}
	if (format)
		bind_fields(type, format);
	type->handler = api_handler_of(reader, type);
	return type;
}

static const weft_type *first_of(weft_reader *reader, struct api_types *types, const struct event_type *event)
{
	weft_type **added = vec_push(reader->all, reader->nr_all), *type = added ? type_new(reader, event) : NULL;

	if (added && !type)
		reader->nr_all--;
	if (!type)
		return NULL;
	*added = type;
	type->index = reader->nr_all - 1;
	types->at[event->index] = type;
	return type;
}

const weft_type *api_type(weft_reader *reader, const struct event *event)
{
	struct api_types *types;

	if (__builtin_expect(event->kind == EVENT_LOST, 0))
		return &api_lost_type;
	types = &reader->types[event->buffer];
	if (__builtin_expect(event->type->index < types->nr && types->at[event->type->index], 1))
		return types->at[event->type->index];
	while (types->nr <= event->type->index)
		if (!vec_push(types->at, types->nr))
			return NULL;
	return first_of(reader, types, event->type);
}

const weft_type *weft_reader_type(const weft_reader *reader, size_t index)
{
	return index < reader->nr_all ? reader->all[index] : NULL;
}

size_t weft_type_index(const weft_type *type)
{
	return type->index;
}

const char *weft_type_system(const weft_type *type)
{
	return type->system;
}

const char *weft_type_name(const weft_type *type)
{
	return type->name;
}

int32_t weft_type_id(const weft_type *type)
{
	return type->event ? type->event->id : -1;
}

size_t weft_type_fields(const weft_type *type)
{
	return type->nr_fields;
}

const weft_field *weft_type_field(const weft_type *type, size_t index)
{
	return index < type->nr_fields ? &type->fields[index] : NULL;
}

const weft_field *weft_field_find(const weft_type *type, const char *name)
{
	for (size_t i = 0; i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].place.field->name, name))
			return &type->fields[i];
	return NULL;
}

void api_field_fill(const struct field *known, bool is_common, struct weft_field_info *ret)
{
	api_fill(ret,
		 &(struct weft_field_info){ .name = known->name,
					    .c_type = known->type,
					    .kind = kind_of(known),
					    .offset = known->offset,
					    .bytes = known->size,
					    .element_bytes = known->elem_size,
					    .is_signed = known->flags & FIELD_SIGNED,
					    .is_pointer = known->flags & FIELD_POINTER,
					    .is_dynamic = known->flags & FIELD_DYNAMIC,
					    .is_common = is_common },
		 sizeof(*ret));
}

void weft_field_info(const weft_field *field, struct weft_field_info *ret)
{
	api_field_fill(field->place.field, field->is_common, ret);
}
