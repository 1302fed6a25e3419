/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_UTF8_H
#define WEFT_BASE_UTF8_H

#include <stddef.h>

/* How many bytes the UTF-8 character (RFC 3629) has that begins at `at`, of `left` bytes; 0: none begins there. */
size_t utf8_len(const void *at, size_t left);

/*
 * How many columns of a terminal a text needs: none for marks that combine with the character before and for characters without a
 * width, two for the wide characters of East Asia and for pictures, one for all else, also for each byte that is not UTF-8.
 */
size_t utf8_columns(const char *text, size_t len);

/* How many bytes at the start of a text need no more than `columns` columns. No character is cut. */
size_t utf8_fit(const char *text, size_t len, size_t columns);

#endif
