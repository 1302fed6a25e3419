/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_UTF8_H
#define WEFT_GROUND_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * The number of bytes of the UTF-8 character (RFC 3629) that begins at `at`, of `left` bytes; 0: no valid character
 * begins there.
 */
size_t utf8_len(const void *at, size_t left);

/*
 * The number of terminal columns that a text needs: none for combining marks and characters without a width, two for
 * wide East Asian characters and pictures, one for everything else, also for each byte that is not UTF-8.
 */
size_t utf8_columns(const char *text, size_t len);

/*
 * The same of the first character: its number, its number of bytes, at least one, and its columns. A byte that is not
 * UTF-8 is U+FFFD.
 */
unsigned utf8_next(const char *text, size_t left, uint32_t *ret_character, size_t *ret_len);

/* The number of bytes at the start of a text that fit into `columns` columns. No character is cut. */
size_t utf8_fit(const char *text, size_t len, size_t columns);

#endif
