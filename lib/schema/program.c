// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/schema/program.h"

#include "lib/schema/arena_internal.h"
#include "lib/schema/compile_internal.h"
#include "lib/schema/fields_internal.h"
#include "lib/schema/format.h"
#include "lib/schema/format_internal.h"
#include "lib/schema/ops_internal.h"

#include <stdio.h>

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

void program_fields(const struct schema *schema, const struct format *format, const struct program_env *env,
		    const uint8_t *data, size_t len, struct out *out)
{
	struct run run = { .data = data, .len = len, .env = env, .abi = schema_abi(schema) };

	fields_put(format, &run, out);
}
