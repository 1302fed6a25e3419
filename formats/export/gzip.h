/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_GZIP_H
#define WEFT_FORMATS_EXPORT_GZIP_H

#include <stddef.h>

struct out;

/* Appends the bytes as a gzip file (RFC 1952) without compression, for formats that require gzip. */
void gzip_put(struct out *out, const void *bytes, size_t len);

#endif
