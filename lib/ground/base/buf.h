/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_BUF_H
#define WEFT_GROUND_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A buffer of bytes that grows and owns its memory. `data` is NULL until the first byte is added.
 * data[len] need not be a NUL; buf_str() adds a NUL. A function that returns false had no memory and has changed
 * nothing.
 */
struct buf {
	char *data;
	size_t len;
	size_t size;
};

#define BUF_INIT                                  \
	{                                         \
		.data = NULL, .len = 0, .size = 0 \
	}
#define cleanup_buf __attribute__((cleanup(buf_release)))

void buf_release(struct buf *buf);
void buf_clear(struct buf *buf);

/* Makes room for `more` bytes after len. */
bool buf_reserve(struct buf *buf, size_t more);
bool buf_add(struct buf *buf, const void *data, size_t len);
bool buf_add_str(struct buf *buf, const char *text);
__attribute__((format(printf, 2, 3))) bool buf_addf(struct buf *buf, const char *format, ...);

/* The bytes as a string that the buf still owns; "" when it is empty and there is no memory for the NUL. */
const char *buf_str(struct buf *buf);

/* Moves the memory to the caller, who frees it; NUL-terminated. NULL when there is no memory for the NUL. */
char *buf_take(struct buf *buf, size_t *ret_len);

#endif
