// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/trust.h"

enum { LINKS_MAX = 40 };

/* A path that is being walked. */
struct walk {
	int at;         /* the directory that was reached */
	char *rest;     /* what is left of the path */
	unsigned links; /* the number of symbolic links on the way */
	bool led;       /* another user made one of them: */
	uid_t by;
};

bool dir_is_in_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Closes the directory that was reached, and goes on at another one. */
static int go_on_at(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	cleanup_fd_close(&walk->at);
	walk->at = fd;
	return 0;
}

static int go_to_root(struct walk *walk, const char *path)
{
	return *path == '/' ? go_on_at(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

/* Puts the text of a symbolic link in front of what is left of the path. */
static int follow(struct walk *walk, int link, uid_t owner)
{
	char to[PATH_MAX], *rest;
	ssize_t len = readlinkat(link, "", to, sizeof(to) - 1);

	if (len < 0)
		return -errno;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if (!trust_is_ours(owner)) {
		if (walk->led && walk->by != owner)
			return -EPERM;
		walk->led = true;
		walk->by = owner;
	}
	to[len] = '\0';
	if (asprintf(&rest, "%s/%s", to, walk->rest) < 0)
		return -ENOMEM;
	free(walk->rest);
	walk->rest = rest;
	return go_to_root(walk, rest);
}

/* Enters the next directory of the path, whose name is `len` bytes long. */
static int enter_next(struct walk *walk, const char *word, size_t len)
{
	cleanup_free char *name = strndup(word, len), *rest = strdup(word + len);
	cleanup_fd int fd = -1;
	struct stat st;

	if (!name || !rest)
		return -ENOMEM;
	free(walk->rest);
	walk->rest = take(rest);
	fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return go_on_at(walk, fd_take(&fd));
	if (dir_is_in_proc(walk->at))
		return go_on_at(walk, openat(walk->at, name, O_PATH | O_CLOEXEC));
	return follow(walk, fd, st.st_uid);
}

static int walk_on(struct walk *walk)
{
	struct stat st;
	int r = 0;

	while (!r) {
		const char *word = walk->rest + strspn(walk->rest, "/");

		if (!*word)
			break;
		r = enter_next(walk, word, strcspn(word, "/"));
	}
	if (r)
		return r;
	if (fstat(walk->at, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return walk->led && st.st_uid != walk->by ? -EPERM : 0;
}

int dir_open(int at, const char *path, const char *named, int *ret_fd, struct fail *fail)
{
	/* The root's descriptor does not depend on `at`, which need not be one. */
	struct walk walk = {
		.at = openat(at, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC),
		.rest = strdup(path),
	};
	int r = walk.at < 0 ? -errno : walk.rest ? walk_on(&walk) : -ENOMEM;

	free(walk.rest);
	if (!r) {
		*ret_fd = walk.at;
		return 0;
	}
	cleanup_fd_close(&walk.at);
	if (r != -EPERM)
		return fail_set(fail, r, "cannot open the directory of '%s': %s", named, strerror(-r));
	return fail_set(fail, r,
			"'%s' is reached through a symbolic link of another user (uid %u), which leads to a directory "
			"that is not that user's; name the directory itself",
			named, walk.by);
}

int dir_above(int at, const char *path, const char *named, int *ret_fd, char **ret_leaf, struct fail *fail)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;
	cleanup_free char *above = strndup(path, len), *leaf = strdup(path + len);
	int r;

	if (!above || !leaf)
		return fail_memory(fail);
	r = dir_open(at, above, named, ret_fd, fail);
	if (!r)
		*ret_leaf = take(leaf);
	return r;
}

static bool are_one(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int dir_reopen(int dir, const char *name, int path_fd, int flags, int *ret_fd)
{
	cleanup_fd int fd = -1;
	struct stat here, there;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		fd = openat(dir, name, flags | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &here) || fstat(path_fd, &there))
		return -errno;
	if (!are_one(&here, &there))
		return -ESTALE;
	*ret_fd = fd_take(&fd);
	return 0;
}

bool dir_has(int dir, const char *name, int fd)
{
	struct stat here, named;

	return !fstat(fd, &here) && !fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) && are_one(&here, &named);
}

DIR *dir_entries(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir)
		cleanup_fd_close(&copy);
	return dir;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

int dir_is_empty(int fd)
{
	DIR *dir = dir_entries(fd);
	bool empty = true;
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		empty &= is_dots(entry->d_name);
	closedir(dir);
	return empty;
}

int dir_make(int dir, const char *name, int *ret_fd)
{
	cleanup_fd int fd = -1;
	int empty;

	if (mkdirat(dir, name, 0700))
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT))
		return -ESTALE;
	if (fd < 0) {
		int err = -errno;

		(void)unlinkat(dir, name, AT_REMOVEDIR);
		return err;
	}
	/* Who may write to the directory above may have put a directory of another user, or of root, there. */
	if (trust_check(fd, S_IFDIR, name, NULL))
		return -ESTALE;
	empty = dir_is_empty(fd);
	if (empty < 0)
		(void)!dir_remove(dir, name, fd, AT_REMOVEDIR);
	if (empty <= 0)
		return empty ? empty : -ESTALE;
	*ret_fd = fd_take(&fd);
	return 0;
}

int dir_remove(int dir, const char *name, int fd, int flags)
{
	if (!dir_has(dir, name, fd))
		return -ESTALE;
	return unlinkat(dir, name, flags) ? -errno : 0;
}

static int clear_entry(int fd, const char *name, unsigned depth)
{
	cleanup_fd int below = -1;
	int r;

	if (!unlinkat(fd, name, 0))
		return 0;
	if (errno != EISDIR || !depth)
		return -errno;
	below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return -errno;
	r = dir_clear(below, NULL, depth - 1);
	return r ? r : dir_remove(fd, name, below, AT_REMOVEDIR);
}

int dir_clear(int fd, bool (*chosen)(const char *name), unsigned depth)
{
	DIR *dir = dir_entries(fd);
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (dir && (entry = readdir(dir)))
		if (!is_dots(entry->d_name) && (!chosen || chosen(entry->d_name)))
			r = clear_entry(fd, entry->d_name, depth) ?: r;
	if (dir)
		closedir(dir);
	return r;
}

const char *dir_error(int err)
{
	return err == -ESTALE ? "it was replaced by another one meanwhile" : strerror(-err);
}
