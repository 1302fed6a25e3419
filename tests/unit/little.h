/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_LITTLE_H
#define WEFT_TESTS_UNIT_LITTLE_H

#include <string.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/test.h"

/* Files that a test makes by hand: numbers of `size` bytes, the low one first, on every machine. */
static inline void little_put(struct buf *to, size_t at, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size && CHECK(at + i < to->len); i++, value >>= 8)
		to->data[at + i] = (char)value;
}

static inline void little_add(struct buf *to, size_t size, uint64_t value)
{
	static const char zeros[8] = "";

	if (CHECK(size <= sizeof(zeros) && buf_add(to, zeros, size)))
		little_put(to, to->len - size, size, value);
}

/* The number of bytes of a text, and the text without its NUL. */
static inline void little_sized(struct buf *to, size_t size_of_size, const char *text)
{
	little_add(to, size_of_size, strlen(text));
	CHECK(buf_add_str(to, text));
}

/* A text with its NUL. */
static inline void little_name(struct buf *to, const char *text)
{
	CHECK(buf_add(to, text, strlen(text) + 1));
}

#endif
