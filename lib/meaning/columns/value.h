/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_VALUE_H
#define WEFT_MEANING_COLUMNS_VALUE_H

#include <stdbool.h>

struct event;
struct field;
struct format;
struct out;
struct schema_abi;

/*
 * Prints the value of a field as JSON: integers with all their digits, texts, arrays of integers; other types as a
 * string of hex digits; null when the record is too short.
 */
void value_put(const struct field *field, const struct schema_abi *abi, const struct event *event, bool text,
	       struct out *out);

/* Whether a field is text: arrays of char are text, arrays of unsigned char are numbers. */
bool value_is_text(const struct field *field);

/*
 * Whether a field has the addresses of a kernel_stack: as many as the stack had, although the format says 8
 * (lib/meaning/follow/stack.h).
 */
bool value_is_stack(const struct field *field, const struct format *format);

#endif
