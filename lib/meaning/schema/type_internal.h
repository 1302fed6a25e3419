/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_TYPE_INTERNAL_H
#define WEFT_MEANING_SCHEMA_TYPE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct tokens;

/*
 * The facts about a C type that arithmetic needs, as the traced kernel was compiled: `long` has the traced kernel's
 * size. A pointer itself has the size of long; `size` and `is_signed` then describe what it points to.
 */
struct ctype {
	uint8_t size; /* 1, 2, 4, 8; 0 for void, structs and unknown names */
	bool is_signed;
	uint8_t stars;
};

/*
 * Takes a type name such as "unsigned long long" or "const struct foo *". False, with nothing taken, when the next
 * tokens are no type. An unknown name counts as a type only with `any_name`.
 */
bool ctype_take(struct tokens *tokens, uint8_t long_size, bool any_name, struct ctype *ret);

/* C's integer promotion, and the common type of an operator's operands. Pointers count as long. */
struct ctype ctype_promote(struct ctype type, uint8_t long_size);
struct ctype ctype_common(struct ctype a, struct ctype b, uint8_t long_size);

/* A value in the form of its type: cut to its size and sign-extended. */
static inline uint64_t ctype_fit(uint64_t value, uint8_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
	case 2:
		return is_signed ? (uint64_t)(int64_t)(int16_t)value : (uint16_t)value;
	case 4:
		return is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
	default:
		return value;
	}
}

#endif
