/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PROTO_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PROTO_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/out.h"

/*
 * A writer of protocol buffers: a message is a sequence of fields, each a number and a value. A nested message is first
 * made in an out of its own, because its length precedes it.
 */
enum { PROTO_VARINT_MAX = 10 };

static inline void proto_varint(struct out *out, uint64_t value)
{
	out_need(out, PROTO_VARINT_MAX);
	for (; value >= 0x80; value >>= 7)
		*out->at++ = (char)(value | 0x80);
	*out->at++ = (char)value;
}

/* uint64, int64 (and int32, which is extended by its sign), bool and enum. */
static inline void proto_u64(struct out *out, uint32_t field, uint64_t value)
{
	proto_varint(out, (uint64_t)field << 3);
	proto_varint(out, value);
}

static inline void proto_fixed64(struct out *out, uint32_t field, uint64_t value)
{
	proto_varint(out, (uint64_t)field << 3 | 1);
	out_need(out, sizeof(value));
	for (unsigned i = 0; i < sizeof(value); i++)
		*out->at++ = (char)(value >> 8 * i);
}

/* For string, bytes, and messages. */
static inline void proto_bytes(struct out *out, uint32_t field, const void *bytes, size_t len)
{
	proto_varint(out, (uint64_t)field << 3 | 2);
	proto_varint(out, len);
	out_mem(out, bytes, len);
}

static inline void proto_text(struct out *out, uint32_t field, const char *text)
{
	proto_bytes(out, field, text, strlen(text));
}

static inline void proto_message(struct out *out, uint32_t field, const struct out *message)
{
	proto_bytes(out, field, message->start, out_len(message));
}

/* Writes an untrusted text as a string: each byte that is not UTF-8 becomes U+FFFD. */
void proto_string(struct out *out, uint32_t field, const void *text, size_t len);

#endif
