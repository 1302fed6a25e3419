/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_CODEC_MADE_INTERNAL_H
#define WEFT_PAGES_CODEC_MADE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"

/* What a stream of literals and repetitions makes. Nothing is written behind `size`, or read in front of `at`. */
struct made {
	uint8_t *at;
	size_t len, size;
};

/* Adds so many bytes of the stream as they are. */
static inline bool made_take(struct made *made, struct bytes *in, size_t len)
{
	const uint8_t *from;

	if (len > made->size - made->len || !bytes_take(in, len, &from))
		return false;
	if (len)
		memcpy(made->at + made->len, from, len);
	made->len += len;
	return true;
}

/* Adds again what was made `distance` bytes ago. It may reach into what it makes. */
static inline bool made_repeat(struct made *made, size_t distance, size_t len)
{
	if (!distance || distance > made->len || len > made->size - made->len)
		return false;
	for (; len; len--, made->len++)
		made->at[made->len] = made->at[made->len - distance];
	return true;
}

#endif
