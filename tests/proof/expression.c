// SPDX-License-Identifier: GPL-2.0-only
/*
 * Elements of places in a record, as the print formats name them: a fixed place, the rest of the record, one that the
 * record itself points to, and one behind any of them. Whatever bytes the record has, and whatever number the element
 * or the distance is, nothing outside the record is read. Operators take any numbers, and none traps.
 */
#include "lib/meaning/schema/expr_internal.h"

#include "tests/proof/proof.h"

enum { FIXED = 8, RECORD_MAX = FIXED + 1 };

static uint8_t bytes[RECORD_MAX];

static uint64_t any_number(void)
{
	uint64_t value = 0;

	Frama_C_make_unknown((char *)&value, sizeof(value));
	return value;
}

static uint32_t any(int min, int max)
{
	return (uint32_t)Frama_C_interval(min, max);
}

static void take_element(const struct run *run, const struct expr *place, uint32_t log)
{
	struct expr number = { .kind = EXPR_CONST, .value = any_number() };
	struct expr element = { .kind = EXPR_INDEX, .a = place, .b = &number, .size = 1u << log, .load = (uint8_t)log };

	(void)expr_number(&element, run);
}

static void take_elements(const struct run *run, const struct expr *place)
{
	uint32_t log = any(0, LOAD_SIZE), by = any(0, LOAD_SIZE);
	struct expr number = { .kind = EXPR_CONST, .value = any_number() };
	struct expr moved = { .kind = EXPR_MOVE, .a = place, .b = &number };

	//@ split log;
	take_element(run, place, log);
	//@ split by;
	moved.size = 1u << by;
	take_element(run, &moved, log);
}

static void take_fixed(const struct run *run)
{
	uint32_t offset = any(0, FIXED), size = any(0, FIXED);
	struct expr place = { .kind = EXPR_PLACE };

	//@ split offset;
	//@ split size;
	/* A field lies inside of the fixed part; size 0 is the rest of the record. */
	if (size > FIXED - offset)
		return;
	place.offset = offset;
	place.size = size;
	take_elements(run, &place);
}

static void take_dynamic(const struct run *run, bool relative)
{
	uint32_t offset = any(0, FIXED - 4);
	struct expr place = { .kind = EXPR_DYN_PLACE, .relative = relative, .swap = any(0, 1) };

	//@ split offset;
	place.offset = offset;
	take_elements(run, &place);
}

static void take_operators(const struct run *run)
{
	struct expr a = { .kind = EXPR_CONST, .value = any_number() };
	struct expr b = { .kind = EXPR_CONST, .value = any_number() };
	int op = Frama_C_interval(OP_ADD, OP_EITHER), wide = Frama_C_interval(0, 1);
	struct expr both = { .kind = EXPR_BINARY, .a = &a, .b = &b };

	//@ split op;
	//@ split wide;
	both.op = (uint8_t)op;
	/* The bits of a shift's distance that count. */
	both.size = wide ? 63 : 31;
	(void)expr_number(&both, run);
}

int main(void)
{
	int len = Frama_C_interval(FIXED, RECORD_MAX), which = Frama_C_interval(0, 3);
	struct run run = { .env = NULL };

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	//@ split which;
	//@ split len;
	run.data = bytes + RECORD_MAX - len;
	run.len = (size_t)len;
	switch (which) {
	case 0:
		take_fixed(&run);
		return 0;
	case 1:
		take_dynamic(&run, false);
		return 0;
	case 2:
		take_dynamic(&run, true);
		return 0;
	default:
		take_operators(&run);
		return 0;
	}
}
