// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fields of an event as trace-cmd report -R prints them: " name=value", each value as the print format prints it
 * when one of its arguments is the field alone, else by its type.
 */
#include "formats/tracecmd/tracecmd_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/names/symbols.h"

enum { SPEC_TEXT = 24, ARGS_MAX = 64, WIDTH_MAX = 64 };

enum how { BY_TYPE, AS_NUMBER, AS_POINTER, AS_NAME, AS_DISTANCE, AS_TEXT, AS_STRING };

/* One field: how its value is printed. */
struct raw_field {
	const struct field *field; /* NULL ends the array */
	enum how how;
	bool has_0x;          /* the text before the argument ends with "0x" */
	uint8_t bytes;        /* of the printed number: 1, 2, 4 or 8 */
	char conversion;      /* d, u, x... */
	char spec[SPEC_TEXT]; /* for an int64_t: "%08llx" */
};

/* A conversion of the print format, in order, with the name of the field that is its argument. */
struct argument {
	const char *name;
	size_t len; /* 0: no field alone */
	struct raw_field how;
};

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* The end of the string or character that begins here. */
static const char *skip_quoted(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : at;
}

/* The end of an argument: a comma outside of brackets and quotes, or the end of the text. */
static const char *argument_end(const char *at)
{
	unsigned depth = 0;

	while (*at && !(*at == ',' && !depth)) {
		if (*at == '"' || *at == '\'') {
			at = skip_quoted(at);
			continue;
		}
		if (strchr("([{", *at))
			depth++;
		else if (strchr(")]}", *at) && depth)
			depth--;
		at++;
	}
	return at;
}

/* The bracket that closes the one at `at`; NULL when it is not before `end`. */
static const char *closing(const char *at, const char *end)
{
	unsigned depth = 0;

	for (; at < end; at++) {
		if (*at == '(')
			depth++;
		else if (*at == ')' && !--depth)
			return at;
	}
	return NULL;
}

static bool mentions_field(const char *from, const char *to)
{
	return memmem(from, (size_t)(to - from), "->", 2) != NULL;
}

/* The field of "REC->name", also in brackets or behind casts; 0: something else. */
static size_t field_alone(const char *at, const char *end, const char **ret_name)
{
	const char *close;

	for (;;) {
		at = skip_blanks(at);
		while (end > at && isspace((unsigned char)end[-1]))
			end--;
		if (at >= end || *at != '(')
			break;
		close = closing(at, end);
		if (!close)
			return 0;
		if (close + 1 == end) {
			at++;
			end--;
		} else if (!mentions_field(at, close)) {
			at = close + 1;
		} else {
			return 0;
		}
	}
	if (end - at <= 5 || memcmp(at, "REC->", 5))
		return 0;
	*ret_name = at += 5;
	while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	return at == end ? (size_t)(at - *ret_name) : 0;
}

/* Reads "%-08llx" behind its '%': its end, or NULL for a conversion that is no number and no pointer. */
static const char *read_spec(const char *at, uint8_t long_size, struct raw_field *ret)
{
	size_t len = 0;
	unsigned longs = 0, shorts = 0;

	ret->spec[len++] = '%';
	for (; *at && strchr("-+ #0123456789.", *at); at++)
		if (len < SPEC_TEXT - 5)
			ret->spec[len++] = *at;
	for (; *at && strchr("lhLzjtq", *at); at++) {
		longs += *at == 'l' || *at == 'z' || *at == 'j' || *at == 't';
		longs += *at == 'L' || *at == 'q' ? 2 : 0;
		shorts += *at == 'h';
	}
	ret->bytes = (uint8_t)(shorts == 1 ? 2 : shorts ? 1 : longs == 1 ? long_size : longs ? 8 : 4);
	ret->conversion = *at;
	ret->how = *at == 'p'                   ? AS_POINTER :
		   *at == 's'                   ? AS_STRING :
		   *at && strchr("diuxXo", *at) ? AS_NUMBER :
						  BY_TYPE;
	ret->spec[len++] = 'l';
	ret->spec[len++] = 'l';
	ret->spec[len++] = *at;
	ret->spec[len] = '\0';
	if (strtoul(ret->spec + strcspn(ret->spec, "123456789"), NULL, 10) > WIDTH_MAX)
		ret->how = BY_TYPE;
	if (*at == 'p') {
		ret->how = !at[1]               ? AS_POINTER :
			   strchr("sf", at[1])  ? AS_NAME :
			   strchr("SFB", at[1]) ? AS_DISTANCE :
						  AS_POINTER;
		while (isalnum((unsigned char)at[1]))
			at++;
	}
	return *at ? at + 1 : at;
}

/* The conversions of the print format with their arguments: their number, and whether text follows the last. */
static size_t read_arguments(const char *fmt, uint8_t long_size, struct argument *ret, bool *ret_text_behind)
{
	const char *at = skip_blanks(fmt), *args, *end;
	size_t nr = 0;

	if (*at != '"')
		return 0;
	args = skip_quoted(at);
	for (at++; at < args - 1 && nr < ARGS_MAX; at++) {
		if (*at != '%')
			continue;
		if (at[1] == '%') {
			at++;
			continue;
		}
		ret[nr] = (struct argument){ .how.has_0x = at - fmt > 2 && !memcmp(at - 2, "0x", 2) };
		at = read_spec(at + 1, long_size, &ret[nr].how) - 1;
		nr++;
		*ret_text_behind = at + 1 < args - 1;
	}
	for (size_t i = 0; i < nr && *(args = skip_blanks(args)) == ','; i++, args = end) {
		end = argument_end(args + 1);
		ret[i].len = field_alone(args + 1, end, &ret[i].name);
	}
	return nr;
}

static bool is_of(const struct argument *argument, const struct field *field)
{
	return argument->len == strlen(field->name) && !memcmp(argument->name, field->name, argument->len);
}

int tracecmd_raw_bind(const struct tracecmd *tracecmd, struct tracecmd_binding *binding)
{
	const struct format *format = binding->format;
	uint32_t nr = format->nr_fields > format->nr_common ? format->nr_fields - format->nr_common : 0;
	struct raw_field *fields = calloc(nr + 1, sizeof(*fields));
	struct argument arguments[ARGS_MAX];
	size_t nr_arguments, next = 0;
	bool text_behind = false;

	if (!fields)
		return -ENOMEM;
	binding->raw_fields = fields;
	/* libtraceevent has its own way with the events of trace_printk(). */
	if (!binding->program || program_shows_fields(binding->program) || !strcmp(format->name, "bprint"))
		nr_arguments = 0;
	else
		nr_arguments =
			read_arguments(format->print_fmt, tracecmd->context->abi.long_size, arguments, &text_behind);
	for (uint32_t i = 0; i < nr; i++) {
		const struct field *field = &format->fields[format->nr_common + i];

		for (size_t n = 0; n < nr_arguments && !(field->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC));
		     n++) {
			size_t at = (next + n) % nr_arguments;

			if (!is_of(&arguments[at], field))
				continue;
			fields[i] = arguments[at].how;
			next = at + 1;
			/* The search goes on behind the argument; where nothing follows it, there is none any more. */
			if (next == nr_arguments && !text_behind)
				nr_arguments = 0;
			break;
		}
		/* A message reaches to the end of its record. */
		if (!strcmp(format->name, "print") && !strcmp(field->name, "buf"))
			fields[i].how = AS_TEXT;
		fields[i].field = field;
	}
	return 0;
}

/* The value of a number with so many bytes, as an argument of printf(). */
static long long truncated(uint64_t value, const struct raw_field *raw)
{
	bool is_signed = raw->conversion == 'd' || raw->conversion == 'i';

	switch (raw->bytes) {
	case 1:
		return is_signed ? (int8_t)value : (uint8_t)value;
	case 2:
		return is_signed ? (int16_t)value : (uint16_t)value;
	case 4:
		return is_signed ? (int32_t)value : (long long)(uint32_t)value;
	default:
		return (long long)value;
	}
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(const struct raw_field *raw, uint64_t value, struct out *out)
{
	char text[WIDTH_MAX * 2 + 32];
	int len = snprintf(text, sizeof(text), raw->spec, truncated(value, raw));

	if (len > 0)
		out_mem(out, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}
#pragma GCC diagnostic pop

static bool is_printable(const uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len && at[i]; i++)
		if ((at[i] < ' ' || at[i] > '~') && !(at[i] >= '\t' && at[i] <= '\r'))
			return false;
	return true;
}

static void put_array(const struct field *field, const uint8_t *at, size_t len, struct out *out)
{
	if (field->flags & FIELD_STRING && is_printable(at, len)) {
		out_mem(out, at, strnlen((const char *)at, len));
		return;
	}
	out_str(out, "ARRAY[");
	for (size_t i = 0; i < len; i++) {
		if (i)
			out_mem(out, ", ", 2);
		out_hex_pad(out, at[i], 2, '0');
	}
	out_char(out, ']');
}

static void put_rest(const struct field *field, const struct event *event, struct out *out)
{
	uint32_t at = field->offset < event->len ? field->offset : event->len;

	out_mem(out, event->data + at, strnlen((const char *)event->data + at, event->len - at));
}

static void put_by_type(const struct field *field, uint64_t value, struct out *out)
{
	/* A long usually holds an address. */
	bool is_long = strstr(field->type, "long") != NULL;

	if (field->flags & FIELD_POINTER) {
		out_mem(out, "0x", 2);
		out_hex(out, value);
	} else if (field->flags & FIELD_SIGNED && !(is_long && field->size == 4)) {
		out_s64_pad(out, (int64_t)value, field->size == 2 ? 2 : 1, ' ');
	} else if (is_long) {
		out_mem(out, "0x", 2);
		out_hex(out, field->size == 4 ? (uint32_t)value : value);
	} else {
		out_u64(out, value);
	}
}

/* The text that the kernel has at an address: printk_formats holds those that are constant. */
static void put_string(const struct tracecmd *tracecmd, const struct field *field, uint64_t address, struct out *out)
{
	const char *text = NULL;

	if (field->size == tracecmd->context->abi.long_size)
		text = symbols_string(tracecmd->context->symbols, address);
	if (text)
		out_str(out, text);
	else
		out_hex(out, address);
}

void tracecmd_raw(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		  struct out *out)
{
	const struct schema_abi *abi = &tracecmd->context->abi;

	for (const struct raw_field *raw = binding->raw_fields; raw && raw->field; raw++) {
		const struct field *field = raw->field;
		const uint8_t *at;
		uint64_t value;
		size_t len;

		out_char(out, ' ');
		out_str(out, field->name);
		out_char(out, '=');
		if (raw->how == AS_TEXT) {
			put_rest(field, event, out);
			continue;
		}
		if (field->flags & (FIELD_ARRAY | FIELD_DYNAMIC)) {
			if (field_bytes(field, abi, event->data, event->len, &at, &len))
				put_array(field, at, len, out);
			else if (!(field->flags & FIELD_DYNAMIC) && field->offset < event->len)
				put_array(field, event->data + field->offset, event->len - field->offset, out);
			continue;
		}
		value = field_int(field, abi, event->data, event->len);
		if (raw->has_0x && raw->how != BY_TYPE)
			out_mem(out, "0x", 2);
		if (raw->how == AS_NUMBER)
			put_number(raw, value, out);
		else if (raw->how == AS_STRING)
			put_string(tracecmd, field, value, out);
		else if (raw->how >= AS_NAME &&
			 tracecmd->env.symbol(tracecmd->env.arg, value, raw->how == AS_NAME ? 's' : 'S', out))
			continue;
		else if (raw->how >= AS_NAME || (raw->how == AS_POINTER && value))
			out_f(out, "0x%llx", (unsigned long long)value);
		else if (raw->how == AS_POINTER)
			out_str(out, "(nil)");
		else
			put_by_type(field, value, out);
	}
}
