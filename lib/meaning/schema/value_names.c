// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/value_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/compile_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"

enum { ARENA_MAX = 1 << 20, NAME_MAX_LEN = 255, RECORD_MAX = 1 << 16 };

struct value_names {
	struct arena arena;
	struct format format; /* whose print fmt is only the name of the field's value */
	const struct field *field;
	const struct schema_abi *abi;
	const struct program_env *env;
	const struct program *program;
	uint8_t *record; /* of zeros but for the field */
	struct out out;
	uint64_t last; /* the value of the text in `out` */
	bool has_last;
};

/* The end of a string or a character, which begins at `at`. */
static const char *skip_quoted(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : at;
}

/* The end of one argument of the print fmt. */
static const char *skip_argument(const char *at)
{
	int depth = 0;

	while (*at && (depth || *at != ',')) {
		if (*at == '"' || *at == '\'') {
			at = skip_quoted(at);
			continue;
		}
		depth += *at == '(' || *at == '{' || *at == '[';
		depth -= *at == ')' || *at == '}' || *at == ']';
		at++;
	}
	return at;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the argument is a text, or names values if `more` is false, and depends on this field alone. */
static bool names_field(const char *at, const char *end, const struct field *field, bool more)
{
	size_t len = strlen(field->name);
	bool names = false, found = false;

	for (; at < end; at++) {
		if (*at == '"' || *at == '\'') {
			names |= more;
			at = skip_quoted(at) - 1;
			continue;
		}
		names |= !strncmp(at, "__print_symbolic", 16) || !strncmp(at, "__print_flags", 13);
		/* What depends on dynamic fields is no matter of a number. */
		if (!strncmp(at, "__get_", 6))
			return false;
		if (strncmp(at, "REC->", 5) != 0)
			continue;
		if (strncmp(at + 5, field->name, len) != 0 || is_word(at[5 + len]))
			return false;
		found = true;
	}
	return names && found;
}

/*
 * The arguments of the print fmt that name the field's values: one, and what adds a mark to it, as the "+" of a task
 * that was preempted. Returns their number.
 */
static unsigned find_arguments(const char *print_fmt, const struct field *field, const char **ret, size_t *ret_len)
{
	const char *at = print_fmt;

	while (*at) {
		const char *end = skip_argument(at);

		if (names_field(at, end, field, false)) {
			const char *next = *end ? skip_argument(end + 1) : end;
			bool two = next > end && names_field(end + 1, next, field, true);

			*ret = at;
			*ret_len = (size_t)((two ? next : end) - at);
			return two ? 2 : 1;
		}
		at = *end ? end + 1 : end;
	}
	return 0;
}

static bool compile(struct value_names *names, unsigned nr, const char *arguments, size_t len)
{
	const char *begin = nr == 2 ? "\"%s%s\", " : "\"%s\", ", *note;
	char *text = arena_alloc(&names->arena, strlen(begin) + len + 1);

	if (!text)
		return false;
	memcpy(text, begin, strlen(begin));
	memcpy(text + strlen(begin), arguments, len);
	names->format.print_fmt = text;
	names->program = program_compile(names->abi, &names->format, &names->arena, &note);
	return names->program;
}

int value_names_new(const struct schema_abi *abi, const struct program_env *env, const struct format *format,
		    const struct field *field, struct value_names **ret, struct fail *fail)
{
	struct value_names *names;
	const char *arguments;
	unsigned nr;
	size_t len;

	*ret = NULL;
	if (!field_int_size(field->size) ||
	    field->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC | FIELD_RELATIVE) || format->size > RECORD_MAX)
		return 0;
	nr = find_arguments(format->print_fmt, field, &arguments, &len);
	if (!nr)
		return 0;
	names = calloc(1, sizeof(*names));
	if (!names)
		return fail_memory(fail);
	*names = (struct value_names){ .format = *format, .field = field, .abi = abi, .env = env };
	arena_init(&names->arena, ARENA_MAX);
	names->record = calloc(1, format->size);
	if (!names->record || !out_init(&names->out, NAME_MAX_LEN) || !compile(names, nr, arguments, len)) {
		value_names_free(names);
		return fail_memory(fail);
	}
	/* An argument that is no text, or that cannot be compiled. */
	if (program_shows_fields(names->program)) {
		value_names_free(names);
		return 0;
	}
	*ret = names;
	return 0;
}

void value_names_free(struct value_names *names)
{
	if (!names)
		return;
	if (names->out.start)
		out_release(&names->out);
	free(names->record);
	arena_release(&names->arena);
	free(names);
}

static void put_value(struct value_names *names, uint64_t value)
{
	const struct field *field = names->field;
	bool big = names->abi->big_endian;

	for (uint32_t i = 0; i < field->size; i++)
		names->record[field->offset + i] = (uint8_t)(value >> 8 * (big ? field->size - 1 - i : i));
}

bool value_names_find(struct value_names *names, uint64_t value, const char **ret, size_t *ret_len)
{
	size_t len;

	if (!names->has_last || names->last != value) {
		put_value(names, value);
		out_clear(&names->out);
		program_run(names->program, names->env, names->record, names->format.size, &names->out);
		names->has_last = true;
		names->last = value;
	}
	len = out_len(&names->out);
	/* Without a name the kernel prints the number. */
	if (!len || (len > 1 && !memcmp(names->out.start, "0x", 2)))
		return false;
	*ret = names->out.start;
	*ret_len = len < NAME_MAX_LEN ? len : NAME_MAX_LEN;
	return true;
}
