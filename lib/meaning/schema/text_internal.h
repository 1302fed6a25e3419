/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_TEXT_INTERNAL_H
#define WEFT_MEANING_SCHEMA_TEXT_INTERNAL_H

#include "lib/meaning/schema/expr_internal.h"

/* Texts that expressions and conversions share. Bytes that a place does not have are taken as 0. */
void text_bitmap(struct place place, size_t bits, const struct schema_abi *abi, struct out *out);
void text_bit_list(struct place place, size_t bits, const struct schema_abi *abi, struct out *out);

#endif
