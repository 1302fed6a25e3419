// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/codec/snappy.h"

#include "lib/pages/codec/made_internal.h"

enum { LITERAL, NEAR, WORD, FAR }; /* the low 2 bits of an element's tag */
enum { LONG_LITERAL = 60, LENGTH_BYTES = 5 };

/* A number of `nr` bytes, the lowest first. */
static bool number(struct bytes *in, unsigned nr, size_t *ret)
{
	uint8_t byte;

	*ret = 0;
	for (unsigned i = 0; i < nr; i++) {
		if (!bytes_u8(in, &byte))
			return false;
		*ret |= (size_t)byte << i * 8;
	}
	return true;
}

/* The length of all that is made stands in front, 7 bits in a byte. */
static bool head(struct bytes *in, size_t *ret)
{
	uint64_t len = 0;
	uint8_t byte = 0x80;

	for (unsigned i = 0; byte & 0x80; i++) {
		if (i == LENGTH_BYTES || !bytes_u8(in, &byte))
			return false;
		len |= (uint64_t)(byte & 0x7f) << i * 7;
	}
	*ret = (size_t)len;
	return len <= UINT32_MAX;
}

static bool element(struct bytes *in, uint8_t tag, struct made *made)
{
	size_t len = (size_t)(tag >> 2) + 1, distance;

	switch (tag & 3) {
	case LITERAL:
		if (len > LONG_LITERAL) {
			if (!number(in, (unsigned)(len - LONG_LITERAL), &len) || len >= made->size)
				return false;
			len++;
		}
		return made_take(made, in, len);
	case NEAR:
		return number(in, 1, &distance) &&
		       made_repeat(made, distance | (size_t)(tag >> 5) << 8, 4 + (tag >> 2 & 7));
	default:
		return number(in, (tag & 3) == WORD ? 2 : 4, &distance) && made_repeat(made, distance, len);
	}
}

bool snappy_read(const void *data, size_t len, void *ret, size_t size)
{
	struct bytes in = bytes_of(data, len, false);
	struct made made = { .at = ret, .size = size };
	size_t all;
	uint8_t tag;

	if (!head(&in, &all) || all != size)
		return false;
	while (bytes_u8(&in, &tag))
		if (!element(&in, tag, &made))
			return false;
	return made.len == size;
}
