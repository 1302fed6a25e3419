// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/destination_folder.h"

#include "lib/base/dir.h"
#include "lib/base/fail.h"
#include "lib/base/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MAX = 100, WORD_MAX = 255, PARTITION_WORD_MAX = 128 };

/* Splits the path, without slashes at its end, into the directory above it and the name there. */
static int split(struct destination_folder *folder, struct fail *fail)
{
	cleanup_free char *path = strdup(folder->path);
	size_t len = path ? strlen(path) : 0;
	int r;

	if (!path)
		return fail_memory(fail);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	r = dir_above(AT_FDCWD, path, folder->path, &folder->above, &folder->leaf, fail);
	if (!r && (!*folder->leaf || !strcmp(folder->leaf, ".") || !strcmp(folder->leaf, "..")))
		return fail_set(fail, -EINVAL, "'%s' cannot be the name of a new directory", folder->path);
	return r;
}

static bool is_partition_word(const char *at, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

	return len && len <= PARTITION_WORD_MAX && strspn(at, allowed) >= len;
}

const char *destination_folder_fault(const char *partition)
{
	size_t key = strcspn(partition, "=");

	if (!partition[key])
		return "it has the form KEY=VALUE, such as host=web1";
	if (!is_partition_word(partition, key) || *partition == '.' ||
	    !is_partition_word(partition + key + 1, strlen(partition + key + 1)))
		return "key and value are letters, digits, '_', '-' and '.'";
	return NULL;
}

/*
 * Whether the folder contains only entries of the key of `partition`. Names that begin with "." are ignored: another
 * weft fills such a folder. -errno: it cannot be read.
 */
static int has_only_partitions(int fd, const char *partition)
{
	size_t key = strcspn(partition, "=") + 1;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), only = 1;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		only = -errno;
		if (copy >= 0)
			close(copy);
		return only;
	}
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.' && strncmp(entry->d_name, partition, key))
			only = 0;
	closedir(dir);
	return only;
}

/* Opens the folder of the path, which is made if it does not exist, as the directory of the name. */
static int enter_partition(struct destination_folder *folder, const char *partition, struct fail *fail)
{
	cleanup_free char *leaf = strdup(partition);
	cleanup_fd int fd = -1;
	int r;

	if (!leaf)
		return fail_memory(fail);
	r = dir_make(folder->above, folder->leaf, &fd);
	folder->made_above = !r;
	/* Another weft may have made it, or may be filling the one that this process has made. */
	if (r == -EEXIST || r == -ESTALE)
		fd = openat(folder->above, folder->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	else if (r)
		return fail_set(fail, r, "cannot make '%s': %s", folder->path, strerror(-r));
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return fail_set(fail, -ENOTDIR,
				"'%s' is not a directory, or is a symbolic link to one; choose another with -o",
				folder->path);
	r = fd < 0 ? -errno : has_only_partitions(fd, partition);
	if (r < 0)
		return fail_set(fail, r, "cannot read '%s': %s", folder->path, strerror(-r));
	if (!r)
		return fail_set(fail, -EEXIST, "'%s' contains more than directories %.*s=...; choose another with -o",
				folder->path, (int)strcspn(partition, "="), partition);
	close(folder->above);
	folder->above = fd_take(&fd);
	free(folder->leaf);
	folder->leaf = take(leaf);
	return 0;
}

static int exists(const struct destination_folder *folder, struct fail *fail)
{
	return fail_set(fail, -EEXIST, "'%s' exists; choose another directory with -o", folder->path);
}

/* Checks that the final name is free, or names an empty folder. */
static int look(const struct destination_folder *folder, struct fail *fail)
{
	cleanup_fd int place = openat(folder->above, folder->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (place < 0 && errno == ENOENT)
		return 0;
	if (place < 0 || fstat(place, &st))
		return fail_set(fail, -errno, "cannot write '%s': %s", folder->path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return fail_set(fail, -EEXIST,
				"'%s' is a symbolic link, and a directory is made only under a name of its own; "
				"choose another with -o",
				folder->path);
	if (!S_ISDIR(st.st_mode))
		return exists(folder, fail);
	if (!dir_is_empty(place))
		return fail_set(fail, -EEXIST, "'%s' is a directory that is not empty; choose another with -o",
				folder->path);
	return 0;
}

static int make(struct destination_folder *folder, struct fail *fail)
{
	int r = -EEXIST;

	for (unsigned i = 0; r == -EEXIST && i < NAMES_MAX; i++) {
		snprintf(folder->name, sizeof(folder->name), ".weft-%016" PRIx64 ".new", random_number());
		r = dir_make(folder->above, folder->name, &folder->dir);
	}
	return r ? fail_set(fail, r, "cannot make a directory beside '%s': %s", folder->path, dir_error(r)) : 0;
}

int destination_folder_make(const char *path, const char *partition, struct destination_folder *ret, struct fail *fail)
{
	struct destination_folder folder = DESTINATION_FOLDER_INIT;
	int r;

	folder.path = strdup(path);
	r = folder.path ? split(&folder, fail) : fail_memory(fail);
	if (!r && partition)
		r = enter_partition(&folder, partition, fail);
	if (!r)
		r = look(&folder, fail);
	if (!r)
		r = make(&folder, fail);
	if (r)
		destination_folder_release(&folder);
	else
		*ret = folder;
	return r;
}

void destination_folder_release(struct destination_folder *folder)
{
	if (folder->dir >= 0)
		close(folder->dir);
	if (folder->above >= 0)
		close(folder->above);
	free(folder->leaf);
	free(folder->path);
	*folder = (struct destination_folder)DESTINATION_FOLDER_INIT;
}

static bool is_word(const char *word, size_t len)
{
	return len && len <= WORD_MAX && *word != '.' && !memchr(word, '/', len);
}

/*
 * Opens the subfolder that the name has before its slash, and makes it if it is new; for a name without a slash the
 * folder itself.
 */
static int enter(const struct destination_folder *folder, const char *name, const char *slash, int *ret_fd)
{
	cleanup_free char *word = slash ? strndup(name, (size_t)(slash - name)) : strdup(".");

	if (!word)
		return -ENOMEM;
	if (slash && mkdirat(folder->dir, word, 0700) && errno != EEXIST)
		return -errno;
	*ret_fd = openat(folder->dir, word, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

int destination_folder_open(const struct destination_folder *folder, const char *name, int *ret_fd, struct fail *fail)
{
	const char *slash = strchr(name, '/'), *leaf = slash ? slash + 1 : name;
	cleanup_fd int dir = -1;
	int fd, r;

	if ((slash && !is_word(name, (size_t)(slash - name))) || !is_word(leaf, strlen(leaf)))
		return fail_set(fail, -EINVAL, "'%s' cannot be the name of a file in '%s'", name, folder->path);
	r = enter(folder, name, slash, &dir);
	fd = r ? -1 : openat(dir, leaf, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_set(fail, r ? r : -errno, "cannot write '%s' in '%s': %s", name, folder->path,
				strerror(r ? -r : errno));
	*ret_fd = fd;
	return 0;
}

/* Adds the right to enter for everybody with the right to read. */
static mode_t folder_mode(mode_t mode)
{
	return 0700 | mode | (mode & 0444) >> 2;
}

/* Sets the modes of all files and folders in an open folder, and of the folder itself: it is the last to be opened. */
static int set_modes(int fd, mode_t mode)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		r = -errno;
		cleanup_fd_close(&copy);
		return r;
	}
	while (!r && (entry = readdir(dir))) {
		cleanup_fd int in = -1;
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		in = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (in < 0 || fstat(in, &st))
			r = -errno;
		else if (S_ISDIR(st.st_mode))
			r = set_modes(in, mode);
		else if (fchmod(in, mode))
			r = -errno;
	}
	closedir(dir);
	return r ? r : fchmod(fd, folder_mode(mode)) ? -errno : 0;
}

static int take_name(const struct destination_folder *folder)
{
	if (!dir_has(folder->above, folder->name, folder->dir))
		return -ESTALE;
	/* rename() replaces an empty folder, but nothing else. */
	if (renameat(folder->above, folder->name, folder->above, folder->leaf))
		return -errno;
	return dir_has(folder->above, folder->leaf, folder->dir) ? 0 : -ESTALE;
}

int destination_folder_place(const struct destination_folder *folder, mode_t mode, struct fail *fail)
{
	int r = mode == 0600 ? 0 : set_modes(folder->dir, mode);

	if (!r && folder->made_above && fchmod(folder->above, folder_mode(mode)))
		r = -errno;
	if (r)
		return fail_set(fail, r, "cannot give '%s' the mode %03o: %s", folder->path, mode, strerror(-r));
	r = take_name(folder);
	if (r == -EEXIST || r == -ENOTEMPTY || r == -ENOTDIR)
		return exists(folder, fail);
	return r ? fail_set(fail, r, "cannot name the finished directory '%s': %s", folder->path, dir_error(r)) : 0;
}

void destination_folder_discard(const struct destination_folder *folder)
{
	(void)!dir_clear(folder->dir, NULL, 1);
	/* If another directory has the name now, it stays. */
	(void)!dir_remove(folder->above, folder->name, folder->dir, AT_REMOVEDIR);
}
