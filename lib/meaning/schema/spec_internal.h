/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_SPEC_INTERNAL_H
#define WEFT_MEANING_SCHEMA_SPEC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr;
struct out;
struct place;
struct run;

/*
 * One conversion of a printf format as format_decode() of lib/vsprintf.c reads it: the characters from '%' to the
 * conversion's letter, and the letters and digits after %p.
 */
enum spec_kind { SPEC_NONE, SPEC_NUMBER, SPEC_CHAR, SPEC_STRING, SPEC_POINTER, SPEC_PERCENT };

enum spec_flags {
	SPEC_LEFT = 1 << 0,
	SPEC_PLUS = 1 << 1,
	SPEC_SPACE = 1 << 2,
	SPEC_SPECIAL = 1 << 3,
	SPEC_ZEROS = 1 << 4,
	SPEC_SIGNED = 1 << 5,
	SPEC_SMALL = 1 << 6,
	SPEC_STAR_WIDTH = 1 << 7,
	SPEC_STAR_PRECISION = 1 << 8,
};

struct spec {
	uint8_t kind;
	uint8_t base;
	uint8_t size; /* for a number: the size that the argument is cut to */
	uint16_t flags;
	int32_t width;     /* -1: none */
	int32_t precision; /* -1: none */
	char how[8];       /* after %p, NUL-terminated */
};

enum { SPEC_WIDTH_MAX = 8192 };

/*
 * Reads a conversion at *at, just after a '%'; *at is then after the conversion. SPEC_NONE: the kernel does not know
 * it.
 */
void spec_read(struct spec *spec, const char **at, const char *end, uint8_t long_size);
void spec_set_width(struct spec *spec, int32_t width);
void spec_set_precision(struct spec *spec, int32_t precision);

/* Prints like number() of lib/vsprintf.c; the value is already cut and extended. */
void spec_number(const struct spec *spec, uint64_t value, struct out *out);
void spec_char(const struct spec *spec, char c, struct out *out);
void spec_string(const struct spec *spec, const char *text, size_t len, struct out *out);

/* Cuts the text that was written since `start` (an out_len()) to the precision, and pads it to the width. */
void spec_widen(const struct spec *spec, size_t start, struct out *out);

/* Prints like pointer(): a value, and bytes of the record. */
void spec_pointer(const struct spec *spec, uint64_t value, const struct run *run, struct out *out);
void spec_place(const struct spec *spec, struct place place, const struct run *run, struct out *out);

#endif
