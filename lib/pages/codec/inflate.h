/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_CODEC_INFLATE_H
#define WEFT_PAGES_CODEC_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Decompresses a zlib stream (RFC 1950, 1951) of unknown origin by zlib. Memory does not depend on what the stream
 * claims; every byte of the result is the caller's to take or to refuse.
 */
struct inflate_ends {
	/* Returns how many bytes it wrote to `to`, 0 at the end, or -errno with a text. */
	int (*read)(void *arg, uint8_t *to, size_t size, struct fail *fail);
	/* Takes bytes of the result. Returns 0, or -errno with a text, which ends the decompression. */
	int (*write)(void *arg, const uint8_t *bytes, size_t len, struct fail *fail);
	void *arg;
};

/* Returns 0 at the stream's end; -EBADMSG if it is damaged or cut off. What was decompressed before was written. */
int must_check inflate_run(const struct inflate_ends *ends, struct fail *fail);

/* Decompresses exactly `size` bytes. False: the stream is damaged, or makes more bytes or fewer. */
bool inflate_exactly(const void *data, size_t len, void *ret, size_t size);

#endif
