// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/sync_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/parts.h"

static int failed(const char *what, struct fail *fail)
{
	return fail_set(fail, -errno, "cannot sync '%s' to the disk: %s", what, strerror(errno));
}

/* Syncs one file. A file that no longer exists need not be synced. */
static int sync_file(int dir, const char *name, struct fail *fail)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : failed(name, fail);
	return fdatasync(fd) ? failed(name, fail) : 0;
}

static int sync_dir(int dir, const char *name, const char *path, struct fail *fail)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || (fsync(fd) && errno != EINVAL) ? failed(path, fail) : 0;
}

int sync_folder(int dir, const char *path, struct fail *fail)
{
	return sync_dir(dir, ".", path, fail);
}

static int sync_files(DIR *dir, struct fail *fail)
{
	struct dirent *entry;
	int err = 0;

	while (!err && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			err = sync_file(dirfd(dir), entry->d_name, fail);
	return err;
}

int sync_parts(const struct parts *parts, struct fail *fail)
{
	DIR *dir = dir_entries(parts->dir);
	int err;

	if (!dir)
		return failed(parts->path, fail);
	err = sync_files(dir, fail);
	closedir(dir);
	if (!err)
		err = sync_dir(parts->dir, ".", parts->path, fail);
	return err ? err : sync_dir(parts->dir, "..", parts->path, fail);
}
