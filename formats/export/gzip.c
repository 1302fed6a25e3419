// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/gzip.h"

#include "lib/base/out.h"

#include <stdint.h>

enum { BLOCK_MAX = 65535, CODES = 256 };

/* The CRC of RFC 1952, section 8. */
static uint32_t crc_of(const uint8_t *at, size_t len)
{
	uint32_t codes[CODES], crc = UINT32_MAX;

	for (uint32_t i = 0; i < CODES; i++) {
		codes[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			codes[i] = codes[i] & 1 ? codes[i] >> 1 ^ 0xedb88320 : codes[i] >> 1;
	}
	for (size_t i = 0; i < len; i++)
		crc = codes[(crc ^ at[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void put_little(struct out *out, uint32_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out_char(out, (char)(value >> i * 8));
}

void gzip_put(struct out *out, const void *bytes, size_t len)
{
	/* Deflate, no name, no date, the fastest algorithm, any system. */
	static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255 };
	const uint8_t *at = bytes;
	size_t left = len;

	out_mem(out, head, sizeof(head));
	do {
		size_t part = left < BLOCK_MAX ? left : BLOCK_MAX;

		left -= part;
		out_char(out, left ? 0 : 1);
		put_little(out, (uint32_t)part, 2);
		put_little(out, ~(uint32_t)part, 2);
		out_mem(out, at, part);
		at += part;
	} while (left);
	put_little(out, crc_of(bytes, len), 4);
	put_little(out, (uint32_t)len, 4);
}
