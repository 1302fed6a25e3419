// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace_output.h: SEQ_PUT_HEX_FIELD(), SEQ_PUT_FIELD(), and lib/seq_buf.c: seq_buf_putmem_hex().
 */
#include "formats/kernel/raw_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/base/out.h"

/* The most significant byte is printed first, whatever the byte order of the kernel. */
void put_hex(const struct ftrace *ftrace, uint64_t value, unsigned size, struct out *out)
{
	(void)ftrace;
	if (!size || size > sizeof(value))
		return;
	if (size < sizeof(value))
		value &= (UINT64_C(1) << size * 8) - 1;
	out_hex_pad(out, value, size * 2, '0');
	out_char(out, ' ');
}

/* Prints the bytes in the kernel's byte order. */
void put_bin(const struct ftrace *ftrace, uint64_t value, unsigned size, struct out *out)
{
	bool big_endian = ftrace->context->abi.big_endian;

	for (unsigned i = 0; i < size && size <= sizeof(value); i++) {
		unsigned byte = big_endian ? size - 1 - i : i;

		out_char(out, (char)(value >> byte * 8 & 0xff));
	}
}

static void put_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		       unsigned count, put_fn *put, struct out *out)
{
	for (unsigned i = 0; i < count && i < BINDING_PLACES; i++) {
		const struct place *place = &binding->places[i];

		put(ftrace, place_u64(place, event), place->size, out);
	}
}

void put_hex_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out)
{
	put_places(ftrace, binding, event, count, put_hex, out);
}

void put_bin_places(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		    unsigned count, struct out *out)
{
	put_places(ftrace, binding, event, count, put_bin, out);
}

void put_nothing(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	(void)ftrace;
	(void)binding;
	(void)event;
	(void)out;
}
