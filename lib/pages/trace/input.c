// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"

enum { SPOOL_SIZE = 1 << 16 };

int input_temporary(int *ret_fd, struct fail *fail)
{
	int r = draft_nameless(P_tmpdir, ret_fd);

	return r ? fail_set(fail, r, "cannot create a temporary file in '%s': %s", P_tmpdir, strerror(-r)) : 0;
}

int input_temporary_from(const struct temporaries *from, int *ret_fd, struct fail *fail)
{
	return from ? from->make(from->arg, ret_fd, fail) : input_temporary(ret_fd, fail);
}

void input_temporary_back(const struct temporaries *from, int fd)
{
	if (fd >= 0 && from)
		from->give_back(from->arg, fd);
	else if (fd >= 0)
		close(fd);
}

static int spool(int from, const char *path, int *ret_fd, struct fail *fail)
{
	cleanup_fd int fd = -1;
	char data[SPOOL_SIZE];
	int r = input_temporary(&fd, fail);

	if (r)
		return r;
	for (;;) {
		ssize_t got = io_read(from, data, sizeof(data));

		if (got < 0)
			return fail_set(fail, (int)got, "cannot read '%s': %s", path, strerror((int)-got));
		if (!got)
			break;
		r = io_write(fd, data, (size_t)got);
		if (r)
			return fail_set(fail, r, "cannot copy '%s' to a temporary file in '%s': %s", path, P_tmpdir,
					strerror(-r));
	}
	*ret_fd = fd_take(&fd);
	return 0;
}

int input_init(struct input *input, int fd, const char *path, struct fail *fail)
{
	cleanup_fd int own = -1;
	struct stat stat;
	off_t size;
	int r;

	if (fstat(fd, &stat))
		return fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno));
	if (S_ISDIR(stat.st_mode))
		return fail_set(fail, -EISDIR, "'%s' is a directory, not a trace.dat", path);
	if (S_ISREG(stat.st_mode) || S_ISBLK(stat.st_mode)) {
		own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (own < 0)
			return fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno));
	} else {
		r = spool(fd, path, &own, fail);
		if (r)
			return r;
	}
	size = S_ISREG(stat.st_mode) ? stat.st_size : lseek(own, 0, SEEK_END);
	if (size < 0)
		return fail_set(fail, -errno, "cannot get the size of '%s': %s", path, strerror(errno));
	*input = (struct input){ .fd = fd_take(&own), .size = (uint64_t)size };
	return 0;
}

void input_release(struct input *input)
{
	cleanup_fd_close(&input->fd);
	input->fd = -1;
}

static int note_error(const struct input *input, int err)
{
	__atomic_store_n(&((struct input *)(uintptr_t)input)->error, err, __ATOMIC_RELAXED);
	return -err;
}

int input_read(const struct input *input, uint64_t offset, void *data, size_t size, struct fail *fail)
{
	char *at = data;
	size_t left = size;

	if (offset > input->size || size > input->size - offset)
		return fail_set(fail, -EBADMSG, "the file ends at %" PRIu64 ", inside the %zu bytes at %" PRIu64,
				input->size, size, offset);
	while (left) {
		ssize_t got = io_pread(input->fd, at, left, offset);

		if (got < 0)
			return fail_set(fail, note_error(input, (int)-got),
					"cannot read %zu bytes at offset %" PRIu64 ": %s", left, offset,
					strerror((int)-got));
		if (!got)
			return fail_set(fail, -EBADMSG,
					"the file became shorter while it was read: no bytes at %" PRIu64, offset);
		at += got;
		left -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}
