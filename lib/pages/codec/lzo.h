/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_CODEC_LZO_H
#define WEFT_PAGES_CODEC_LZO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decompresses exactly `size` bytes of LZO1X (Documentation/staging/lzo.rst of the kernel) of unknown origin. False:
 * the stream is damaged, or makes more bytes or fewer.
 * Not supported: streams with runs of zeros (LZO-RLE).
 */
bool lzo_read(const void *data, size_t len, void *ret, size_t size);

#endif
