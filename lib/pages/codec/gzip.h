/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_CODEC_GZIP_H
#define WEFT_PAGES_CODEC_GZIP_H

#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;

/*
 * Appends the bytes as a gzip file (RFC 1952), compressed by zlib; without a name or a date, so that the same bytes
 * give the same file. Returns -ENOMEM if there is no memory for the compression; the caller checks `out`.
 */
int must_check gzip_put(struct out *out, const void *bytes, size_t len, struct fail *fail);

#endif
