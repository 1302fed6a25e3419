/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_BYTES_H
#define WEFT_GROUND_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Untrusted bytes and the number of bytes that are left. The struct borrows its memory.
 * Invariant: nothing after `left` bytes is ever read; a take that fails changes nothing.
 * Numbers have the byte order of the machine that wrote them; `swap`: that order differs from this machine's.
 */
struct bytes {
	const uint8_t *at;
	size_t left;
	bool swap;
};

static inline struct bytes bytes_of(const void *data, size_t len, bool swap)
{
	return (struct bytes){ .at = data, .left = len, .swap = swap };
}

/* Loads from memory whose bounds the caller has checked. No alignment is needed. */
static inline uint16_t load_u16(const void *at, bool swap)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t load_u32(const void *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t load_u64(const void *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

/* Consumes `len` bytes and points *ret at them; false when fewer are left. */
static inline bool bytes_take(struct bytes *bytes, size_t len, const uint8_t **ret)
{
	if (len > bytes->left)
		return false;
	*ret = bytes->at;
	bytes->at += len;
	bytes->left -= len;
	return true;
}

static inline bool bytes_u8(struct bytes *bytes, uint8_t *ret)
{
	const uint8_t *at;

	if (!bytes_take(bytes, sizeof(*ret), &at))
		return false;
	*ret = *at;
	return true;
}

static inline bool bytes_u16(struct bytes *bytes, uint16_t *ret)
{
	const uint8_t *at;

	if (!bytes_take(bytes, sizeof(*ret), &at))
		return false;
	*ret = load_u16(at, bytes->swap);
	return true;
}

static inline bool bytes_u32(struct bytes *bytes, uint32_t *ret)
{
	const uint8_t *at;

	if (!bytes_take(bytes, sizeof(*ret), &at))
		return false;
	*ret = load_u32(at, bytes->swap);
	return true;
}

static inline bool bytes_u64(struct bytes *bytes, uint64_t *ret)
{
	const uint8_t *at;

	if (!bytes_take(bytes, sizeof(*ret), &at))
		return false;
	*ret = load_u64(at, bytes->swap);
	return true;
}

/* Consumes a string and its NUL. *ret_len does not count the NUL. False when no NUL is left. */
static inline bool bytes_cstr(struct bytes *bytes, const char **ret, size_t *ret_len)
{
	const uint8_t *end = memchr(bytes->at, 0, bytes->left);

	if (!bytes->left || !end)
		return false;
	*ret = (const char *)bytes->at;
	*ret_len = (size_t)(end - bytes->at);
	bytes->at += *ret_len + 1;
	bytes->left -= *ret_len + 1;
	return true;
}

#endif
