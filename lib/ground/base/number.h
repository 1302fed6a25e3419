/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_NUMBER_H
#define WEFT_GROUND_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Numbers inside texts that programs wrote: files of tracefs and /proc, weft's own journals. What a user wrote is
 * parsed by text_parse_u64() and its siblings, which say in words what is wrong. A parser takes the digits at *at and
 * moves *at past them. It returns false and changes nothing when no digit is there or the number does not fit its type.
 * Nothing depends on a locale. The text ends with NUL.
 */
bool number_u64(const char **at, uint64_t *ret);
bool number_u32(const char **at, uint32_t *ret);

/* Accepts a '-' in front. */
bool number_s64(const char **at, int64_t *ret);
bool number_s32(const char **at, int32_t *ret);

/* Hexadecimal digits, with or without 0x in front. */
bool number_hex(const char **at, uint64_t *ret);

/*
 * The number after leading blanks that fills the text or its line, as in most files of tracefs; `otherwise` when there
 * is none.
 */
uint64_t number_of(const char *text, uint64_t otherwise);

/* The number after the first `name` in the text, as in "MemFree:   12 kB". */
bool number_after(const char *text, const char *name, uint64_t *ret);

#endif
