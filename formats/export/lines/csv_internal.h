/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_LINES_CSV_INTERNAL_H
#define WEFT_FORMATS_EXPORT_LINES_CSV_INTERNAL_H

#include <stddef.h>

struct out;

/*
 * Writes an untrusted text as a field of comma-separated values (RFC 4180), in quotes if needed. Each byte that is not
 * UTF-8 becomes U+FFFD.
 */
void csv_text(struct out *out, const void *text, size_t len);

#endif
