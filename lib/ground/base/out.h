/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_OUT_H
#define WEFT_GROUND_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A text buffer in memory that its owner empties. This is the hot path of every report: an append is a bounds check and
 * a copy. Only out_need() can grow the buffer. A lack of memory is sticky (`failed`): later appends start at the
 * beginning of the buffer again, so that no caller checks anything; the owner checks at the end.
 * Invariant: after out_need(out, n), n bytes may be written at out->at.
 */
struct out {
	char *at;  /* where the next byte goes */
	char *end; /* the end of the buffer */
	char *start;
	bool failed;
};

enum { OUT_NEED_MAX = 1 << 16 }; /* the largest request to out_need() */

bool out_init(struct out *out, size_t size);
void out_release(struct out *out);
void out_grow(struct out *out, size_t more);

static inline void out_need(struct out *out, size_t more)
{
	if (__builtin_expect((size_t)(out->end - out->at) < more, 0))
		out_grow(out, more);
}

static inline size_t out_len(const struct out *out)
{
	return (size_t)(out->at - out->start);
}

static inline void out_clear(struct out *out)
{
	out->at = out->start;
}

static inline void out_char(struct out *out, char c)
{
	out_need(out, 1);
	*out->at++ = c;
}

/* Any length: text longer than OUT_NEED_MAX is copied in pieces. */
void out_mem_long(struct out *out, const void *data, size_t len);

static inline void out_mem(struct out *out, const void *data, size_t len)
{
	if (__builtin_expect(len > OUT_NEED_MAX, 0)) {
		out_mem_long(out, data, len);
		return;
	}
	out_need(out, len);
	memcpy(out->at, data, len);
	out->at += len;
}

/* A short text with OUT_SHORT readable bytes: one copy of a constant size. */
enum { OUT_SHORT = 32 };
static inline void out_short(struct out *out, const char *text, size_t len)
{
	if (__builtin_expect(len > OUT_SHORT, 0)) {
		out_mem(out, text, len);
		return;
	}
	out_need(out, OUT_SHORT);
	memcpy(out->at, text, OUT_SHORT);
	out->at += len;
}

static inline void out_str(struct out *out, const char *text)
{
	out_mem(out, text, strlen(text));
}

void out_fill(struct out *out, char c, size_t count);

/*
 * Integers, without and with a minimal width. `pad` is ' ' or '0'; a '-' stands before the zeros and after the blanks.
 */
void out_u64(struct out *out, uint64_t value);
void out_s64(struct out *out, int64_t value);
void out_hex(struct out *out, uint64_t value);
void out_u64_pad(struct out *out, uint64_t value, unsigned width, char pad);
void out_s64_pad(struct out *out, int64_t value, unsigned width, char pad);
void out_hex_pad(struct out *out, uint64_t value, unsigned width, char pad);

/* value / 10^decimals with all its decimals, exactly: 1234 with 2 is "12.34". */
void out_decimal(struct out *out, int64_t value, unsigned decimals);
void out_decimal_u64(struct out *out, uint64_t value, unsigned decimals);

/* Formatted text, for paths that are not hot. */
__attribute__((format(printf, 2, 3))) void out_f(struct out *out, const char *format, ...);

/* Writes everything to fd and empties the buffer. 0 or -errno of write(2); -ENOMEM when an append had failed. */
int out_flush(struct out *out, int fd);

#endif
