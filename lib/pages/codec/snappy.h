/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_CODEC_SNAPPY_H
#define WEFT_PAGES_CODEC_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decompresses exactly `size` bytes of Snappy's raw format (format_description.txt of Snappy) of unknown origin. False:
 * the stream is damaged, or makes more bytes or fewer.
 */
bool snappy_read(const void *data, size_t len, void *ret, size_t size);

#endif
