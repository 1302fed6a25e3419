/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_CSV_H
#define WEFT_FORMATS_EXPORT_CSV_H

#include <stddef.h>

struct out;

/*
 * A text of any origin as a field of comma-separated values (RFC 4180), in quotes where it has to be. What is not UTF-8 becomes U+FFFD,
 * one for each byte.
 */
void csv_text(struct out *out, const void *text, size_t len);

#endif
