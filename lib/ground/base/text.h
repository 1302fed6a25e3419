/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_TEXT_H
#define WEFT_GROUND_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Parses what users write and prints numbers for people. Nothing depends on a locale. A parser takes the whole text or
 * fails with -EINVAL (-ERANGE: too large) and a text that names the word; *ret is then unchanged.
 */

/*
 * Matches the whole text against `*`, `?`, `[a-z]`, `[!a-z]` and backslash. The time is bounded by the product of the
 * lengths.
 */
bool text_glob(const char *pattern, const char *text);
bool text_is_glob(const char *pattern);

/* Decimal, or hexadecimal after 0x. No sign, no blanks. */
int must_check text_parse_u64(const char *text, uint64_t *ret, struct fail *fail);
int must_check text_parse_s64(const char *text, int64_t *ret, struct fail *fail);
/* The same with bounds, which the error text names. */
int must_check text_parse_range(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct fail *fail);

/*
 * Bytes: "512K", "10M", "1.5G", "4096B", "64KiB"; powers of 1024 in either case; a bare number counts KB, as in
 * trace-cmd.
 */
int must_check text_parse_size(const char *text, uint64_t *ret_bytes, struct fail *fail);

/* Nanoseconds: "10ns", "5us", "10ms", "1.5s", "2m", "1h"; a bare number counts seconds. Exact: no floating point. */
int must_check text_parse_time(const char *text, uint64_t *ret_ns, struct fail *fail);

/*
 * Takes one word of a list: up to the first of `separators`. False at the end; empty words are skipped. The text is not
 * changed.
 */
struct text_word {
	const char *at;
	size_t len;
};
bool text_next_word(const char **at, const char *separators, struct text_word *ret);

/* Takes the next line without its newline; false at the end. `at` may hold any bytes; *left counts them. */
bool text_next_line(const char **at, size_t *left, struct text_word *ret);
bool text_word_is(struct text_word word, const char *text);
/* The word in brackets of a choice of tracefs, "local [global] mono". False: there is none; `text` may be NULL. */
bool text_chosen(const char *text, struct text_word *ret);
/* Compares byte by byte, as strcmp() does; a word that the other begins with is smaller. */
int text_word_compare(struct text_word one, struct text_word other);

static inline bool text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * text_is_name_char(): a letter, a digit or '_', the characters of names in the kernel's languages. text_is_name(): one
 * or more of them that do not begin with a digit.
 */
bool text_is_name_char(char c);
bool text_is_name(const char *text, size_t len);

/*
 * Print for people: "1.4 MiB", "12.3 ms" or "2m 05s", "1,234,567". The last digit is rounded (lib/ground/base/scale.h).
 * Each function returns `into`.
 */
enum { TEXT_HUMAN = 32 };
const char *text_size(char into[TEXT_HUMAN], uint64_t bytes);
const char *text_time(char into[TEXT_HUMAN], uint64_t ns);
const char *text_count(char into[TEXT_HUMAN], uint64_t count);
/* A time of a trace in ns as the kernel prints it, "12.345678": trace_print_time() of kernel/trace/trace_output.c. */
const char *text_stamp(char into[TEXT_HUMAN], uint64_t ts);
/* The same with all digits, "12.345678901": nothing is rounded. */
const char *text_seconds(char into[TEXT_HUMAN], uint64_t ns);
/* "s" for a plural noun, "" for 1. */
const char *text_plural(uint64_t count);

#endif
