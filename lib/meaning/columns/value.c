// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/value.h"

#include <string.h>

#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/schema/format.h"

static void put_integer(uint64_t value, bool is_signed, struct out *out)
{
	if (is_signed)
		out_s64(out, (int64_t)value);
	else
		out_u64(out, value);
}

static void put_hex(const uint8_t *at, size_t len, struct out *out)
{
	out_char(out, '"');
	for (size_t i = 0; i < len; i++)
		out_hex_pad(out, at[i], 2, '0');
	out_char(out, '"');
}

static void put_array(const struct field *field, const struct schema_abi *abi, const uint8_t *at, size_t len,
		      struct out *out)
{
	struct field element = { .size = field->elem_size, .flags = field->flags & FIELD_SIGNED };

	if (!field_int_size(element.size)) {
		put_hex(at, len, out);
		return;
	}
	out_char(out, '[');
	for (size_t i = 0; element.size <= len; i++, at += element.size, len -= element.size) {
		if (i)
			out_char(out, ',');
		put_integer(field_int(&element, abi, at, len), element.flags, out);
	}
	out_char(out, ']');
}

/* Arrays of char are text, arrays of unsigned char are numbers. */
bool value_is_text(const struct field *field)
{
	return field->flags & FIELD_STRING && field->elem_size == 1 && !strstr(field->type, "unsigned");
}

bool value_is_stack(const struct field *field, const struct format *format)
{
	return field->flags & FIELD_ARRAY && !strcmp(field->name, "caller") && !strcmp(format->name, "kernel_stack") &&
	       !strcmp(format->system, "ftrace");
}

static void put_stack(const struct field *field, const struct schema_abi *abi, const struct event *event,
		      struct out *out)
{
	const struct place caller = place_of(field, abi);
	struct stack stack;
	uint64_t address;
	char before = '[';

	stack_of_kernel(&caller, event, &stack);
	for (; stack_next(&stack, &address); before = ',') {
		out_char(out, before);
		out_u64(out, address);
	}
	out_str(out, before == '[' ? "[]" : "]");
}

void value_put(const struct field *field, const struct schema_abi *abi, const struct event *event, bool text,
	       struct out *out)
{
	const uint8_t *at;
	size_t len;

	if (value_is_stack(field, event->type->format))
		put_stack(field, abi, event, out);
	else if (!field_bytes(field, abi, event->data, event->len, &at, &len))
		out_str(out, "null");
	else if (text)
		json_string(out, at, strnlen((const char *)at, len));
	else if (field->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		put_array(field, abi, at, len, out);
	else if (field_int_size(field->size))
		put_integer(field_int(field, abi, event->data, event->len), field->flags & FIELD_SIGNED, out);
	else
		put_hex(at, len, out);
}
