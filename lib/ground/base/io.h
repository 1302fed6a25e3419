/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_IO_H
#define WEFT_GROUND_BASE_IO_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct buf;

/* Repeats a system call while a signal interrupts it (EINTR) and returns its value. errno is from the last call. */
#define io_again(call)                                   \
	({                                               \
		__typeof__(call) io_value_;              \
		do                                       \
			io_value_ = (call);              \
		while (io_value_ < 0 && errno == EINTR); \
		io_value_;                               \
	})

/* Writes all bytes, in as many pieces as needed. 0 or -errno; -EIO when the file takes nothing and reports no error. */
int must_check io_write(int fd, const void *data, size_t len);
int must_check io_pwrite(int fd, const void *data, size_t len, uint64_t offset);

/* Reads once. Returns the number of bytes, 0 at the end of the file, or -errno. */
ssize_t must_check io_read(int fd, void *into, size_t size);
ssize_t must_check io_pread(int fd, void *into, size_t size, uint64_t offset);

/* Makes an eventfd readable. What fails is tried again: who waits for it would wait for ever. */
void io_nudge(int fd);

/*
 * Raises the soft limit of open files to the hard limit: a machine of 256 CPUs needs several files for each. Children
 * that exist already keep their limit.
 */
void io_many_files(void);

/* Appends the rest of the file to `buf`. -EFBIG: more than `max` bytes; -ENOMEM; otherwise -errno of read(2). */
int must_check io_read_all(int fd, size_t max, struct buf *buf);

#endif
