// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"

static struct flock byte_at(unsigned place)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1 };
}

bool lock_file_live(int fd, unsigned place, bool wait)
{
	struct flock lock = byte_at(place);

	return !io_again(fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock));
}

bool lock_file_lives(int fd, unsigned place)
{
	struct flock lock = byte_at(place);

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

bool lock_file_lives_at(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd >= 0 && lock_file_lives(fd, 0);
}

/*
 * Opens and locks the file once. Returns 1 if it is locked, or 0 if another process removed it meanwhile: there may be
 * a new file of that name, so the caller tries again.
 */
static int open_once(const char *path, bool wait, int *ret, struct fail *fail)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat named, st;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB))
		return !wait && errno == EWOULDBLOCK ?
			       -errno :
			       fail_set(fail, -errno, "cannot lock '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) || (st.st_uid && st.st_uid != geteuid()) || st.st_mode & 022)
		return fail_set(fail, -EPERM, "'%s' is not trusted: others could have written it", path);
	if (stat(path, &named) || named.st_ino != st.st_ino || named.st_dev != st.st_dev)
		return 0;
	/* Whoever has the lock of the whole file also has this place. */
	(void)lock_file_live(fd, 0, false);
	*ret = fd_take(&fd);
	return 1;
}

int lock_file_open(const char *path, bool wait, int *ret_fd, struct fail *fail)
{
	int r;

	do
		r = open_once(path, wait, ret_fd, fail);
	while (!r);
	return r < 0 ? r : 0;
}

void lock_file_remove(const char *path, int *fd)
{
	if (*fd < 0)
		return;
	unlink(path);
	close(*fd);
	*fd = -1;
}
