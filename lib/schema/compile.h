/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_COMPILE_H
#define WEFT_SCHEMA_COMPILE_H

#include "lib/schema/expr.h"
#include "lib/schema/spec.h"

struct arena;
struct format;
struct program;
struct schema_abi;

/*
 * The inside of a program: a literal and a conversion per op. Everything it points to lives in the format's arena.
 * An op reads the first format->size bytes of a record without asking; program_run() sees to it that they are there.
 * Simple numbers are read without a branch, with the seven bytes before them; there always are some: the common fields.
 */
enum op_code {
	CODE_LITERAL,                 /* the prefix only; always the last op, and never another */
	CODE_UNSIGNED,                /* a field as %u */
	CODE_SIGNED,                  /* a field as %d */
	CODE_ZEROS,                   /* a field as %03d */
	CODE_HEX,                     /* a field as %x */
	CODE_HEX_ZEROS,               /* a field as %08x */
	CODE_POINTER,                 /* a field as %p or %px */
	CODE_STRING_16,               /* a char array of 16 bytes, as every comm is, as %s */
	CODE_CHOICE,                  /* one of two short texts, as a field says: ? "on" : "off" */
	CODE_SHORT_MAX = CODE_CHOICE, /* all up to here write OP_ROOM bytes at most */
	CODE_STRING,                  /* a char array as %s */
	CODE_DYN_STRING,              /* __get_str() as %s */
	CODE_TEXT,                    /* any text as %s */
	CODE_NUMBER,                  /* any number */
	CODE_OTHER,                   /* any conversion of anything */
};

/* What an op of a short code may write behind its prefix, with what it copies over the end of that. */
enum { OP_ROOM = 64, OP_HEAD = 16 };

/* What nearly every op needs is in one cache line. */
struct op {
	uint8_t code;
	uint8_t shift; /* a number is the top of the eight bytes at offset */
	uint8_t width;
	uint32_t offset;
	uint32_t size;
	uint32_t
		room; /* for its prefix and, as long as the codes are short, for all that follows; OUT_NEED_MAX at most */
	uint32_t prefix_len;
	char head[OP_HEAD]; /* how the prefix begins */
	const char *tail;   /* how it goes on */
	union {
		const struct expr *expr;
		const struct choice *choice; /* of CODE_CHOICE */
	};
	struct conversion *conversion; /* as it was written */
};

enum { CHOICE_TEXT = 16 };

struct choice {
	char texts[2][CHOICE_TEXT]; /* [1] of a field that has none of the mask */
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
	uint32_t size;  /* a record is at least this long, or padded with zeros */
	bool as_fields; /* there are no ops */
};

/* NULL only without memory. The arena must outlive the program. *ret_note as in schema_program(). */
struct program *program_compile(const struct schema_abi *abi, const struct format *format, struct arena *arena,
				const char **ret_note);

/* The ops of a print fmt into the program, or false: `why` then says why. *ret_note is set when names were unknown. */
bool compile_print_fmt(struct program *program, struct arena *arena, char *why, size_t why_len, const char **ret_note);

#endif
