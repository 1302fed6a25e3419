/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_NUMBER_H
#define WEFT_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Numbers inside texts that programs wrote: files of tracefs and /proc, weft's own journals. What a user wrote is parsed by
 * text_parse_u64() and its like, which say in words what is wrong.
 * A parser takes the digits at *at and moves *at behind them. It returns false, and changes nothing, where no digit stands or where the
 * number does not fit into its type. Nothing here depends on a locale. The text ends with NUL.
 */
bool number_u64(const char **at, uint64_t *ret);
bool number_u32(const char **at, uint32_t *ret);

/* With or without a '-' in front. */
bool number_s64(const char **at, int64_t *ret);
bool number_s32(const char **at, int32_t *ret);

/* Hexadecimal digits, with or without 0x in front. */
bool number_hex(const char **at, uint64_t *ret);

/* The number behind blanks, with which the text or its line ends: what most files of tracefs hold. Otherwise `otherwise`. */
uint64_t number_of(const char *text, uint64_t otherwise);

/* The number behind the first `name` in the text and behind blanks, as in "MemFree:   12 kB". */
bool number_after(const char *text, const char *name, uint64_t *ret);

#endif
