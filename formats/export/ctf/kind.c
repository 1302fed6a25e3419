// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/ctf/kind_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/stack.h"

enum { NAME_LEN = 96 };

/* Whether the field's length differs between records, as a stack's does, whatever its format says. */
static bool is_flexible(const struct format *format, const struct field *field)
{
	return field->flags & FIELD_DYNAMIC || (!field->size && field->flags & FIELD_ARRAY) ||
	       value_is_stack(field, format);
}

static void add_step(struct ctf_kind *kind, const struct field *field)
{
	struct ctf_step *last = kind->nr_steps ? &kind->steps[kind->nr_steps - 1] : NULL;
	bool text = value_is_text(field);

	if (text || is_flexible(kind->format, field)) {
		kind->steps[kind->nr_steps++] =
			(struct ctf_step){ .what = text                                ? STEP_TEXT :
						   value_is_stack(field, kind->format) ? STEP_STACK :
											 STEP_SEQUENCE,
					   .field = field };
		return;
	}
	kind->room += field->size;
	if (last && last->what == STEP_COPY && last->offset + last->size == field->offset)
		last->size += field->size;
	else
		kind->steps[kind->nr_steps++] =
			(struct ctf_step){ .what = STEP_COPY, .offset = field->offset, .size = field->size };
}

struct ctf_kind *ctf_kind_new(const struct format *format, int32_t id)
{
	struct ctf_kind *kind = calloc(1, sizeof(*kind));

	if (!kind)
		return NULL;
	kind->format = format;
	kind->id = id;
	kind->steps = calloc((format ? format->nr_fields : 0) + 1, sizeof(*kind->steps));
	if (!kind->steps) {
		free(kind);
		return NULL;
	}
	for (uint32_t i = 0; format && i < format->nr_fields; i++)
		add_step(kind, &format->fields[i]);
	return kind;
}

void ctf_kind_free(void *memory)
{
	struct ctf_kind *kind = memory;

	free(kind->steps);
	free(kind);
}

static bool put_copy(const struct ctf_step *step, const struct event *event, struct out *out)
{
	size_t there = step->offset < event->len ? event->len - step->offset : 0;

	if (there >= step->size) {
		out_mem(out, event->data + step->offset, step->size);
		return true;
	}
	out_mem(out, event->data + (there ? step->offset : 0), there);
	out_fill(out, '\0', step->size - there);
	return false;
}

/* Writes a length in the byte order of the recording. */
static void put_length(size_t nr, const struct schema_abi *abi, struct out *out)
{
	uint32_t length = load_u32(&(uint32_t){ (uint32_t)nr }, abi->swap);

	out_mem(out, &length, sizeof(length));
}

static bool put_flexible(const struct ctf_step *step, const struct schema_abi *abi, const struct event *event,
			 struct out *out)
{
	const struct field *field = step->field;
	const uint8_t *at = NULL;
	size_t len = 0, size = field_int_size(field->elem_size) ? field->elem_size : 1;
	bool there = field_bytes(field, abi, event->data, event->len, &at, &len);

	if (!there)
		len = 0;
	if (step->what == STEP_TEXT) {
		if (len)
			out_mem(out, at, strnlen((const char *)at, len));
		out_char(out, '\0');
		return there;
	}
	put_length(len / size, abi, out);
	if (len)
		out_mem(out, at, len / size * size);
	return there;
}

static bool put_stack(const struct ctf_step *step, const struct schema_abi *abi, const struct event *event,
		      struct out *out)
{
	const struct place caller = place_of(step->field, abi);
	const uint8_t *first;
	struct stack stack;
	uint64_t address;
	size_t nr = 0;

	stack_of_kernel(&caller, event, &stack);
	first = stack.left.at;
	while (stack_next(&stack, &address))
		nr++;
	put_length(nr, abi, out);
	if (nr)
		out_mem(out, first, nr * stack.size);
	return true;
}

static bool put_step(const struct ctf_step *step, const struct schema_abi *abi, const struct event *event,
		     struct out *out)
{
	if (__builtin_expect(step->what == STEP_COPY, 1))
		return put_copy(step, event, out);
	return step->what == STEP_STACK ? put_stack(step, abi, event, out) : put_flexible(step, abi, event, out);
}

bool ctf_kind_put(const struct ctf_kind *kind, const struct schema_abi *abi, const struct event *event, struct out *out)
{
	bool whole = true;

	if (!kind->format) {
		put_length(event->len, abi, out);
		out_mem(out, event->data, event->len);
		return true;
	}
	for (size_t i = 0; i < kind->nr_steps; i++)
		whole &= put_step(&kind->steps[i], abi, event, out);
	return whole;
}

void ctf_string(struct out *out, const char *text)
{
	out_char(out, '"');
	for (const char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			out_char(out, '\\');
		out_char(out, isprint((unsigned char)*at) ? *at : '_');
	}
	out_char(out, '"');
}

static bool is_keyword(const char *name)
{
	static const char *const words[] = { "align",          "callsite", "char",     "clock",   "const",
					     "double",         "enum",     "env",      "event",   "float",
					     "floating_point", "int",      "integer",  "long",    "short",
					     "signed",         "stream",   "string",   "struct",  "trace",
					     "typealias",      "typedef",  "unsigned", "variant", "void" };

	for (size_t i = 0; i < array_size(words); i++)
		if (!strcmp(words[i], name))
			return true;
	return false;
}

static bool is_taken(const struct format *format, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (!strcmp(format->fields[i].name, format->fields[index].name))
			return true;
	return false;
}

/*
 * Writes a name of the metadata. Readers remove one "_" from its front, so a name that begins with "_" gets another
 * one. Names are unique.
 */
static void put_name(const struct format *format, uint32_t index, struct out *out)
{
	const char *name = format->fields[index].name;
	bool changed = is_taken(format, index);
	size_t len = 0;

	if (!isalpha((unsigned char)*name) || is_keyword(name))
		out_char(out, '_');
	for (; name[len] && len < NAME_LEN; len++) {
		bool plain = isalnum((unsigned char)name[len]) || name[len] == '_';

		out_char(out, plain ? name[len] : '_');
		changed |= !plain;
	}
	if (changed || name[len])
		out_f(out, "_%u", index);
}

/* The length of a sequence precedes it, under the name that LTTng and perf use. */
static void put_length_name(const struct format *format, uint32_t index, struct out *out)
{
	char name[2 * NAME_LEN];

	snprintf(name, sizeof(name), "%.90s_length", format->fields[index].name);
	out_str(out, format_field(format, name) ? "_weft_" : "_");
	put_name(format, index, out);
	out_str(out, "_length");
}

static void put_integer(uint32_t size, bool is_signed, bool hex, struct out *out)
{
	out_f(out, "integer { size = %u; align = 8; signed = %s;%s } ", size * 8, is_signed ? "true" : "false",
	      hex ? " base = 16;" : "");
}

static bool is_address(const struct format *format, const struct field *field)
{
	return field->flags & FIELD_POINTER ||
	       (!strcmp(format->system, "ftrace") && field->flags & FIELD_LONG && !(field->flags & FIELD_SIGNED));
}

static void declare_field(const struct format *format, uint32_t index, struct out *out)
{
	const struct field *field = &format->fields[index];
	bool array = is_flexible(format, field) || field->flags & FIELD_ARRAY || !field_int_size(field->size);
	uint32_t size = array ? field->elem_size : field->size;

	out_str(out, "\t\t");
	if (value_is_text(field)) {
		out_str(out, "string ");
		put_name(format, index, out);
		out_str(out, ";\n");
		return;
	}
	if (is_flexible(format, field)) {
		put_integer(sizeof(uint32_t), false, false, out);
		put_length_name(format, index, out);
		out_str(out, ";\n\t\t");
	}
	if (field_int_size(size))
		put_integer(size, field->flags & FIELD_SIGNED, is_address(format, field), out);
	else
		put_integer(1, false, true, out);
	put_name(format, index, out);
	if (is_flexible(format, field)) {
		out_char(out, '[');
		put_length_name(format, index, out);
		out_char(out, ']');
	} else if (array) {
		out_f(out, "[%u]", field_int_size(size) ? field->size / size : field->size);
	}
	out_str(out, ";\n");
}

void ctf_kind_declare(const struct ctf_kind *kind, struct out *out)
{
	const struct format *format = kind->format;
	char name[2 * NAME_LEN];

	if (format)
		snprintf(name, sizeof(name), "%.90s:%.90s", format->system, format->name);
	else
		snprintf(name, sizeof(name), "unknown:%d", kind->id);
	out_str(out, "\nevent {\n\tname = ");
	ctf_string(out, name);
	out_f(out, ";\n\tid = %d;\n\tstream_id = 0;\n\tfields := struct {\n", kind->id);
	for (uint32_t i = 0; format && i < format->nr_fields; i++)
		declare_field(format, i, out);
	if (!format) {
		out_str(out, "\t\t");
		put_integer(sizeof(uint32_t), false, false, out);
		out_str(out, "_record_length;\n\t\t");
		put_integer(1, false, true, out);
		out_str(out, "record[_record_length];\n");
	}
	out_str(out, "\t};\n};\n");
}
