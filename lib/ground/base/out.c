// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ground/base/digits.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/populate.h"

bool out_init(struct out *out, size_t size)
{
	if (size < OUT_NEED_MAX)
		size = OUT_NEED_MAX;
	*out = (struct out){ .start = malloc(size) };
	if (!out->start)
		return false;
	out->at = out->start;
	out->end = out->start + size;
	return true;
}

void out_release(struct out *out)
{
	free(out->start);
	*out = (struct out){ .start = NULL };
}

void out_grow(struct out *out, size_t more)
{
	size_t len = out_len(out), size = (size_t)(out->end - out->start);
	char *start;

	while (size - len < more)
		size *= 2;
	start = populate_grown(out->start, len, size);
	if (!start) {
		out->failed = true;
		out->at = out->start;
		return;
	}
	out->start = start;
	out->at = start + len;
	out->end = start + size;
}

void out_mem_long(struct out *out, const void *data, size_t len)
{
	const char *from = data;

	while (len) {
		size_t step = len < OUT_NEED_MAX ? len : OUT_NEED_MAX;

		out_need(out, step);
		memcpy(out->at, from, step);
		out->at += step;
		from += step;
		len -= step;
	}
}

void out_fill(struct out *out, char c, size_t count)
{
	while (count) {
		size_t step = count < OUT_NEED_MAX ? count : OUT_NEED_MAX;

		out_need(out, step);
		memset(out->at, c, step);
		out->at += step;
		count -= step;
	}
}

static char *hex_before(char *end, uint64_t value)
{
	do {
		*--end = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	return end;
}

static void out_padded(struct out *out, const char *digits, size_t len, bool negative, unsigned width, char pad)
{
	size_t fill = width > len + negative ? width - len - negative : 0;

	if (negative && pad == '0')
		out_char(out, '-');
	if (fill)
		out_fill(out, pad, fill);
	if (negative && pad != '0')
		out_char(out, '-');
	out_need(out, len);
	memcpy(out->at, digits, len);
	out->at += len;
}

void out_u64_pad(struct out *out, uint64_t value, unsigned width, char pad)
{
	char text[DIGITS_MAX];

	out_padded(out, text, (size_t)(digits_put_u64(text, value) - text), false, width, pad);
}

void out_s64_pad(struct out *out, int64_t value, unsigned width, char pad)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char text[DIGITS_MAX];

	out_padded(out, text, (size_t)(digits_put_u64(text, size) - text), value < 0, width, pad);
}

void out_hex_pad(struct out *out, uint64_t value, unsigned width, char pad)
{
	char text[24], *end = text + sizeof(text), *at = hex_before(end, value);

	out_padded(out, at, (size_t)(end - at), false, width, pad);
}

void out_u64(struct out *out, uint64_t value)
{
	out_need(out, DIGITS_MAX);
	out->at = digits_put_u64(out->at, value);
}

void out_s64(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void out_hex(struct out *out, uint64_t value)
{
	char text[24], *end = text + sizeof(text), *at = hex_before(end, value);

	out_need(out, sizeof(text));
	memcpy(out->at, at, (size_t)(end - at));
	out->at += end - at;
}

void out_decimal(struct out *out, int64_t value, unsigned decimals)
{
	if (value < 0)
		out_char(out, '-');
	out_decimal_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, decimals);
}

void out_decimal_u64(struct out *out, uint64_t value, unsigned decimals)
{
	char text[DIGITS_MAX];
	size_t len = (size_t)(digits_put_u64(text, value) - text), whole = len > decimals ? len - decimals : 0;

	if (whole)
		out_mem(out, text, whole);
	else
		out_char(out, '0');
	if (!decimals)
		return;
	out_char(out, '.');
	if (len < decimals)
		out_fill(out, '0', decimals - len);
	out_mem(out, text + whole, len - whole);
}

void out_f(struct out *out, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || len >= OUT_NEED_MAX)
		return;
	out_need(out, (size_t)len + 1);
	va_start(args, format);
	vsnprintf(out->at, (size_t)len + 1, format, args);
	va_end(args);
	out->at += len;
}

int out_flush(struct out *out, int fd)
{
	int err = out->failed ? -ENOMEM : io_write(fd, out->start, out_len(out));

	if (!err)
		out_clear(out);
	return err;
}
