// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/program.h"

#include <stdio.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/compile_internal.h"
#include "lib/meaning/schema/env.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/format_internal.h"
#include "lib/meaning/schema/ops_internal.h"
#include "lib/meaning/schema/spec_internal.h"

/* lib/ctype.c also counts the printable characters of Latin-1 as printable. */
static bool is_printable(uint8_t c)
{
	return (c >= ' ' && c < 0x7f) || c >= 0xa0;
}

static void put_bytes(const uint8_t *at, size_t len, struct out *out)
{
	for (size_t i = 0; i < len; i++) {
		if (i)
			out_char(out, ',');
		out_hex_pad(out, at[i], 2, '0');
	}
}

static void put_string(const uint8_t *at, size_t len, struct out *out)
{
	out_mem(out, at, strnlen((const char *)at, len));
}

static bool is_ascii(uint8_t c)
{
	return c >= ' ' && c < 0x7f;
}

/* Prints a string with '.' for each unprintable character, and then all of its bytes. */
static void put_odd_string(const uint8_t *at, size_t len, struct out *out)
{
	for (size_t i = 0; i < len; i++)
		out_char(out, is_ascii(at[i]) ? (char)at[i] : '.');
	out_str(out, " (");
	for (size_t i = 0; i < len; i++) {
		if (i)
			out_char(out, ':');
		out_hex_pad(out, at[i], 2, '0');
	}
	out_char(out, ')');
}

static void put_dyn_string(const uint8_t *at, size_t len, const struct run *run, struct out *out)
{
	size_t printable = 0;

	while (printable < len && (!at[printable] || is_ascii(at[printable])))
		printable++;
	if (run->env->fields_printable && printable < len)
		put_odd_string(at, len, out);
	else
		put_string(at, len, out);
}

static const struct spec symbol_spec = { .kind = SPEC_POINTER, .width = -1, .precision = -1, .how = "S" };

/* A number of the size of a pointer may be one: newer kernels print its symbol. */
static void put_address(const struct field *field, uint64_t value, const struct run *run, struct out *out)
{
	if (!run->env->fields_symbols || field->size != run->abi->long_size) {
		out_str(out, "0x");
		out_hex(out, value);
		return;
	}
	spec_pointer(&symbol_spec, value, run, out);
}

/* trace_preemptirq.h: these two fields hold the distance of the caller from _stext. */
static void put_caller(const struct field *field, uint64_t value, const struct run *run, struct out *out)
{
	uint64_t start = 0;

	if (!run->env->fields_symbols || (strcmp(field->name, "caller_offs") && strcmp(field->name, "parent_offs")))
		return;
	if (run->env->address && run->env->address(run->env->arg, "_stext", &start))
		spec_pointer(&symbol_spec, start + value, run, out);
	out_char(out, ' ');
}

static void put_kernel_string(uint64_t address, const struct run *run, struct out *out)
{
	const char *text = run->env->string ? run->env->string(run->env->arg, address) : NULL;

	out_str(out, "(0x");
	out_hex_pad(out, address, run->abi->long_size * 2u, '0');
	if (text) {
		out_char(out, ':');
		out_str(out, text);
	}
	out_char(out, ')');
}

static void put_integer(const struct field *field, uint64_t value, const struct run *run, struct out *out)
{
	switch (field->size) {
	case 1:
		if (is_printable((uint8_t)value)) {
			out_char(out, '\'');
			out_char(out, (char)value);
			out_char(out, '\'');
		}
		out_f(out, "(%d)", (int)(uint8_t)value);
		return;
	case 2:
		out_f(out, "0x%x (%d)", (unsigned)(uint16_t)value, (int)(uint16_t)value);
		return;
	case 4:
		value = (uint32_t)value;
		put_caller(field, value, run, out);
		put_address(field, value, run, out);
		out_f(out, " (%d)", (int)value);
		return;
	case 8:
		put_address(field, value, run, out);
		if (run->env->now && run->env->fields_symbols && run->abi->long_size == 8)
			value = run->env->now(run->env->arg, value);
		out_f(out, " (%lld)", (long long)value);
		return;
	}
	out_str(out, "<INVALID-SIZE>");
}

/* The fields that trace_entries.h declares with __field_fn(). */
static bool is_function(const struct format *format, const struct field *field)
{
	return !strcmp(format->system, "ftrace") && !strcmp(format->name, "function") &&
	       (!strcmp(field->name, "ip") || !strcmp(field->name, "parent_ip"));
}

static void put_value(const struct format *format, const struct field *field, const struct run *run, struct out *out)
{
	uint64_t value = field_int(field, run->abi, run->data, run->len);
	const uint8_t *at;
	size_t len;

	if (field->size > run->len || field->offset > run->len - field->size) {
		out_str(out, "<OVERFLOW>");
		return;
	}
	/* filter_assign_type(): masks have a type of their own, which print_fields() supports only for __data_loc. */
	if (field->flags & FIELD_DYNAMIC && !(field->flags & (FIELD_RELATIVE | FIELD_STRING)) &&
	    strstr(field->type, "cpumask_t")) {
		out_str(out, "<INVALID-TYPE>");
	} else if (field->flags & (FIELD_DYNAMIC | FIELD_STRING)) {
		if (!field_bytes(field, run->abi, run->data, run->len, &at, &len))
			out_str(out, "<OVERFLOW>");
		else if (strstr(field->type, "char") && field->flags & FIELD_DYNAMIC)
			put_dyn_string(at, len, run, out);
		else if (strstr(field->type, "char"))
			put_string(at, len, out);
		else
			put_bytes(at, len, out);
	} else if (!strcmp(field->type, "char *") || !strcmp(field->type, "const char *")) {
		put_kernel_string(value, run, out);
	} else if (is_function(format, field)) {
		spec_pointer(&symbol_spec, value, run, out);
	} else {
		put_integer(field, value, run, out);
	}
}

/*
 * Prints " name=value" for each field after the common ones, as print_fields() of kernel/trace/trace_output.c (6.12)
 * does.
 */
static void fields_put(const struct format *format, const struct run *run, struct out *out)
{
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		out_char(out, ' ');
		out_str(out, format->fields[i].name);
		out_char(out, '=');
		put_value(format, &format->fields[i], run, out);
	}
}

struct program *program_compile(const struct schema_abi *abi, const struct format *format, struct arena *arena,
				const char **ret_note)
{
	struct program *program = arena_alloc(arena, sizeof(*program));
	char why[120] = "", note[256];

	*ret_note = NULL;
	if (!program) {
		/* The arena has reached its cap: raise it a little for a program that prints the fields. */
		arena->cap += sizeof(*program) + sizeof(note);
		program = arena_alloc(arena, sizeof(*program));
		if (!program)
			return NULL;
	}
	program->abi = abi;
	program->format = format;
	program->size = format->size;
	if (compile_print_fmt(program, arena, why, sizeof(why), ret_note))
		return program;
	program->ops = NULL;
	program->nr_ops = 0;
	program->as_fields = true;
	snprintf(note, sizeof(note), "its print fmt cannot be compiled: %s", why);
	arena->cap += sizeof(note) + 16;
	*ret_note = arena_text(arena, note, strlen(note));
	if (!*ret_note)
		*ret_note = "its print fmt cannot be compiled";
	return program;
}

bool program_shows_fields(const struct program *program)
{
	return program->as_fields;
}

static void run_any(const struct program *program, const struct run *run, struct out *out)
{
	if (program->as_fields)
		fields_put(program->format, run, out);
	else
		ops_run(program->ops, run, out);
}

/* A record that was cut: the missing bytes of its fixed fields are 0. Rare, so the copy does not matter. */
static void run_short(const struct program *program, const struct run *run, struct out *out)
{
	uint8_t padded[FORMAT_SIZE_MAX + 1];
	struct run whole = *run;

	memcpy(padded, run->data, run->len);
	memset(padded + run->len, 0, program->size - run->len);
	whole.data = padded;
	run_any(program, &whole, out);
}

__attribute__((noinline)) static void run_slowly(const struct program *program, const struct run *run, struct out *out)
{
	if (run->len < program->size)
		run_short(program, run, out);
	else
		run_any(program, run, out);
}

void program_run(const struct program *program, const struct program_env *env, const uint8_t *data, size_t len,
		 struct out *out)
{
	struct run run = { .data = data, .len = len, .env = env, .abi = program->abi };

	if (__builtin_expect(len >= program->size && !program->as_fields, 1))
		ops_run(program->ops, &run, out);
	else
		run_slowly(program, &run, out);
}

void program_fields(const struct schema_abi *abi, const struct format *format, const struct program_env *env,
		    const uint8_t *data, size_t len, struct out *out)
{
	struct run run = { .data = data, .len = len, .env = env, .abi = abi };

	fields_put(format, &run, out);
}
