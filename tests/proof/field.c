// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any field that a format can have, in any bytes of a record of any length: a number is read inside of the record, and
 * the bytes of a field lie there, wherever the record says that a dynamic one is.
 */
#include "lib/meaning/event/place.h"

#include "tests/proof/proof.h"

enum { RECORD_MAX = 9 };

static uint8_t bytes[RECORD_MAX];

/* The field `size` bytes long at `offset`, in a record of `len` bytes. */
static void read_number(int len, int offset, int size)
{
	struct event event = { .data = bytes + RECORD_MAX - len, .len = (uint32_t)len };
	struct schema_abi abi = { .swap = Frama_C_interval(0, 1) };
	struct field field = {
		.name = "",
		.type = "",
		.offset = (uint32_t)offset,
		.size = (uint32_t)size,
		.flags = Frama_C_interval(0, 1) ? FIELD_SIGNED : 0,
	};
	struct place place = place_of(&field, &abi);

	(void)place_u64(&place, &event);
	(void)field_int(&field, &abi, event.data, event.len);
}

static void read_bytes(int len, int offset, int size, uint32_t flags)
{
	struct event event = { .data = bytes + RECORD_MAX - len, .len = (uint32_t)len };
	struct schema_abi abi = { .swap = Frama_C_interval(0, 1) };
	struct field field = {
		.name = "", .type = "", .offset = (uint32_t)offset, .size = (uint32_t)size, .flags = flags
	};
	struct place place = place_of(&field, &abi);
	const uint8_t *at = NULL;
	size_t left = 0;

	if (place_bytes(&place, &event, &at, &left) && left) {
		//@ assert \valid_read(at + (0 .. left - 1));
	}
}

int main(void)
{
	int len = Frama_C_interval(0, RECORD_MAX), offset = Frama_C_interval(0, RECORD_MAX + 1);
	int size = Frama_C_interval(0, RECORD_MAX + 1), which = Frama_C_interval(0, 4);

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	//@ split which;
	//@ split len;
	//@ split offset;
	switch (which) {
	case 0:
		//@ split size;
		read_number(len, offset, size);
		return 0;
	case 1:
		//@ split size;
		read_bytes(len, offset, size, 0);
		return 0;
	case 2:
		//@ split size;
		read_bytes(len, offset, size, FIELD_ARRAY);
		return 0;
	case 3:
		read_bytes(len, offset, 4, FIELD_DYNAMIC);
		return 0;
	default:
		read_bytes(len, offset, 4, FIELD_DYNAMIC | FIELD_RELATIVE);
		return 0;
	}
}
