/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_OPS_INTERNAL_H
#define WEFT_MEANING_SCHEMA_OPS_INTERNAL_H

#include "lib/ground/base/out.h"
#include "lib/meaning/schema/expr_internal.h"
#include "lib/meaning/schema/spec_internal.h"

struct op;

/* Writes the text of an op at `at`, where its room is, and calls the next op. The last one sets out->at. */
typedef void op_put(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out);

/*
 * The ops of a program: each is a literal prefix and a conversion, fused. Everything an op points to lies in the
 * format's arena. An op reads the first format->size bytes of a record without a check; program_run() makes sure that
 * they exist.
 */
enum op_code {
	CODE_LITERAL,                     /* only the prefix; always the last op, and no other */
	CODE_TAIL,                        /* the rest of a long prefix */
	CODE_UNSIGNED,                    /* a field as %u */
	CODE_SIGNED,                      /* a field as %d */
	CODE_ZEROS,                       /* a field as %03d */
	CODE_HEX,                         /* a field as %x */
	CODE_HEX_ZEROS,                   /* a field as %08x */
	CODE_POINTER,                     /* a field as %p or %px */
	CODE_STRING_16,                   /* a char array of 16 bytes, as every comm is, as %s */
	CODE_CHOICE,                      /* one of two short texts, chosen by a field: ? "on" : "off" */
	CODE_TEXTS,                       /* a text that depends on one field: tables of flags and symbols */
	CODE_STRING,                      /* a char array as %s */
	CODE_DYN_STRING,                  /* __get_str() as %s */
	CODE_SHORT_MAX = CODE_DYN_STRING, /* codes up to here write at most OP_ROOM bytes, or ask for room themselves */
	CODE_TEXT,                        /* any text as %s */
	CODE_NUMBER,                      /* any number */
	CODE_OTHER,                       /* any conversion of anything */
};

/* The bytes that an op of a short code may write after its prefix, including what it copies beyond its text. */
enum { OP_ROOM = 64, OP_HEAD = 16 };

/* The members that nearly every op uses are in one cache line. */
struct op {
	op_put *put;
	uint32_t offset;
	uint8_t prefix_len; /* at most OP_HEAD */
	uint8_t width;
	uint8_t code;
	char head[OP_HEAD]; /* the prefix */
	union {
		const struct choice *choice; /* for CODE_CHOICE */
		const struct texts *texts;   /* for CODE_TEXTS */
		const char *tail;            /* for CODE_TAIL */
	};
	const struct expr *expr;
	struct conversion *conversion; /* the conversion in the print fmt */
	uint32_t size;                 /* of the field, or of the tail */
	/* bytes for its prefix and for the following ops while their codes are short; at most OUT_NEED_MAX */
	uint32_t room;
};

enum { CHOICE_TEXT = 16, TEXTS_MAX = 256, TEXTS_TEXT = 15 };

struct choice {
	char texts[2][CHOICE_TEXT]; /* [0] when the field has a bit of the mask, else [1] */
	uint32_t lens[2];
	uint64_t mask;
};

/* The texts of each value of `mask` of a field, as far as they are short and the value is below `nr`. */
struct texts {
	uint64_t mask;
	uint32_t nr;
	struct short_text {
		char text[TEXTS_TEXT];
		uint8_t len; /* TEXTS_TEXT + 1 for a text that is too long */
	} of[];
};

struct conversion {
	struct spec spec;
	const struct expr *star_width, *star_precision;
};

/* Chooses the function of an op by its code and the size of its field. */
void op_link(struct op *op);

/* The prefix is copied whole: the room contains OP_HEAD bytes more than the text. The call is a jump. */
static inline void op_begin(const struct op *op, char *at, const uint8_t *data, const struct run *run, struct out *out)
{
	memcpy(at, op->head, OP_HEAD);
	op->put(op, at + op->prefix_len, data, run, out);
}

/* Runs ops up to the last one. */
static inline void ops_run(const struct op *op, const struct run *run, struct out *out)
{
	out_need(out, op->room);
	op_begin(op, out->at, run->data, run, out);
}

#endif
