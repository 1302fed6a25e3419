// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/ground/base/dir.h"
#include "lib/ground/base/random.h"

enum { NAMES_MAX = 100, PATH = 32 };

static void random_name(char into[DRAFT_NAME])
{
	snprintf(into, DRAFT_NAME, ".weft-%016" PRIx64 ".new", random_number());
}

/* The name below /proc by which a file without a name gets one. */
static const char *proc_path(int fd, char into[PATH])
{
	snprintf(into, PATH, "/proc/self/fd/%d", fd);
	return into;
}

/* Opens a file without a name. Without /proc it could not get one later. */
static int open_nameless(int dir)
{
	cleanup_fd int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[PATH];

	return fd >= 0 && !access(proc_path(fd, path), F_OK) ? fd_take(&fd) : -1;
}

int draft_new(int dir, struct draft *ret)
{
	struct draft draft = { .dir = dir, .fd = open_nameless(dir) };

	errno = EEXIST;
	for (unsigned i = 0; draft.fd < 0 && errno == EEXIST && i < NAMES_MAX; i++) {
		random_name(draft.name);
		draft.fd = openat(dir, draft.name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (draft.fd < 0)
		return -errno;
	*ret = draft;
	return 0;
}

static int link_as(const struct draft *draft, int dir, const char *name)
{
	char path[PATH];

	return linkat(AT_FDCWD, proc_path(draft->fd, path), dir, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* For filesystems without a rename that refuses to replace a file. */
static int rename_free(const struct draft *draft, int dir, const char *leaf)
{
	/* Some C libraries have no wrapper for this system call. */
	if (!syscall(SYS_renameat2, draft->dir, draft->name, dir, leaf, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!faccessat(dir, leaf, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(draft->dir, draft->name, dir, leaf) ? -errno : 0;
}

/* Gives a file that has none a name in the same directory. rename() can then replace the file of the final name. */
static int take_name(struct draft *draft, int dir)
{
	int r = -EEXIST;

	for (unsigned i = 0; r == -EEXIST && i < NAMES_MAX; i++) {
		random_name(draft->name);
		r = link_as(draft, dir, draft->name);
	}
	if (r)
		*draft->name = '\0';
	return r;
}

int draft_name(struct draft *draft, int dir, const char *leaf, bool keep)
{
	int r;

	if (!*draft->name) {
		r = link_as(draft, dir, leaf);
		if (r != -EEXIST || keep)
			return r;
		r = take_name(draft, dir);
		if (r)
			return r;
	}
	if (!dir_has(draft->dir, draft->name, draft->fd))
		return -ESTALE;
	if (keep)
		r = rename_free(draft, dir, leaf);
	else
		r = renameat(draft->dir, draft->name, dir, leaf) ? -errno : 0;
	if (r)
		return r;
	*draft->name = '\0';
	return dir_has(dir, leaf, draft->fd) ? 0 : -ESTALE;
}

void draft_discard(struct draft *draft)
{
	/* If another file has the name now, it stays. */
	if (draft->fd >= 0 && *draft->name)
		(void)!dir_remove(draft->dir, draft->name, draft->fd, 0);
	draft_close(draft);
}

void draft_close(struct draft *draft)
{
	cleanup_fd_close(&draft->fd);
	draft->fd = -1;
	*draft->name = '\0';
}

int draft_nameless(const char *path, int *ret_fd)
{
	cleanup_fd int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct draft draft;
	int r = dir < 0 ? -errno : draft_new(dir, &draft);

	if (r)
		return r;
	if (*draft.name)
		r = dir_remove(dir, draft.name, draft.fd, 0);
	*draft.name = '\0';
	if (r) {
		draft_close(&draft);
		return r;
	}
	*ret_fd = draft.fd;
	return 0;
}
