// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/io.h"

#include <sys/resource.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"

enum { READ_STEP = 1 << 16, NUDGES = 3 };

int io_write(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t done = io_again(write(fd, at, len));

		if (done <= 0)
			return done ? -errno : -EIO;
		at += done;
		len -= (size_t)done;
	}
	return 0;
}

int io_pwrite(int fd, const void *data, size_t len, uint64_t offset)
{
	const char *at = data;

	while (len) {
		ssize_t done = io_again(pwrite(fd, at, len, (off_t)offset));

		if (done <= 0)
			return done ? -errno : -EIO;
		at += done;
		len -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

ssize_t io_read(int fd, void *into, size_t size)
{
	ssize_t got = io_again(read(fd, into, size));

	return got < 0 ? -errno : got;
}

ssize_t io_pread(int fd, void *into, size_t size, uint64_t offset)
{
	ssize_t got = io_again(pread(fd, into, size, (off_t)offset));

	return got < 0 ? -errno : got;
}

int io_read_all(int fd, size_t max, struct buf *buf)
{
	size_t start = buf->len;

	for (;;) {
		ssize_t got;

		if (!buf_reserve(buf, READ_STEP))
			return -ENOMEM;
		got = io_read(fd, buf->data + buf->len, buf->size - buf->len);
		if (got <= 0)
			return (int)got;
		buf->len += (size_t)got;
		if (buf->len - start > max)
			return -EFBIG;
	}
}

void io_nudge(int fd)
{
	const uint64_t one = 1;

	for (int tries = 0; tries < NUDGES; tries++)
		/* EAGAIN: it is as readable as it can be. */
		if (io_again(write(fd, &one, sizeof(one))) >= 0 || errno == EAGAIN)
			return;
}

void io_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
