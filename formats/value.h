/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_VALUE_H
#define WEFT_FORMATS_VALUE_H

#include <stdbool.h>

struct event;
struct field;
struct out;
struct schema_abi;

/*
 * The value of a field as JSON: integers with all their digits, texts, arrays of integers; of anything else the bytes as a string of hex
 * digits; null where the record is too short.
 */
void value_put(const struct field *field, const struct schema_abi *abi, const struct event *event, bool text,
	       struct out *out);

/* Whether a field is text: arrays of char are, those of unsigned char are numbers. */
bool value_is_text(const struct field *field);

#endif
