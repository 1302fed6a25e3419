/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCHEMA_COMPILE_INTERNAL_H
#define WEFT_SCHEMA_COMPILE_INTERNAL_H

#include "lib/schema/expr_internal.h"
#include "lib/schema/spec_internal.h"

struct arena;
struct format;
struct program;
struct schema_abi;

/*
 * The inside of a program: each op is a literal prefix and a conversion. Everything it points to lies in the format's
 * arena. An op reads the first format->size bytes of a record without a check; program_run() makes sure that they
 * exist. Simple numbers are read without a branch, together with the seven bytes before them, which always exist: the
 * common fields.
 */
enum op_code {
	CODE_LITERAL,                 /* only the prefix; always the last op, and no other */
	CODE_UNSIGNED,                /* a field as %u */
	CODE_SIGNED,                  /* a field as %d */
	CODE_ZEROS,                   /* a field as %03d */
	CODE_HEX,                     /* a field as %x */
	CODE_HEX_ZEROS,               /* a field as %08x */
	CODE_POINTER,                 /* a field as %p or %px */
	CODE_STRING_16,               /* a char array of 16 bytes, as every comm is, as %s */
	CODE_CHOICE,                  /* one of two short texts, chosen by a field: ? "on" : "off" */
	CODE_SHORT_MAX = CODE_CHOICE, /* codes up to here write at most OP_ROOM bytes */
	CODE_STRING,                  /* a char array as %s */
	CODE_DYN_STRING,              /* __get_str() as %s */
	CODE_TEXT,                    /* any text as %s */
	CODE_NUMBER,                  /* any number */
	CODE_OTHER,                   /* any conversion of anything */
};

/* The bytes that an op of a short code may write after its prefix, including what it copies beyond its text. */
enum { OP_ROOM = 64, OP_HEAD = 16 };

/* The members that nearly every op uses are in one cache line. */
struct op {
	uint8_t code;
	uint8_t shift; /* the number is in the top bits of the eight bytes at `offset` */
	uint8_t width;
	uint32_t offset;
	uint32_t size;
	/* bytes for its prefix and for the following ops while their codes are short; at most OUT_NEED_MAX */
	uint32_t room;
	uint32_t prefix_len;
	char head[OP_HEAD]; /* the start of the prefix */
	const char *tail;   /* the rest of the prefix */
	union {
		const struct expr *expr;
		const struct choice *choice; /* for CODE_CHOICE */
	};
	struct conversion *conversion; /* the conversion in the print fmt */
};

enum { CHOICE_TEXT = 16 };

struct choice {
	char texts[2][CHOICE_TEXT]; /* [0] when the field has a bit of the mask, else [1] */
	uint32_t lens[2];
	uint64_t mask;
};

struct conversion {
	struct spec spec;
	const struct expr *star_width, *star_precision;
};

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
