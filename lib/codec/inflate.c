// SPDX-License-Identifier: GPL-2.0-only
#include "lib/codec/inflate.h"

#include "lib/base/fail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = 1 << 15,
	BITS_MAX = 15,
	LITERALS = 288,
	DISTANCES = 32,
	LENGTH_CODES = 19,
	END_OF_BLOCK = 256,
	INPUT = 4096,
	ADLER_BASE = 65521,
};

/* A canonical Huffman code: how many symbols have each length, and the symbols in the order of their codes. */
struct code {
	uint16_t counts[BITS_MAX + 1];
	uint16_t symbols[LITERALS];
};

struct inflate {
	const struct inflate_ends *ends;
	struct fail *fail;
	int error; /* the first one; after it, all bits are 0 */
	uint8_t input[INPUT];
	size_t at, len;
	uint32_t bits;
	unsigned nr_bits;
	uint8_t window[WINDOW];
	size_t filled; /* bytes of the window that were not written yet end here */
	uint64_t total;
	uint32_t adler_a, adler_b;
	struct code literals, distances;
};

static void damaged(struct inflate *in, const char *what)
{
	if (!in->error)
		in->error = fail_set(in->fail, -EBADMSG, "the compressed text is damaged: %s", what);
}

static uint8_t next_byte(struct inflate *in)
{
	if (in->at == in->len && !in->error) {
		int r = in->ends->read(in->ends->arg, in->input, sizeof(in->input), in->fail);

		in->at = 0;
		in->len = r > 0 ? (size_t)r : 0;
		if (r < 0)
			in->error = r;
		else if (!r)
			damaged(in, "it is cut off");
	}
	return in->error ? 0 : in->input[in->at++];
}

static uint32_t bits(struct inflate *in, unsigned nr)
{
	uint32_t value;

	while (in->nr_bits < nr) {
		in->bits |= (uint32_t)next_byte(in) << in->nr_bits;
		in->nr_bits += 8;
	}
	value = in->bits & ((1u << nr) - 1);
	in->bits >>= nr;
	in->nr_bits -= nr;
	return value;
}

static void flush(struct inflate *in)
{
	for (size_t i = 0; i < in->filled; i++) {
		in->adler_a = (in->adler_a + in->window[i]) % ADLER_BASE;
		in->adler_b = (in->adler_b + in->adler_a) % ADLER_BASE;
	}
	if (in->filled && !in->error)
		in->error = in->ends->write(in->ends->arg, in->window, in->filled, in->fail);
	in->filled = 0;
}

/* The window is written when it is full, and keeps its bytes: distances go back over its end. */
static void put(struct inflate *in, uint8_t byte)
{
	in->window[in->filled++] = byte;
	in->total++;
	if (in->filled == WINDOW)
		flush(in);
}

/* Returns false if the lengths ask for more codes than there are. */
static bool code_make(struct code *code, const uint8_t *lengths, size_t nr)
{
	uint16_t offsets[BITS_MAX + 1];
	int32_t free_codes = 1;

	memset(code->counts, 0, sizeof(code->counts));
	for (size_t i = 0; i < nr; i++)
		code->counts[lengths[i]]++;
	for (unsigned bits = 1; bits <= BITS_MAX; bits++) {
		free_codes = free_codes * 2 - code->counts[bits];
		if (free_codes < 0)
			return false;
	}
	offsets[1] = 0;
	for (unsigned bits = 1; bits < BITS_MAX; bits++)
		offsets[bits + 1] = (uint16_t)(offsets[bits] + code->counts[bits]);
	for (size_t i = 0; i < nr; i++)
		if (lengths[i])
			code->symbols[offsets[lengths[i]]++] = (uint16_t)i;
	return true;
}

static unsigned decode(struct inflate *in, const struct code *code)
{
	int32_t value = 0, first = 0, index = 0;

	for (unsigned len = 1; len <= BITS_MAX; len++) {
		int32_t count = code->counts[len];

		value |= (int32_t)bits(in, 1);
		if (value - count < first)
			return code->symbols[index + (value - first)];
		index += count;
		first = (first + count) << 1;
		value <<= 1;
	}
	damaged(in, "there is no such code");
	return END_OF_BLOCK;
}

static void copy(struct inflate *in, unsigned symbol)
{
	static const uint16_t lengths[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
					    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const uint8_t length_bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					       2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	static const uint16_t distances[] = { 1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
					      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
					      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
	static const uint8_t distance_bits[] = { 0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
						 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };
	uint32_t len, distance;

	symbol -= END_OF_BLOCK + 1;
	if (symbol >= array_size(lengths)) {
		damaged(in, "there is no such length");
		return;
	}
	len = lengths[symbol] + bits(in, length_bits[symbol]);
	symbol = decode(in, &in->distances);
	if (symbol >= array_size(distances)) {
		damaged(in, "there is no such distance");
		return;
	}
	distance = distances[symbol] + bits(in, distance_bits[symbol]);
	if (distance > in->total) {
		damaged(in, "it refers to bytes before its start");
		return;
	}
	for (; len && !in->error; len--)
		put(in, in->window[(in->filled + WINDOW - distance) % WINDOW]);
}

static void read_codes(struct inflate *in)
{
	while (!in->error) {
		unsigned symbol = decode(in, &in->literals);

		if (symbol == END_OF_BLOCK)
			return;
		if (symbol < END_OF_BLOCK)
			put(in, (uint8_t)symbol);
		else
			copy(in, symbol);
	}
}

static void read_stored(struct inflate *in)
{
	uint32_t len, check;

	in->bits = 0;
	in->nr_bits = 0;
	len = bits(in, 16);
	check = bits(in, 16);
	if ((len ^ check) != 0xffff)
		damaged(in, "a length is wrong");
	for (; len && !in->error; len--)
		put(in, next_byte(in));
}

static void read_fixed(struct inflate *in)
{
	uint8_t lengths[LITERALS];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	(void)code_make(&in->literals, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	(void)code_make(&in->distances, lengths, DISTANCES);
	read_codes(in);
}

/* Reads the lengths of both codes, which are compressed by a third one. */
static bool read_lengths(struct inflate *in, uint8_t *lengths, size_t nr)
{
	size_t at = 0;

	while (at < nr && !in->error) {
		unsigned symbol = decode(in, &in->literals), times = 1;
		uint8_t length = 0;

		if (symbol < 16) {
			length = (uint8_t)symbol;
		} else if (symbol == 16) {
			if (!at)
				return false;
			length = lengths[at - 1];
			times = 3 + bits(in, 2);
		} else {
			times = symbol == 17 ? 3 + bits(in, 3) : 11 + bits(in, 7);
		}
		if (symbol > 18 || times > nr - at)
			return false;
		memset(lengths + at, length, times);
		at += times;
	}
	return !in->error;
}

static void read_dynamic(struct inflate *in)
{
	static const uint8_t order[LENGTH_CODES] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[LITERALS + DISTANCES] = { 0 };
	size_t nr_literals = bits(in, 5) + 257, nr_distances = bits(in, 5) + 1, nr = bits(in, 4) + 4;

	for (size_t i = 0; i < nr; i++)
		lengths[order[i]] = (uint8_t)bits(in, 3);
	if (nr_literals > LITERALS || !code_make(&in->literals, lengths, LENGTH_CODES)) {
		damaged(in, "its codes are wrong");
		return;
	}
	memset(lengths, 0, sizeof(lengths));
	if (!read_lengths(in, lengths, nr_literals + nr_distances) || !code_make(&in->literals, lengths, nr_literals) ||
	    !code_make(&in->distances, lengths + nr_literals, nr_distances)) {
		damaged(in, "its codes are wrong");
		return;
	}
	read_codes(in);
}

static void read_blocks(struct inflate *in)
{
	bool last = false;

	while (!last && !in->error) {
		last = bits(in, 1);
		switch (bits(in, 2)) {
		case 0:
			read_stored(in);
			break;
		case 1:
			read_fixed(in);
			break;
		case 2:
			read_dynamic(in);
			break;
		default:
			damaged(in, "there is no such kind of block");
		}
	}
}

static void read_sum(struct inflate *in)
{
	uint32_t sum = 0;

	in->bits = 0;
	in->nr_bits = 0;
	for (unsigned i = 0; i < 4; i++)
		sum = sum << 8 | next_byte(in);
	if (!in->error && sum != (in->adler_b << 16 | in->adler_a))
		damaged(in, "its checksum is wrong");
}

int inflate_run(const struct inflate_ends *ends, struct fail *fail)
{
	struct inflate *in = calloc(1, sizeof(*in));
	uint8_t method, flags;
	int r;

	if (!in)
		return fail_memory(fail);
	in->ends = ends;
	in->fail = fail;
	in->adler_a = 1;
	method = next_byte(in);
	flags = next_byte(in);
	if ((method & 15) != 8 || (method << 8 | flags) % 31 || flags & 32)
		damaged(in, "it is no zlib stream");
	read_blocks(in);
	flush(in);
	if (!in->error)
		read_sum(in);
	r = in->error;
	free(in);
	return r;
}
