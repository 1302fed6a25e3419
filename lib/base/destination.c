// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/destination.h"

#include "lib/base/dir.h"
#include "lib/base/fail.h"
#include "lib/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/major.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* The time that a reader started together with this process may take to open the FIFO. */
enum { READER_TRIES = 50, READER_NAP_MS = 20 };

/* Names such as /dev/stdout, which stand for a file descriptor of this process. */
static bool is_standard_output(const char *path)
{
	struct stat named, open;

	if (!strcmp(path, "-"))
		return true;
	if (strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6))
		return false;
	return !stat(path, &named) && !fstat(STDOUT_FILENO, &open) && !S_ISCHR(open.st_mode) &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* Follows the symbolic link `link`, which was opened as such. */
static int follow(struct destination *destination, int link, uid_t owner, struct fail *fail)
{
	char *leaf, to[PATH_MAX];
	ssize_t len;
	int dir, err;

	if (!trust_is_ours(owner))
		return fail_set(
			fail, -EPERM,
			"'%s' is a symbolic link that belongs to another user (uid %u), who may have chosen any "
			"target; remove it or name another file",
			destination->path, owner);
	len = readlinkat(link, "", to, sizeof(to) - 1);
	if (len < 0)
		return fail_set(fail, -errno, "cannot follow '%s': %s", destination->path, strerror(errno));
	to[len] = '\0';
	err = dir_above(destination->dir, to, destination->path, &dir, &leaf, fail);
	if (err)
		return err;
	close(destination->dir);
	free(destination->leaf);
	destination->dir = dir;
	destination->leaf = leaf;
	return 0;
}

/* Looks at the name. Returns 1 if it was a link, which was followed; 0 at the end. */
static int look_once(struct destination *destination, struct fail *fail)
{
	cleanup_fd int fd = openat(destination->dir, destination->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0 && errno == ENOENT && *destination->leaf)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return fail_set(fail, -errno, "cannot write '%s': %s", destination->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail_set(fail, -EISDIR, "'%s' is a directory; name a file in it", destination->path);
	if (S_ISLNK(st.st_mode) && !dir_is_in_proc(destination->dir)) {
		err = follow(destination, fd, st.st_uid, fail);
		return err ? err : 1;
	}
	destination->exists = true;
	destination->kind = S_ISREG(st.st_mode) ? DESTINATION_FILE : DESTINATION_SPECIAL;
	return 0;
}

static int look(struct destination *destination, struct fail *fail)
{
	int r = 1;

	for (unsigned links = 0; r > 0 && links < LINKS_MAX; links++)
		r = look_once(destination, fail);
	return r > 0 ? fail_set(fail, -ELOOP, "cannot follow '%s': %s", destination->path, strerror(ELOOP)) : r;
}

/*
 * Compares device numbers with the terminals of this process. The device is not opened, because some devices react to
 * that.
 */
static bool is_terminal(const struct destination *destination)
{
	struct stat named, open;

	if (destination->kind == DESTINATION_STDOUT)
		return isatty(STDOUT_FILENO);
	if (destination->kind != DESTINATION_SPECIAL || fstatat(destination->dir, destination->leaf, &named, 0) ||
	    !S_ISCHR(named.st_mode))
		return false;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd) && !fstat(fd, &open) && open.st_rdev == named.st_rdev)
			return true;
	return named.st_rdev == makedev(TTYAUX_MAJOR, 0);
}

int destination_open(const char *path, struct destination *ret, struct fail *fail)
{
	struct destination destination = DESTINATION_INIT;
	int err = 0;

	destination.path = strdup(path);
	if (!destination.path)
		return fail_memory(fail);
	if (is_standard_output(path)) {
		destination.kind = DESTINATION_STDOUT;
	} else {
		err = dir_above(AT_FDCWD, path, path, &destination.dir, &destination.leaf, fail);
		if (!err)
			err = look(&destination, fail);
	}
	if (!err && is_terminal(&destination))
		err = fail_set(
			fail, -EINVAL,
			"'%s' is a terminal, which cannot show a trace file: name a file with -o, or write into a pipe",
			path);
	if (err) {
		destination_release(&destination);
		return err;
	}
	*ret = destination;
	return 0;
}

void destination_release(struct destination *destination)
{
	if (destination->dir >= 0)
		close(destination->dir);
	free(destination->leaf);
	free(destination->path);
	*destination = (struct destination)DESTINATION_INIT;
}

/*
 * Opens the file only as a place (O_PATH), which waits for nobody, and looks at it. A name below /proc stands for an
 * open file, so it is followed.
 */
static int find_special(const struct destination *destination, int *ret_fd, struct stat *ret, struct fail *fail)
{
	int flags = dir_is_in_proc(destination->dir) ? 0 : O_NOFOLLOW;
	cleanup_fd int fd = openat(destination->dir, destination->leaf, O_PATH | O_CLOEXEC | flags);

	if (fd < 0 || fstat(fd, ret))
		return fail_set(fail, -errno, "cannot open '%s': %s", destination->path, strerror(errno));
	if (flags && (S_ISREG(ret->st_mode) || S_ISLNK(ret->st_mode)))
		return fail_set(fail, -EPERM, "'%s' was replaced by another file meanwhile", destination->path);
	if (S_ISFIFO(ret->st_mode) && !trust_is_ours(ret->st_uid))
		return fail_set(fail, -EPERM,
				"'%s' is a FIFO that belongs to another user (uid %u); name a file of your own",
				destination->path, ret->st_uid);
	*ret_fd = fd_take(&fd);
	return 0;
}

int destination_special_check(const struct destination *destination, struct fail *fail)
{
	cleanup_fd int fd = -1;
	struct stat st;
	int r = find_special(destination, &fd, &st, fail);

	if (!r && faccessat(destination->dir, destination->leaf, W_OK, AT_EACCESS))
		r = fail_set(fail, -errno, "cannot write '%s': %s", destination->path, strerror(errno));
	return r;
}

int destination_special(const struct destination *destination, int *ret_fd, struct fail *fail)
{
	const struct timespec nap = { .tv_nsec = READER_NAP_MS * 1000000L };
	cleanup_fd int place = -1, fd = -1;
	struct stat st;
	int flags, r = find_special(destination, &place, &st, fail);

	if (r)
		return r;
	/* Without O_NONBLOCK this process would sleep in open() until somebody reads the FIFO. */
	r = -ENXIO;
	for (int i = 0; r == -ENXIO && i < READER_TRIES; i++) {
		if (i)
			nanosleep(&nap, NULL);
		r = dir_reopen(destination->dir, destination->leaf, place, O_WRONLY | O_NONBLOCK | O_NOCTTY, &fd);
		if (!S_ISFIFO(st.st_mode))
			break;
	}
	if (r == -ENXIO && S_ISFIFO(st.st_mode))
		return fail_set(fail, r, "nobody reads the FIFO '%s'; start the reader first, or name a file",
				destination->path);
	if (r)
		return fail_set(fail, r, "cannot open '%s': %s", destination->path, dir_error(r));
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		return fail_set(fail, -errno, "cannot write '%s': %s", destination->path, strerror(errno));
	*ret_fd = fd_take(&fd);
	return 0;
}

int destination_draft(const struct destination *destination, struct draft *ret, struct fail *fail)
{
	int r = draft_new(destination->dir, ret);

	return r ? fail_set(fail, r, "cannot create a temporary file beside '%s': %s", destination->path,
			    strerror(-r)) :
		   0;
}

int destination_place(const struct destination *destination, struct draft *draft, mode_t mode, bool keep,
		      struct fail *fail)
{
	/* The file was made with 0600. Some filesystems support no other mode. */
	int err = mode != 0600 && fchmod(draft->fd, mode) ? -errno : 0;

	if (err)
		return fail_set(fail, err, "cannot give '%s' the mode %03o: %s", destination->path, mode,
				strerror(-err));
	err = draft_name(draft, destination->dir, destination->leaf, keep);
	if (err == -EEXIST)
		return fail_set(fail, err, "'%s' exists; choose another file with -o", destination->path);
	return err ? fail_set(fail, err, "cannot name the finished file '%s': %s", destination->path, dir_error(err)) :
		     0;
}

static int write_file(const struct destination *destination, mode_t mode, bool keep,
		      int (*write)(void *arg, int fd, struct fail *fail), void *arg, struct fail *fail)
{
	struct draft draft;
	int r = destination_draft(destination, &draft, fail);

	if (r)
		return r;
	r = write(arg, draft.fd, fail);
	if (!r)
		r = destination_place(destination, &draft, mode, keep, fail);
	draft_discard(&draft);
	return r;
}

int destination_write(const struct destination *destination, mode_t mode, bool keep,
		      int (*write)(void *arg, int fd, struct fail *fail), void *arg, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r;

	if (destination->kind == DESTINATION_FILE) {
		r = write_file(destination, mode, keep, write, arg, fail);
	} else if (destination->kind == DESTINATION_STDOUT) {
		r = write(arg, STDOUT_FILENO, fail);
	} else {
		r = destination_special(destination, &fd, fail);
		if (!r)
			r = write(arg, fd, fail);
	}
	return fail_writing(fail, r, destination->path);
}
