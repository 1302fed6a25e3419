// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/destination.h"

#include "lib/base/fail.h"
#include "lib/base/random.h"
#include "lib/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/major.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40, NAMES_MAX = 100 };

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

/* Opens the directory that holds `path` (relative to `dir`) and returns the name in it. */
static int enter(int dir, const char *path, int *ret_dir, char **ret_leaf)
{
	const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
	cleanup_free char *name = strdup(leaf);
	cleanup_free char *above = !slash        ? strdup(".") :
				   slash == path ? strdup("/") :
						   strndup(path, (size_t)(slash - path));

	if (!name || !above)
		return -ENOMEM;
	*ret_dir = openat(dir, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_dir < 0)
		return -errno;
	*ret_leaf = take(name);
	return 0;
}

static bool is_in_proc(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Follows one symbolic link; true when the name was one. */
static int follow(struct destination *destination, const struct stat *st, struct fail *fail)
{
	int old = destination->dir, dir, err;
	char *leaf, to[PATH_MAX];
	ssize_t len;

	if (!trust_is_ours(st->st_uid))
		return fail_set(
			fail, -EPERM,
			"'%s' is a symbolic link that belongs to another user (uid %u), who may have chosen any "
			"target; remove it or name another file",
			destination->path, st->st_uid);
	len = readlinkat(old, destination->leaf, to, sizeof(to) - 1);
	if (len < 0)
		return fail_set(fail, -errno, "cannot follow '%s': %s", destination->path, strerror(errno));
	to[len] = '\0';
	err = enter(old, to, &dir, &leaf);
	if (err)
		return fail_set(fail, err, "cannot open the directory that '%s' leads to: %s", destination->path,
				strerror(-err));
	close(old);
	free(destination->leaf);
	destination->dir = dir;
	destination->leaf = leaf;
	return 0;
}

static int look(struct destination *destination, struct fail *fail)
{
	struct stat st;
	int err = 0;

	for (unsigned links = 0; !err && links < LINKS_MAX; links++) {
		if (fstatat(destination->dir, destination->leaf, &st, AT_SYMLINK_NOFOLLOW))
			return errno == ENOENT && *destination->leaf ? 0 :
								       fail_set(fail, -errno, "cannot write '%s': %s",
										destination->path, strerror(errno));
		destination->exists = true;
		/* For /proc/PID/fd/N the kernel knows the open file itself, not only its name. */
		if (S_ISLNK(st.st_mode) && is_in_proc(destination->dir)) {
			destination->kind = DESTINATION_SPECIAL;
			return 0;
		}
		if (S_ISDIR(st.st_mode))
			return fail_set(fail, -EISDIR, "'%s' is a directory; name a file in it", destination->path);
		if (!S_ISLNK(st.st_mode)) {
			destination->kind = S_ISREG(st.st_mode) ? DESTINATION_FILE : DESTINATION_SPECIAL;
			return 0;
		}
		destination->exists = false;
		err = follow(destination, &st, fail);
	}
	return err ? err : fail_set(fail, -ELOOP, "cannot follow '%s': %s", destination->path, strerror(ELOOP));
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
		err = enter(AT_FDCWD, path, &destination.dir, &destination.leaf);
		if (err)
			err = fail_set(fail, err, "cannot open the directory of '%s': %s", path, strerror(-err));
		else
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

int destination_special(const struct destination *destination, int *ret_fd, struct fail *fail)
{
	int flags = is_in_proc(destination->dir) ? 0 : O_NOFOLLOW;
	cleanup_fd int fd = openat(destination->dir, destination->leaf, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return fail_set(fail, -errno, "cannot open '%s': %s", destination->path, strerror(errno));
	if (flags && S_ISREG(st.st_mode))
		return fail_set(fail, -EPERM, "'%s' was replaced by another file meanwhile", destination->path);
	if (S_ISFIFO(st.st_mode) && !trust_is_ours(st.st_uid))
		return fail_set(fail, -EPERM,
				"'%s' is a FIFO that belongs to another user (uid %u); name a file of your own",
				destination->path, st.st_uid);
	*ret_fd = fd_take(&fd);
	return 0;
}

int destination_create(const struct destination *destination, char ret_name[DESTINATION_NAME], int *ret_fd,
		       struct fail *fail)
{
	int fd = -1;

	errno = EEXIST;
	for (unsigned i = 0; fd < 0 && errno == EEXIST && i < NAMES_MAX; i++) {
		snprintf(ret_name, DESTINATION_NAME, ".weft-%016" PRIx64 ".new", random_number());
		fd = openat(destination->dir, ret_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		return fail_set(fail, -errno, "cannot create a temporary file beside '%s': %s", destination->path,
				strerror(errno));
	*ret_fd = fd;
	return 0;
}

/* For filesystems without a rename that refuses to replace a file. */
static int rename_free(int from_dir, const char *name, const struct destination *destination)
{
	struct stat st;

	/* Some C libraries have no wrapper for this system call. */
	if (!syscall(SYS_renameat2, from_dir, name, destination->dir, destination->leaf, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!fstatat(destination->dir, destination->leaf, &st, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(from_dir, name, destination->dir, destination->leaf) ? -errno : 0;
}

int destination_place(const struct destination *destination, int from_dir, const char *name, int fd, mode_t mode,
		      bool keep, struct fail *fail)
{
	/* The file was made with 0600. Some filesystems support no other mode. */
	int err = mode != 0600 && fchmod(fd, mode) ? -errno : 0;

	if (err)
		return fail_set(fail, err, "cannot give '%s' the mode %03o: %s", destination->path, mode,
				strerror(-err));
	if (keep)
		err = rename_free(from_dir, name, destination);
	else if (renameat(from_dir, name, destination->dir, destination->leaf))
		err = -errno;
	if (err == -EEXIST)
		return fail_set(fail, err, "'%s' exists; choose another file with -o", destination->path);
	return err ? fail_set(fail, err, "cannot name the finished file '%s': %s", destination->path, strerror(-err)) :
		     0;
}
