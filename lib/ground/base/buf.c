// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/populate.h"

enum { BUF_SIZE_FIRST = 256 };

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf)BUF_INIT;
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
}

bool buf_reserve(struct buf *buf, size_t more)
{
	size_t needed, size = buf->size ? buf->size : BUF_SIZE_FIRST;
	char *data;

	if (__builtin_add_overflow(buf->len, more, &needed))
		return false;
	if (needed <= buf->size)
		return true;
	while (size < needed)
		if (__builtin_mul_overflow(size, (size_t)2, &size))
			return false;
	data = populate_grown(buf->data, buf->len, size);
	if (!data)
		return false;
	buf->data = data;
	buf->size = size;
	return true;
}

bool buf_add(struct buf *buf, const void *data, size_t len)
{
	if (!buf_reserve(buf, len))
		return false;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	return true;
}

bool buf_add_str(struct buf *buf, const char *text)
{
	return buf_add(buf, text, strlen(text));
}

bool buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || !buf_reserve(buf, (size_t)len + 1))
		return false;
	va_start(args, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
	return true;
}

const char *buf_str(struct buf *buf)
{
	if (!buf_reserve(buf, 1))
		return "";
	buf->data[buf->len] = 0;
	return buf->data;
}

char *buf_take(struct buf *buf, size_t *ret_len)
{
	char *data;

	if (!buf_reserve(buf, 1))
		return NULL;
	buf->data[buf->len] = 0;
	data = buf->data;
	if (ret_len)
		*ret_len = buf->len;
	*buf = (struct buf)BUF_INIT;
	return data;
}
