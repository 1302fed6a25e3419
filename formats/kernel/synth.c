// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_events_synth.c: print_synth_event(). */
#include "formats/kernel/renderers_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/names/symbols.h"

enum { FIELDS_MAX = 64, CONVERSION = 8 };

enum synth_kind { SYNTH_SIGNED, SYNTH_UNSIGNED, SYNTH_HEX, SYNTH_STRING, SYNTH_STACK };

struct synth_field {
	const struct field *field;
	struct place place; /* of an integer */
	enum synth_kind kind;
	char conversion[CONVERSION]; /* "%llu" */
};

struct synth {
	struct synth_field fields[FIELDS_MAX];
	uint32_t nr_fields;
	bool verbose;
};

/* Finds the conversion after NAME= in the print fmt; false when synth_field_fmt() has no such conversion. */
static bool find_conversion(const struct format *format, struct synth_field *synth)
{
	const char *at = strchr(format->print_fmt, '"'), *end = at ? strchr(at + 1, '"') : NULL;
	size_t name_len = strlen(synth->field->name), len;

	for (; at && end && (at = strstr(at, synth->field->name)) && at < end; at++) {
		if ((at[-1] != ' ' && at[-1] != '"') || at[name_len] != '=' || at[name_len + 1] != '%')
			continue;
		at += name_len + 1;
		len = strcspn(at, ", \"");
		if (len >= CONVERSION || len < 2)
			return false;
		memcpy(synth->conversion, at, len);
		synth->conversion[len] = '\0';
		return true;
	}
	return false;
}

static bool field_bind(const struct format *format, const struct field *field, const struct schema_abi *abi,
		       struct synth_field *synth)
{
	const char *type = field->type;
	char last;

	*synth = (struct synth_field){ .field = field };
	if (!find_conversion(format, synth) || strstr(type, "gfp_t"))
		return false;
	last = synth->conversion[strlen(synth->conversion) - 1];
	if (last == 's') {
		synth->kind = strstr(type, "long") ? SYNTH_STACK : SYNTH_STRING;
		return true;
	}
	synth->kind = last == 'd' ? SYNTH_SIGNED : last == 'u' ? SYNTH_UNSIGNED : SYNTH_HEX;
	synth->place = place_of(field, abi);
	return strchr("dux", last) && field_int_size(field->size);
}

static bool bind(struct ftrace *ftrace, struct binding *binding)
{
	const struct format *format = binding->format;
	struct synth *synth = calloc(1, sizeof(*synth));

	if (!synth) {
		context_lacks_memory(ftrace->context);
		return false;
	}
	binding->data = synth;
	synth->verbose = ftrace_option(ftrace, OPTION_VERBOSE);
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		if (synth->nr_fields == FIELDS_MAX ||
		    !field_bind(format, &format->fields[i], &ftrace->context->abi, &synth->fields[synth->nr_fields]))
			return false;
		synth->nr_fields++;
	}
	return true;
}

/* A string ends at its NUL: for a fixed string, the size in the format is not the size of its memory. */
static void print_string(const struct ftrace *ftrace, const struct field *field, const struct event *event,
			 struct out *out)
{
	const uint8_t *at = NULL;
	size_t len = 0;

	if (field->flags & FIELD_DYNAMIC) {
		if (!field_bytes(field, &ftrace->context->abi, event->data, event->len, &at, &len))
			return;
	} else if (field->offset < event->len) {
		at = event->data + field->offset;
		len = event->len - field->offset;
	}
	out_mem(out, at, at ? strnlen((const char *)at, len) : 0);
}

/* The first word of a stack is its length. */
static void print_stack(const struct ftrace *ftrace, const struct field *field, const struct event *event,
			struct out *out)
{
	const struct context *context = ftrace->context;
	struct bytes left = bytes_of(NULL, 0, context->abi.swap);
	uint64_t ip;

	out_str(out, "STACK:\n");
	if (!field_bytes(field, &context->abi, event->data, event->len, &left.at, &left.left) ||
	    context->abi.long_size != 8 || !bytes_u64(&left, &ip))
		return;
	while (bytes_u64(&left, &ip)) {
		out_str(out, "=> ");
		if (!symbols_print(context->symbols, ip, 'S', out)) {
			out_str(out, "0x");
			out_hex(out, ip);
		}
		out_char(out, '\n');
	}
}

static void print_value(const struct synth_field *synth, const struct event *event, struct out *out)
{
	uint64_t value = place_u64(&synth->place, event);
	unsigned bits = synth->place.size * 8u;

	if (synth->kind == SYNTH_SIGNED) {
		out_s64(out, (int64_t)value);
		return;
	}
	if (bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	if (synth->kind == SYNTH_HEX)
		out_hex(out, value);
	else
		out_u64(out, value);
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct synth *synth = binding->data;

	out_mem(out, binding->name, binding->name_len);
	for (uint32_t i = 0; i < synth->nr_fields; i++) {
		const struct synth_field *field = &synth->fields[i];
		bool last = i + 1 == synth->nr_fields;

		if (synth->verbose)
			out_f(out, "%s ", field->conversion);
		out_str(out, field->field->name);
		out_char(out, '=');
		if (field->kind == SYNTH_STACK)
			print_stack(ftrace, field->field, event, out);
		else if (field->kind == SYNTH_STRING)
			print_string(ftrace, field->field, event, out);
		else
			print_value(field, event, out);
		if (!last && field->kind != SYNTH_STACK)
			out_char(out, ' ');
	}
	out_char(out, '\n');
}

static const struct renderer renderer = { .bind = bind, .format = format };

const struct renderer *synth_renderer(const struct format *format)
{
	return strcmp(format->system, "synthetic") ? NULL : &renderer;
}
