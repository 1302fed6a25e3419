/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_IO_H
#define WEFT_BASE_IO_H

#include "lib/base/cleanup.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* The value of a system call that is made again as long as a signal interrupts it. errno is that of the last call. */
#define io_again(call)                                   \
	({                                               \
		__typeof__(call) io_value_;              \
		do                                       \
			io_value_ = (call);              \
		while (io_value_ < 0 && errno == EINTR); \
		io_value_;                               \
	})

/* Write all of it, in as many pieces as the file takes. 0 or -errno; -EIO when the file takes nothing and gives no error. */
int must_check io_write(int fd, const void *data, size_t len);
int must_check io_pwrite(int fd, const void *data, size_t len, uint64_t offset);

/* Read once, as much as comes at once. The number of bytes, 0 at the end of the file, or -errno. */
ssize_t must_check io_read(int fd, void *into, size_t size);
ssize_t must_check io_pread(int fd, void *into, size_t size, uint64_t offset);

/* Lets this process open as many files as the system allows it: a machine of 256 CPUs needs some for each. Children made before keep theirs. */
void io_many_files(void);

/* Adds all that is left of the file to `buf`. -EFBIG: more than `max` bytes; -ENOMEM; otherwise -errno of read(2). */
int must_check io_read_all(int fd, size_t max, struct buf *buf);

#endif
