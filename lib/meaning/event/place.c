// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/place.h"

#include <string.h>

#include "lib/meaning/event/context.h"

struct place place_of(const struct field *field, const struct schema_abi *abi)
{
	bool integer = field_int_size(field->size) && !(field->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC));

	return (struct place){
		.offset = field->offset,
		.size = integer ? (uint8_t)field->size : 0,
		.is_signed = field->flags & FIELD_SIGNED,
		.swap = abi->swap,
		.field = field,
	};
}

bool place_bind(struct place *place, const struct format *format, const struct schema_abi *abi, const char *name)
{
	const struct field *field = format ? format_field(format, name) : NULL;

	*place = field ? place_of(field, abi) : (struct place){ .field = NULL };
	return field;
}

bool place_find(struct place *place, const struct event_type *type, const char *name)
{
	/* A type of no file has no context, and no fields. */
	return place_bind(place, type->format, type->context ? &type->context->abi : NULL, name);
}

bool place_bytes(const struct place *place, const struct event *event, const uint8_t **ret, size_t *ret_len)
{
	const struct schema_abi abi = { .swap = place->swap };

	return place->field && field_bytes(place->field, &abi, event->data, event->len, ret, ret_len);
}

bool place_string(const struct place *place, const struct event *event, const char **ret, size_t *ret_len)
{
	const uint8_t *at;
	size_t len;

	if (!place->field || !(place->field->flags & FIELD_STRING) || !place_bytes(place, event, &at, &len))
		return false;
	*ret = (const char *)at;
	*ret_len = strnlen((const char *)at, len);
	return true;
}

bool place_element(const struct place *place, const struct event *event, size_t index, uint64_t *ret)
{
	const struct field *field = place->field;
	const uint8_t *at;
	size_t len;

	if (!field || !(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC)) || !field_int_size(field->elem_size) ||
	    !place_bytes(place, event, &at, &len) || index >= len / field->elem_size)
		return false;
	/* Reads one element as if it were a record of its own. */
	*ret = place_u64(&(struct place){ .size = (uint8_t)field->elem_size,
					  .is_signed = place->is_signed,
					  .swap = place->swap },
			 &(struct event){ .data = at + index * field->elem_size, .len = field->elem_size });
	return true;
}
