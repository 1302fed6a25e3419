// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/readable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"

/* The time that a writer started together with this process may take to open the FIFO. */
enum { WRITER_TRIES = 50, WRITER_NAP_MS = 20 };

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 && minor(st->st_rdev) == 3;
}

static int check_type(const struct stat *st, const char *path, struct fail *fail)
{
	if (S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISBLK(st->st_mode) || is_null_device(st))
		return 0;
	if (S_ISDIR(st->st_mode))
		return fail_set(fail, -EISDIR, "'%s' is a directory; name a file", path);
	return fail_set(fail, -EINVAL, "'%s' is a %s; name a file", path, S_ISSOCK(st->st_mode) ? "socket" : "device");
}

/* Uses tee(), which consumes no data: a pipe without a writer reports its end, any other has data or returns EAGAIN. */
static bool has_writer(int fd, int into)
{
	return tee(fd, into, 1, SPLICE_F_NONBLOCK);
}

static int wait_for_writer(int fd, const char *path, struct fail *fail)
{
	const struct timespec nap = { .tv_nsec = WRITER_NAP_MS * 1000000L };
	int into[2];
	bool has;

	if (pipe2(into, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	has = has_writer(fd, into[1]);
	for (int i = 0; !has && i < WRITER_TRIES; i++) {
		nanosleep(&nap, NULL);
		has = has_writer(fd, into[1]);
	}
	close(into[0]);
	close(into[1]);
	if (!has)
		return fail_set(fail, -EAGAIN, "nobody writes to the FIFO '%s'; start the writer first, or name a file",
				path);
	return fcntl(fd, F_SETFL, O_RDONLY) ? fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno)) : 0;
}

int readable_open(const char *path, int *ret_fd, struct fail *fail)
{
	/* O_PATH first: some devices react to being opened. */
	cleanup_fd int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat st;
	int err;

	if (place < 0 || fstat(place, &st))
		return fail_set(fail, -errno, "cannot open '%s': %s", path, strerror(errno));
	err = check_type(&st, path, fail);
	if (err)
		return err;
	err = dir_reopen(AT_FDCWD, path, place, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd);
	if (err)
		return fail_set(fail, err, "cannot open '%s': %s", path, dir_error(err));
	if (S_ISFIFO(st.st_mode))
		err = wait_for_writer(fd, path, fail);
	if (err)
		return err;
	*ret_fd = fd_take(&fd);
	return 0;
}
