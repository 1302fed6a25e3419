/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCHEMA_TEXTS_INTERNAL_H
#define WEFT_SCHEMA_TEXTS_INTERNAL_H

#include <stdint.h>

struct arena;
struct expr;
struct schema_abi;
struct texts;

/*
 * The texts of an expression for each small value of the one field that it depends on, with the field's place. NULL
 * when it depends on more than one field, or on more than the record, when making them takes long, or without memory.
 */
const struct texts *texts_new(const struct expr *expr, const struct schema_abi *abi, struct arena *arena,
			      uint32_t *ret_offset, uint32_t *ret_size);

/* The bits of its field that a load tests or prints. Those above the field's size are its sign. */
uint64_t texts_mask(const struct expr *load);

#endif
