/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_COMPILE_INTERNAL_H
#define WEFT_MEANING_SCHEMA_COMPILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct format;
struct op;
struct program;
struct schema_abi;

struct program {
	const struct schema_abi *abi;
	const struct format *format;
	const struct op *ops;
	uint32_t nr_ops;
	uint32_t size;  /* shorter records are padded with zeros */
	bool as_fields; /* prints the fields, as there are no ops */
};

/* NULL only when memory is short. The arena must outlive the program. *ret_note as in schema_program(). */
struct program *program_compile(const struct schema_abi *abi, const struct format *format, struct arena *arena,
				const char **ret_note);

/*
 * Compiles a print fmt into the program, or returns false with the reason in `why`. *ret_note is set when names were
 * unknown.
 */
bool compile_print_fmt(struct program *program, struct arena *arena, char *why, size_t why_len, const char **ret_note);

#endif
