// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/names/unwind.h"

#include <string.h>

#include "lib/ground/base/bytes.h"

/* What is left of the rules. */
struct words {
	const char *at, *end;
};

static bool take(struct words *words, char c)
{
	if (words->at == words->end || *words->at != c)
		return false;
	words->at++;
	return true;
}

static bool take_number(struct words *words, unsigned base, uint64_t *ret)
{
	const char *from = words->at;

	for (*ret = 0; words->at < words->end; words->at++) {
		unsigned c = (unsigned char)*words->at;
		unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : base;

		if (digit >= base)
			break;
		*ret = *ret * base + digit;
	}
	return words->at > from;
}

static bool take_signed(struct words *words, uint64_t *ret)
{
	bool minus = take(words, '-');

	if ((!minus && !take(words, '+')) || !take_number(words, 10, ret))
		return false;
	*ret = minus ? 0 - *ret : *ret;
	return true;
}

static bool take_register(struct words *words, uint64_t *ret)
{
	return take_number(words, 10, ret) && *ret < UNWIND_REGISTERS;
}

/* Where a register and a number point to. */
static bool take_place(struct words *words, const struct unwind *unwind, uint64_t *ret)
{
	uint64_t base, offset;

	if (!take_register(words, &base) || !take_signed(words, &offset) || !(unwind->known >> base & 1))
		return false;
	*ret = unwind->registers[base] + offset;
	return true;
}

static enum unwind_end load(const struct unwind *unwind, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - unwind->stack_at;

	/* What is below the stack pointer is no longer there. */
	if (address < unwind->stack_at)
		return UNWIND_UNKNOWN;
	if (at > unwind->stack_len || unwind->stack_len - at < sizeof(*ret))
		return UNWIND_CUT;
	*ret = load_u64(unwind->stack + at, unwind->swap);
	return UNWIND_GOES_ON;
}

/* The row of a place is the last one that does not begin behind it. */
static bool find_row(const char *rules, size_t len, uint64_t offset, struct words *ret)
{
	struct words rest = { rules, rules + len };
	bool found = false;
	uint64_t place;

	while (rest.at < rest.end) {
		const char *end = memchr(rest.at, ';', (size_t)(rest.end - rest.at));
		struct words row = { rest.at, end ? end : rest.end };

		if (!take_number(&row, 16, &place) || !take(&row, ' '))
			return false;
		if (place > offset)
			break;
		*ret = row;
		found = true;
		rest.at = end ? end + 1 : rest.end;
	}
	return found;
}

static enum unwind_end take_cfa(struct words *row, const struct unwind *unwind, uint64_t *ret)
{
	uint64_t number;

	if (take(row, 'p')) {
		if (!take_number(row, 10, &number))
			return UNWIND_UNKNOWN;
		*ret = unwind->registers[UNWIND_STACK] + 8 + ((unwind->registers[UNWIND_PLACE] & 15) >= number ? 8 : 0);
		return UNWIND_GOES_ON;
	}
	if (take(row, '*'))
		return take_place(row, unwind, &number) ? load(unwind, number, ret) : UNWIND_UNKNOWN;
	return take_place(row, unwind, ret) ? UNWIND_GOES_ON : UNWIND_UNKNOWN;
}

/* One WHERE, whose value goes into `caller`. */
static enum unwind_end take_where(struct words *row, const struct unwind *unwind, uint64_t cfa, struct unwind *caller)
{
	enum unwind_end end;
	uint64_t number, address, value = 0;

	if (take(row, 's')) {
		caller->called = false;
		return UNWIND_GOES_ON;
	}
	if (take(row, 'e'))
		return UNWIND_WHOLE;
	if (!take_register(row, &number))
		return UNWIND_UNKNOWN;
	if (take(row, '?')) {
		caller->known &= ~(1u << number);
		return number == UNWIND_PLACE ? UNWIND_UNKNOWN : UNWIND_GOES_ON;
	}
	if (take(row, '=')) {
		if (!take_place(row, unwind, &address))
			return UNWIND_UNKNOWN;
	} else {
		if (!take_signed(row, &address))
			return UNWIND_UNKNOWN;
		address += cfa;
	}
	end = load(unwind, address, &value);
	if (end != UNWIND_GOES_ON)
		return end;
	caller->registers[number] = value;
	caller->known |= 1u << number;
	return UNWIND_GOES_ON;
}

enum unwind_end unwind_step(struct unwind *unwind, const char *rules, size_t len, uint64_t offset)
{
	/* rbx, rbp and r12 to r15: others may be anything when a function returns. */
	const uint32_t kept = 1u << 3 | 1u << 6 | 15u << 12;
	struct unwind caller = *unwind;
	enum unwind_end end;
	struct words row;
	uint64_t cfa;

	if (!find_row(rules, len, offset, &row))
		return UNWIND_UNKNOWN;
	end = take_cfa(&row, unwind, &cfa);
	/* A stack grows down: without this, wrong words could lead in a circle. */
	if (end == UNWIND_GOES_ON && cfa <= unwind->registers[UNWIND_STACK])
		end = UNWIND_UNKNOWN;
	caller.called = true;
	caller.known &= kept;
	while (end == UNWIND_GOES_ON && take(&row, ' '))
		end = take_where(&row, unwind, cfa, &caller);
	if (end == UNWIND_GOES_ON && row.at != row.end)
		end = UNWIND_UNKNOWN;
	if (end == UNWIND_GOES_ON && !(caller.known >> UNWIND_PLACE & 1)) {
		end = load(unwind, cfa - 8, &caller.registers[UNWIND_PLACE]);
		caller.known |= 1u << UNWIND_PLACE;
	}
	if (end != UNWIND_GOES_ON)
		return end;
	caller.registers[UNWIND_STACK] = cfa;
	caller.known |= 1u << UNWIND_STACK;
	*unwind = caller;
	return UNWIND_GOES_ON;
}
