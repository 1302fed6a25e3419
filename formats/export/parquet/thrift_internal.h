/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_THRIFT_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_THRIFT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "formats/export/proto_internal.h"

/*
 * Thrift's compact protocol, as far as Parquet needs it. A structure is a sequence of fields with ascending numbers;
 * each field has the difference to the number before; a 0 ends the structure. A nested structure has a struct thrift of
 * its own, because its numbers start at 0.
 */
enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I8 = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

struct thrift {
	struct out *out;
	uint32_t last; /* the number of the field before */
};

/* The field's number may be at most 15 above the previous one. */
static inline void thrift_field(struct thrift *thrift, uint32_t field, enum thrift_type type)
{
	out_char(thrift->out, (char)((field - thrift->last) << 4 | (uint32_t)type));
	thrift->last = field;
}

static inline void thrift_zigzag(struct out *out, int64_t value)
{
	proto_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void thrift_i32(struct thrift *thrift, uint32_t field, int32_t value)
{
	thrift_field(thrift, field, THRIFT_I32);
	thrift_zigzag(thrift->out, value);
}

static inline void thrift_i64(struct thrift *thrift, uint32_t field, int64_t value)
{
	thrift_field(thrift, field, THRIFT_I64);
	thrift_zigzag(thrift->out, value);
}

static inline void thrift_bytes(struct out *out, const void *bytes, size_t len)
{
	proto_varint(out, len);
	out_mem(out, bytes, len);
}

static inline void thrift_binary(struct thrift *thrift, uint32_t field, const void *bytes, size_t len)
{
	thrift_field(thrift, field, THRIFT_BINARY);
	thrift_bytes(thrift->out, bytes, len);
}

static inline void thrift_text(struct thrift *thrift, uint32_t field, const char *text)
{
	thrift_binary(thrift, field, text, strlen(text));
}

/* Begins a list of `nr` elements; the caller appends the elements. */
static inline void thrift_list(struct thrift *thrift, uint32_t field, enum thrift_type of, size_t nr)
{
	thrift_field(thrift, field, THRIFT_LIST);
	if (nr < 15) {
		out_char(thrift->out, (char)(nr << 4 | (size_t)of));
		return;
	}
	out_char(thrift->out, (char)(15 << 4 | of));
	proto_varint(thrift->out, nr);
}

/* Begins a nested structure; the caller appends its fields and calls thrift_end(). */
static inline struct thrift thrift_struct(struct thrift *thrift, uint32_t field)
{
	thrift_field(thrift, field, THRIFT_STRUCT);
	return (struct thrift){ .out = thrift->out };
}

static inline void thrift_end(const struct thrift *thrift)
{
	out_char(thrift->out, 0);
}

#endif
