// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/codec/lzo.h"

#include "lib/pages/codec/made_internal.h"

/*
 * An instruction repeats bytes and then takes up to 3 literals; how many of these there were (`state`) decides what the
 * shortest instruction means. After a longer run of literals the state is 4.
 */
enum { STATE_RUN = 4, FAR = 16384, AFTER_RUN = 2049, FIRST = 17 };

/* Adds a length that does not fit into an instruction: 255 for each zero, and the byte behind them. */
static bool add_length(struct bytes *in, size_t *len)
{
	uint8_t byte;

	do {
		if (!bytes_u8(in, &byte))
			return false;
		*len += byte ? byte : 255;
	} while (!byte);
	return true;
}

/* Reads a length that stands in the low bits of the instruction, or behind it if these are all 0. */
static bool length_of(struct bytes *in, unsigned instruction, unsigned mask, size_t least, size_t *ret)
{
	*ret = least + (instruction & mask);
	if (instruction & mask)
		return true;
	*ret += mask;
	return add_length(in, ret);
}

/* Instructions below 16. */
static bool shortest(struct bytes *in, unsigned instruction, unsigned *state, struct made *made)
{
	size_t len;
	uint8_t byte;

	if (!*state) {
		*state = STATE_RUN;
		return length_of(in, instruction, 15, 3, &len) && made_take(made, in, len);
	}
	if (!bytes_u8(in, &byte) ||
	    !made_repeat(made, ((size_t)byte << 2) + (instruction >> 2) + (*state == STATE_RUN ? AFTER_RUN : 1),
			 *state == STATE_RUN ? 3 : 2))
		return false;
	*state = instruction & 3;
	return made_take(made, in, *state);
}

/* Instructions from 16 to 63, in which a word of 16 bits follows. *ret_end: it is the end of the stream. */
static bool wordy(struct bytes *in, unsigned instruction, unsigned *state, struct made *made, bool *ret_end)
{
	bool is_far = instruction < 32;
	uint8_t low, high;
	size_t len, distance;

	if (!length_of(in, instruction, is_far ? 7 : 31, 2, &len) || !bytes_u8(in, &low) || !bytes_u8(in, &high))
		return false;
	distance = (size_t)low >> 2 | (size_t)high << 6;
	distance += is_far ? FAR + ((size_t)(instruction & 8) << 11) : 1;
	*ret_end = is_far && distance == FAR;
	*state = low & 3;
	return *ret_end || (made_repeat(made, distance, len) && made_take(made, in, *state));
}

/* Instructions from 64 on. */
static bool middle(struct bytes *in, unsigned instruction, unsigned *state, struct made *made)
{
	size_t len = instruction < 128 ? 3 + (instruction >> 5 & 1) : 5 + (instruction >> 5 & 3);
	uint8_t byte;

	*state = instruction & 3;
	return bytes_u8(in, &byte) && made_repeat(made, ((size_t)byte << 3) + (instruction >> 2 & 7) + 1, len) &&
	       made_take(made, in, *state);
}

bool lzo_read(const void *data, size_t len, void *ret, size_t size)
{
	struct bytes in = bytes_of(data, len, false);
	struct made made = { .at = ret, .size = size };
	bool end = false, ok = true;
	unsigned state = 0;

	if (in.left && *in.at > FIRST) {
		unsigned nr = *in.at - FIRST;

		state = nr < STATE_RUN ? nr : STATE_RUN;
		in = bytes_of(in.at + 1, in.left - 1, false);
		ok = made_take(&made, &in, nr);
	}
	while (ok && !end) {
		uint8_t instruction;

		ok = bytes_u8(&in, &instruction) && (instruction < 16 ? shortest(&in, instruction, &state, &made) :
						     instruction < 64 ? wordy(&in, instruction, &state, &made, &end) :
									middle(&in, instruction, &state, &made));
	}
	return ok && !in.left && made.len == size;
}
