// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/call_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/uapi/arguments.h"
#include "lib/meaning/uapi/call_argument.h"
#include "lib/meaning/uapi/names.h"

enum { STRING_MAX = 64, COUNTS_MAX = 1 << 20 };

static void bind_arguments(struct call_text *call, const struct format *format, const struct schema_abi *abi)
{
	char name[128];

	for (uint32_t i = format->nr_common; i < format->nr_fields && call->nr_arguments < CALL_ARGUMENTS_MAX; i++) {
		const struct field *field = &format->fields[i];
		struct place place = place_of(field, abi);

		/*
		 * The fields after the number are the arguments; then come fields with the data that the arguments
		 * point to: "__filename_val".
		 */
		if (!strncmp(field->name, "__", 2) || !place.size)
			continue;
		call->arguments[call->nr_arguments] = place;
		snprintf(name, sizeof(name), "__%s_val", field->name);
		(void)place_bind(&call->values[call->nr_arguments++], format, abi, name);
	}
}

void call_text_bind(struct call_text *call, const struct format *format, const struct schema_abi *abi,
		    const char *machine)
{
	*call = (struct call_text){ .side = CALL_NEITHER, .machine = machine, .wide = abi->long_size == 8 };
	if (!format)
		return;
	if (!strcmp(format->system, "syscalls") && !strncmp(format->name, "sys_enter_", 10)) {
		call->name = format->name + 10;
		call->side = CALL_ENTER;
		bind_arguments(call, format, abi);
	} else if (!strcmp(format->system, "syscalls") && !strncmp(format->name, "sys_exit_", 9)) {
		call->name = format->name + 9;
		call->side = place_bind(&call->result, format, abi, "ret") ? CALL_EXIT : CALL_NEITHER;
	} else if (!strcmp(format->system, "raw_syscalls") && place_bind(&call->number, format, abi, "id")) {
		if (!strcmp(format->name, "sys_enter") && place_bind(&call->raw, format, abi, "args"))
			call->side = CALL_ENTER;
		else if (!strcmp(format->name, "sys_exit") && place_bind(&call->result, format, abi, "ret"))
			call->side = CALL_EXIT;
	}
}

void call_text_name(const struct call_text *call, const struct event *event, struct out *out)
{
	int64_t number = call->name ? 0 : place_s64(&call->number, event);
	const char *name = call->name ? call->name : system_call_name(call->machine, number);

	if (name)
		out_str(out, name);
	else
		out_f(out, "syscall_%" PRId64, number);
}

/* Prints a string in C notation; a longer one is cut and followed by dots. */
static void put_string(const uint8_t *text, size_t len, struct out *out)
{
	static const char letters[] = { ['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\' };
	size_t shown = len < STRING_MAX ? len : STRING_MAX;

	out_char(out, '"');
	for (size_t i = 0; i < shown; i++) {
		uint8_t c = text[i];

		if (c < sizeof(letters) && letters[c])
			out_f(out, "\\%c", letters[c]);
		else if (c < ' ' || c == 127)
			out_f(out, i + 1 < shown && text[i + 1] >= '0' && text[i + 1] <= '9' ? "\\%03o" : "\\%o", c);
		else
			out_char(out, (char)c);
	}
	out_char(out, '"');
	if (shown < len)
		out_str(out, "...");
}

static bool put_value(const struct place *value, const struct event *event, struct out *out)
{
	const char *string;
	const uint8_t *bytes;
	size_t len;

	if (!value->field)
		return false;
	if (place_string(value, event, &string, &len)) {
		put_string((const uint8_t *)string, len, out);
		return true;
	}
	if (!place_bytes(value, event, &bytes, &len))
		return false;
	put_string(bytes, len, out);
	return true;
}

/* Copies the names of bits from the kernel's text: "flags: O_WRONLY|O_CREAT". */
static bool put_kernel_names(const char *name, const char *text, size_t len, struct out *out)
{
	char label[128];
	size_t label_len = (size_t)snprintf(label, sizeof(label), "%s: ", name);
	const char *at = text && label_len < sizeof(label) ? memmem(text, len, label, label_len) : NULL, *end;

	if (!at)
		return false;
	at += label_len;
	end = at;
	while (end < text + len && ((*end >= 'A' && *end <= 'Z') || (*end >= '0' && *end <= '9') ||
				    (*end >= 'a' && *end <= 'z') || *end == '_' || *end == '|'))
		end++;
	/* A word in capitals is the name of a flag; the kernel prints numbers in lower case. */
	if (end == at || *at < 'A' || *at > 'Z')
		return false;
	out_mem(out, at, (size_t)(end - at));
	return true;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/*
 * The type and the name of an argument decide how it is read: pointers and flags are hexadecimal, modes octal, counts
 * decimal.
 */
static void put_number(const struct field *field, uint64_t value, struct out *out)
{
	static const char *const bits[] = { "flags", "flag", "addr",    "brk",  "start",
					    "cmd",   "arg",  "request", "mask", NULL };
	bool pointer = (field->flags & FIELD_POINTER) || strchr(field->type, '*');

	if (pointer && !value)
		out_str(out, "NULL");
	else if (!strcmp(field->type, "umode_t") || !strcmp(field->type, "mode_t"))
		out_f(out, (uint32_t)value ? "0%o" : "%o", (uint32_t)value);
	else if (pointer || (is_one_of(field->name, bits) && value))
		out_f(out, "0x%" PRIx64, value);
	else if (!strcmp(field->type, "int") || !strcmp(field->type, "pid_t") || strstr(field->name, "fd"))
		out_s64(out, (int32_t)value);
	else if (!strcmp(field->type, "unsigned int") || !strcmp(field->type, "uid_t") || !strcmp(field->type, "gid_t"))
		out_u64(out, (uint32_t)value);
	else if (value <= COUNTS_MAX || !strcmp(field->type, "size_t"))
		out_u64(out, value);
	else
		out_f(out, "0x%" PRIx64, value);
}

/* As an argument of an event that has a field for it. */
static void put_named(const struct call_text *call, const char *name, const struct call_argument *argument,
		      uint64_t value, struct out *out)
{
	const struct field field = { .name = argument->name,
				     .type = argument->type,
				     .flags = argument->pointer ? FIELD_POINTER : 0 };

	if (argument->pointer || !argument_put(call->machine, name, argument->name, value, out))
		put_number(&field, value, out);
}

/* The event has six numbers, whatever the call takes. */
static void put_raw(const struct call_text *call, const struct event *event, struct out *out)
{
	const char *name = system_call_name(call->machine, place_s64(&call->number, event));
	struct call_argument arguments[CALL_ARGUMENTS];
	int nr = name ? call_arguments(call->machine, call->wide, name, arguments) : -1;
	uint64_t value;

	for (int i = 0; i < (nr < 0 ? CALL_ARGUMENTS : nr) && place_element(&call->raw, event, (size_t)i, &value);
	     i++) {
		out_str(out, i ? ", " : "");
		if (nr < 0)
			out_f(out, "0x%" PRIx64, value);
		else
			put_named(call, name, &arguments[i], value, out);
	}
}

void call_text_arguments(const struct call_text *call, const struct event *event, const char *text, size_t len,
			 struct out *out)
{
	if (!call->name) {
		put_raw(call, event, out);
		return;
	}
	for (unsigned i = 0; i < call->nr_arguments; i++) {
		const struct place *place = &call->arguments[i];
		uint64_t value = place_u64(place, event);
		const char *name = place->field->name;

		out_str(out, i ? ", " : "");
		if (!put_value(&call->values[i], event, out) &&
		    !argument_put(call->machine, call->name, name, value, out) &&
		    !put_kernel_names(name, text, len, out))
			put_number(place->field, value, out);
	}
}

bool call_text_result(const struct call_text *call, const struct event *event, int64_t *ret)
{
	*ret = place_s64(&call->result, event);
	return returned_error(*ret);
}

void call_text_put_result(const struct call_text *call, int64_t result, struct out *out)
{
	const char *error = returned_error(result) ? error_name(call->machine, -result) : NULL;

	if (error)
		out_f(out, "-1 %s", error);
	else if (result >= INT64_C(0x100000000) || result < -ERRNO_MAX || (call->name && !strcmp(call->name, "brk")))
		out_f(out, "0x%" PRIx64, (uint64_t)result);
	else
		out_s64(out, result);
}
