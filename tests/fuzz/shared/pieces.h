/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FUZZ_PIECES_H
#define WEFT_FUZZ_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fail;

/* An input that is read in pieces of 1 to `most` bytes, each a byte longer than the one before. */
struct pieces {
	const uint8_t *at;
	size_t left, next, most;
};

static inline int pieces_read(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct pieces *pieces = arg;
	size_t len = pieces->next++ % pieces->most + 1;

	(void)fail;
	len = len < size ? len : size;
	len = len < pieces->left ? len : pieces->left;
	if (len)
		memcpy(to, pieces->at, len);
	pieces->at += len;
	pieces->left -= len;
	return (int)len;
}

#endif
