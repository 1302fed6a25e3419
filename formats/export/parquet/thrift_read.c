// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/parquet/thrift_read_internal.h"

#include "formats/export/parquet/thrift_internal.h"

/* THRIFT_DEPTH: how deep structures and lists are nested; Parquet needs six. */
enum { VARINT_MAX = 10, THRIFT_DEPTH = 16, THRIFT_DOUBLE = 7, THRIFT_SET = 10, THRIFT_MAP = 11 };

bool thrift_read_varint(struct bytes *in, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	for (unsigned i = 0; byte & 0x80; i++) {
		if (i == VARINT_MAX || !bytes_u8(in, &byte))
			return false;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
	}
	*ret = value;
	return true;
}

bool thrift_read_int(struct bytes *in, int64_t *ret)
{
	uint64_t value;

	if (!thrift_read_varint(in, &value))
		return false;
	*ret = (int64_t)(value >> 1 ^ -(value & 1));
	return true;
}

bool thrift_read_bytes(struct bytes *in, struct bytes *ret)
{
	const uint8_t *at;
	uint64_t len;

	if (!thrift_read_varint(in, &len) || len > in->left || !bytes_take(in, (size_t)len, &at))
		return false;
	*ret = bytes_of(at, (size_t)len, in->swap);
	return true;
}

bool thrift_read_list(struct bytes *in, unsigned *ret_type, size_t *ret_nr)
{
	uint8_t head;
	uint64_t nr;

	if (!bytes_u8(in, &head))
		return false;
	nr = head >> 4;
	/* Each element has at least one byte. */
	if ((nr == 15 && !thrift_read_varint(in, &nr)) || nr > in->left)
		return false;
	*ret_type = head & 15;
	*ret_nr = (size_t)nr;
	return true;
}

static bool skip(struct bytes *in, unsigned type, bool in_list, unsigned depth);

static bool skip_struct(struct bytes *in, unsigned depth)
{
	int64_t number;
	uint8_t head;

	for (;;) {
		if (!bytes_u8(in, &head))
			return false;
		if (!head)
			return true;
		if ((!(head >> 4) && !thrift_read_int(in, &number)) || !skip(in, head & 15, false, depth))
			return false;
	}
}

static bool skip_list(struct bytes *in, unsigned depth)
{
	unsigned type;
	size_t nr;

	if (!thrift_read_list(in, &type, &nr))
		return false;
	while (nr--)
		if (!skip(in, type, true, depth))
			return false;
	return true;
}

/* In a list, truth has a byte of its own. */
static bool skip(struct bytes *in, unsigned type, bool in_list, unsigned depth)
{
	const uint8_t *at;
	struct bytes text;
	uint64_t value;

	if (depth == THRIFT_DEPTH)
		return false;
	switch (type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE:
		return !in_list || bytes_take(in, 1, &at);
	case THRIFT_I8:
		return bytes_take(in, 1, &at);
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		return thrift_read_varint(in, &value);
	case THRIFT_DOUBLE:
		return bytes_take(in, sizeof(double), &at);
	case THRIFT_BINARY:
		return thrift_read_bytes(in, &text);
	case THRIFT_LIST:
	case THRIFT_SET:
		return skip_list(in, depth + 1);
	case THRIFT_STRUCT:
		return skip_struct(in, depth + 1);
	default:
		/* weft writes no maps. */
		return false;
	}
}

bool thrift_skip(struct bytes *in, unsigned type)
{
	return skip(in, type, false, 0);
}

bool thrift_read_struct(struct bytes *in, thrift_field_fn field, void *arg)
{
	uint32_t last = 0;
	int64_t number;
	uint8_t head;

	for (;;) {
		bool skips = false;

		if (!bytes_u8(in, &head))
			return false;
		if (!head)
			return true;
		if (head >> 4)
			number = last + (head >> 4);
		else if (!thrift_read_int(in, &number))
			return false;
		if (number <= 0 || number > INT16_MAX)
			return false;
		last = (uint32_t)number;
		if (!field(arg, last, head & 15, in, &skips) || (skips && !thrift_skip(in, head & 15)))
			return false;
	}
}
