/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCHEMA_TEXT_INTERNAL_H
#define WEFT_SCHEMA_TEXT_INTERNAL_H

#include "lib/schema/expr_internal.h"

/* Texts that expressions and conversions share. Bytes that a place does not have are taken as 0. */
void text_cstring(struct place place, struct out *out);
void text_bitmap(struct place place, size_t bits, const struct schema_abi *abi, struct out *out);
void text_bit_list(struct place place, size_t bits, const struct schema_abi *abi, struct out *out);

/* trace_print_hex_dump_seq() of kernel/trace/trace_output.c, with seq_buf_hex_dump() of lib/seq_buf.c. */
void text_hex_dump(const struct expr *expr, const struct run *run, struct out *out);

#endif
