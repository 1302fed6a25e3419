// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/destination_folder.h"

#include "lib/base/fail.h"
#include "lib/base/random.h"
#include "lib/base/trust.h"

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
	char *slash;

	if (!path)
		return fail_memory(fail);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	slash = strrchr(path, '/');
	folder->leaf = strdup(slash ? slash + 1 : path);
	if (!folder->leaf)
		return fail_memory(fail);
	if (!*folder->leaf || !strcmp(folder->leaf, ".") || !strcmp(folder->leaf, ".."))
		return fail_set(fail, -EINVAL, "'%s' cannot be the name of a new directory", folder->path);
	if (slash)
		slash[slash == path] = '\0';
	folder->above = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->above < 0)
		return fail_set(fail, -errno, "cannot open the directory of '%s': %s", folder->path, strerror(errno));
	return 0;
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
	folder->made_above = !mkdirat(folder->above, folder->leaf, 0700);
	if (!folder->made_above && errno != EEXIST)
		return fail_set(fail, -errno, "cannot make '%s': %s", folder->path, strerror(errno));
	fd = openat(folder->above, folder->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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

static bool is_empty(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool empty = dir != NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return empty;
}

static int exists(const struct destination_folder *folder, struct fail *fail)
{
	return fail_set(fail, -EEXIST, "'%s' exists; choose another directory with -o", folder->path);
}

/* Checks that the final name is free, or is that of an empty folder. */
static int look(const struct destination_folder *folder, struct fail *fail)
{
	struct stat st;

	if (fstatat(folder->above, folder->leaf, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 :
					 fail_set(fail, -errno, "cannot write '%s': %s", folder->path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return fail_set(fail, -EEXIST,
				"'%s' is a symbolic link, and a directory is made only under a name of its own; "
				"choose another with -o",
				folder->path);
	if (!S_ISDIR(st.st_mode))
		return exists(folder, fail);
	if (!is_empty(openat(folder->above, folder->leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)))
		return fail_set(fail, -EEXIST, "'%s' is a directory that is not empty; choose another with -o",
				folder->path);
	return 0;
}

static int make(struct destination_folder *folder, struct fail *fail)
{
	int r = -1;

	errno = EEXIST;
	for (unsigned i = 0; r && errno == EEXIST && i < NAMES_MAX; i++) {
		snprintf(folder->name, sizeof(folder->name), ".weft-%016" PRIx64 ".new", random_number());
		r = mkdirat(folder->above, folder->name, 0700);
	}
	if (r)
		return fail_set(fail, -errno, "cannot make a directory beside '%s': %s", folder->path, strerror(errno));
	folder->dir = openat(folder->above, folder->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* If other users may write to the directory, one of them may have replaced the new folder. */
	r = folder->dir < 0 ? fail_set(fail, -errno, "cannot open the directory made beside '%s': %s", folder->path,
				       strerror(errno)) :
			      trust_check(folder->dir, S_IFDIR, folder->path, fail);
	if (r)
		unlinkat(folder->above, folder->name, AT_REMOVEDIR);
	return r;
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

/* Removes each file of a folder and its subfolders, or sets its mode; then does the same with the folder itself. */
static int walk(int above, const char *name, bool discard, mode_t mode, unsigned depth)
{
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while ((entry = readdir(dir))) {
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode) && depth)
			r = walk(fd, entry->d_name, discard, mode, depth - 1) ?: r;
		else if (discard)
			unlinkat(fd, entry->d_name, 0);
		else if (fchmodat(fd, entry->d_name, mode, 0))
			r = -errno;
	}
	if (discard)
		unlinkat(above, name, AT_REMOVEDIR);
	else if (fchmod(fd, folder_mode(mode)))
		r = -errno;
	closedir(dir);
	return r;
}

int destination_folder_place(const struct destination_folder *folder, mode_t mode, struct fail *fail)
{
	int r = mode == 0600 ? 0 : walk(folder->above, folder->name, false, mode, 1);

	if (!r && folder->made_above && fchmod(folder->above, folder_mode(mode)))
		r = -errno;
	if (r)
		return fail_set(fail, r, "cannot give '%s' the mode %03o: %s", folder->path, mode, strerror(-r));
	/* rename() replaces an empty folder, but nothing else. */
	if (!renameat(folder->above, folder->name, folder->above, folder->leaf))
		return 0;
	if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
		return exists(folder, fail);
	return fail_set(fail, -errno, "cannot name the finished directory '%s': %s", folder->path, strerror(errno));
}

void destination_folder_discard(const struct destination_folder *folder)
{
	(void)walk(folder->above, folder->name, true, 0, 1);
}
