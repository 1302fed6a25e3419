/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_COMPILE_H
#define WEFT_SCHEMA_COMPILE_H

#include "lib/schema/expr.h"
#include "lib/schema/spec.h"

struct arena;
struct fallback;
struct format;
struct program;
struct schema_abi;

/*
 * The inside of a program: a literal and a conversion per op. Everything it points to lives in the format's arena.
 * An op reads the first format->size bytes of a record without asking; program_run() sees to it that they are there.
 * Simple numbers are read without a branch, with the seven bytes before them; there always are some: the common fields.
 */
enum op_code {
	CODE_LITERAL,           /* the prefix only */
	CODE_UNSIGNED,          /* a field as %u */
	CODE_SIGNED,            /* a field as %d */
	CODE_HEX,               /* a field as %x */
	CODE_HEX_ZEROS,         /* a field as %08x */
	CODE_POINTER,           /* a field as %p or %px */
	CODE_STRING,            /* a char array as %s */
	CODE_STRING_16,         /* of 16 bytes, as every comm is */
	CODE_DYN_STRING,        /* __get_str() as %s */
	CODE_TEXT,              /* any text as %s */
	CODE_NUMBER,            /* any number */
	CODE_OTHER,             /* any conversion of anything */
};

struct op {
	uint8_t code;
	uint8_t shift;          /* a number is the top of the eight bytes at offset */
	uint8_t width;
	uint32_t offset;
	uint32_t size;
	uint32_t prefix_len;
	const char *prefix;     /* readable up to a multiple of 16 bytes */
	const struct expr *expr;
	const struct expr *star_width, *star_precision;
	struct spec spec;
};

struct program {
	const struct schema_abi *abi;
	const struct format *format;
	const struct op *ops;
	uint32_t nr_ops;
	uint32_t size;          /* a record is at least this long, or padded with zeros */
	struct fallback *fallback;
	bool as_fields;
};

/* NULL only without memory. The arena must outlive the program. *ret_note as in schema_program(). */
struct program *program_compile(const struct schema_abi *abi, const struct format *format, const char *text, size_t len,
				struct arena *arena, const char **ret_note);
void program_release(struct program *program);

/* The ops of a print fmt into the program, or false: `why` then says why. *ret_note is set when names were unknown. */
bool compile_print_fmt(struct program *program, struct arena *arena, char *why, size_t why_len, const char **ret_note);

#endif
