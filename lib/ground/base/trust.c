// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/fail.h"

enum { LINKS_MAX = 40 }; /* as many as the kernel follows */

/* A walk along a path; `dir` is where `rest` begins. */
struct walk {
	int dir;
	char rest[PATH_MAX];
	unsigned links;
};

static int refused(const char *path, int err, struct fail *fail)
{
	return fail_set(fail, -err, "cannot open '%s': %s", path, strerror(err));
}

/* Replaces the link at the beginning of `rest` by its target. */
static int follow(struct walk *walk, int link, const char *behind, const char *path, struct fail *fail)
{
	char target[PATH_MAX], whole[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target) - 1);
	int all;

	if (len < 0)
		return refused(path, errno, fail);
	target[len] = '\0';
	all = snprintf(whole, sizeof(whole), "%s%s%s", target, *behind ? "/" : "", behind);
	if (all < 0 || (size_t)all >= sizeof(whole) || ++walk->links > LINKS_MAX)
		return refused(path, ELOOP, fail);
	memcpy(walk->rest, whole, (size_t)all + 1);
	return 0;
}

/* Goes one name further. Returns 1 when the file is open, 0 when there are more names. */
static int step(struct walk *walk, const char *path, int *ret_fd, struct fail *fail)
{
	char *name = walk->rest + strspn(walk->rest, "/"), *behind = name + strcspn(name, "/");
	bool absolute = *walk->rest == '/', last = !behind[strspn(behind, "/")];
	cleanup_fd int next = -1;
	struct stat st;

	if (absolute) {
		cleanup_fd_close(&walk->dir);
		walk->dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (*behind)
		*behind++ = '\0';
	next = openat(walk->dir, *name ? name : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 || fstat(next, &st))
		return refused(path, errno, fail);
	if (S_ISLNK(st.st_mode)) {
		if (!trust_is_ours(st.st_uid))
			return fail_set(fail, -EPERM, "'%s' leads over a link of another user (uid %u)", path,
					st.st_uid);
		return follow(walk, next, behind, path, fail);
	}
	if (!last) {
		memmove(walk->rest, behind + strspn(behind, "/"), strlen(behind + strspn(behind, "/")) + 1);
		cleanup_fd_close(&walk->dir);
		walk->dir = fd_take(&next);
		return 0;
	}
	*ret_fd = openat(walk->dir, *name ? name : ".", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return *ret_fd < 0 ? refused(path, errno, fail) : 1;
}

int trust_open(const char *path, int *ret_fd, struct fail *fail)
{
	struct walk walk = { .dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	int r = strlen(path) < sizeof(walk.rest) ? 0 : refused(path, ENAMETOOLONG, fail);

	if (!r)
		memcpy(walk.rest, path, strlen(path) + 1);
	while (!r)
		r = step(&walk, path, ret_fd, fail);
	cleanup_fd_close(&walk.dir);
	return r < 0 ? r : 0;
}

int trust_is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

int trust_check(int fd, mode_t type, const char *name, struct fail *fail)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail_set(fail, -errno, "cannot stat '%s': %s", name, strerror(errno));
	if ((st.st_mode & S_IFMT) != type)
		return fail_set(fail, -EPERM, "'%s' is not a %s", name, type == S_IFDIR ? "directory" : "regular file");
	if (!trust_is_ours(st.st_uid))
		return fail_set(fail, -EPERM,
				"'%s' belongs to another user (uid %u), who may have put anything into it", name,
				st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fail_set(fail, -EPERM,
				"others may write to '%s' (its mode is %03o) and may have put anything into it", name,
				st.st_mode & 07777);
	return 0;
}
