// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/trace/input.h"

enum { COPY_SIZE = 1 << 18, COPY_RANGE_MAX = 1 << 30 };

/* Standard output that a shell opened is for writing only. */
static int reopen(struct output *output, int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	output->reopened = open(name, O_RDONLY | O_CLOEXEC);
	return output->reopened;
}

int output_init(struct output *output, int fd, struct fail *fail)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat stat;
	int r;

	*output = (struct output){ .fd = fd, .temporary = -1, .final = -1, .readable = -1, .reopened = -1 };
	if (flags < 0 || fstat(fd, &stat))
		return fail_set(fail, -errno, "cannot write: %s", strerror(errno));
	/* "weft record -o - >>file" must not patch what was in the file before. */
	if (S_ISREG(stat.st_mode) && !(flags & O_APPEND) && !lseek(fd, 0, SEEK_CUR)) {
		output->readable = (flags & O_ACCMODE) == O_RDWR ? fd : reopen(output, fd);
		return 0;
	}
	r = input_temporary(&output->temporary, fail);
	if (r)
		return r;
	output->fd = output->readable = output->temporary;
	output->final = fd;
	return 0;
}

void output_release(struct output *output)
{
	cleanup_fd_close(&output->reopened);
	output->reopened = output->readable = -1;
	cleanup_fd_close(&output->temporary);
	output->temporary = -1;
}

/* The caller knows the file's name: fail_writing(). */
static int fail_write(const struct output *output, struct fail *fail, int err)
{
	return fail_set(fail, err, "%s%s",
			output->temporary < 0 ? FAIL_WRITE : "cannot write a temporary file: ", strerror(-err));
}

int output_patch(struct output *output, uint64_t offset, const void *data, size_t size, struct fail *fail)
{
	const char *at = data;

	while (size) {
		ssize_t written = pwrite(output->fd, at, size, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return fail_write(output, fail, written ? -errno : -ENOSPC);
		at += written;
		size -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

int output_add(struct output *output, const void *data, size_t size, struct fail *fail)
{
	int r = output_patch(output, output->at, data, size, fail);

	if (!r)
		output->at += size;
	return r;
}

int output_align(struct output *output, uint64_t align, struct fail *fail)
{
	static const char zeros[4096];
	uint64_t left = -output->at & (align - 1);

	while (left) {
		size_t size = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);
		int r = output_add(output, zeros, size, fail);

		if (r)
			return r;
		left -= size;
	}
	return 0;
}

/* For two filesystems between which the kernel does not copy. */
static int copy_by_hand(struct output *output, int from, uint64_t offset, uint64_t size, struct fail *fail)
{
	cleanup_free char *data = malloc(COPY_SIZE);

	if (!data)
		return fail_memory(fail);
	while (size) {
		ssize_t got = io_pread(from, data, size < COPY_SIZE ? (size_t)size : COPY_SIZE, offset);
		int r;

		if (got < 0)
			return fail_set(fail, (int)got,
					"cannot read %" PRIu64 " bytes of pages at offset %" PRIu64 ": %s", size,
					offset, strerror((int)-got));
		if (!got)
			return fail_set(fail, -ENODATA, "the pages end at offset %" PRIu64 ", %" PRIu64 " bytes early",
					offset, size);
		r = output_add(output, data, (size_t)got, fail);
		if (r)
			return r;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}

int output_copy(struct output *output, int from, uint64_t offset, uint64_t size, struct fail *fail)
{
	while (size) {
		off_t in = (off_t)offset, out = (off_t)output->at;
		ssize_t copied = copy_file_range(from, &in, output->fd, &out,
						 size < COPY_RANGE_MAX ? (size_t)size : COPY_RANGE_MAX, 0);

		if (copied < 0 && errno == EINTR)
			continue;
		if (copied < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
			return fail_write(output, fail, -errno);
		if (copied <= 0)
			return copy_by_hand(output, from, offset, size, fail);
		offset += (uint64_t)copied;
		size -= (uint64_t)copied;
		output->at += (uint64_t)copied;
	}
	return 0;
}

int output_finish(struct output *output, struct fail *fail)
{
	cleanup_free char *data = NULL;
	uint64_t offset = 0;

	if (output->final < 0)
		return 0;
	data = malloc(COPY_SIZE);
	if (!data)
		return fail_memory(fail);
	for (;;) {
		ssize_t got = io_pread(output->fd, data, COPY_SIZE, offset);
		int r;

		if (got < 0)
			return fail_set(fail, (int)got, "cannot read the temporary file: %s", strerror((int)-got));
		if (!got)
			return 0;
		r = io_write(output->final, data, (size_t)got);
		if (r)
			return fail_set(fail, r, FAIL_WRITE "%s", strerror(-r));
		offset += (uint64_t)got;
	}
}
