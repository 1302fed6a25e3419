// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/pack/folder_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/whole_file.h"

int folder_open(const char *path, struct folder *ret, struct fail *fail)
{
	cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *copy;

	if (dir < 0)
		return fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno));
	copy = strdup(path);
	if (!copy)
		return fail_memory(fail);
	*ret = (struct folder){ .dir = fd_take(&dir), .path = copy };
	return 0;
}

void folder_release(struct folder *folder)
{
	cleanup_fd_close(&folder->dir);
	free(folder->path);
	*folder = (struct folder)FOLDER_INIT;
}

static int refuse(const struct folder *folder, const char *name, mode_t mode, struct fail *fail)
{
	return fail_set(fail, -EPERM,
			"'%s/%s' is %s, but weft reads regular files only; replace it by a copy or remove it",
			folder->path, name,
			S_ISLNK(mode) ? "a symbolic link, or reached through one" :
			S_ISDIR(mode) ? "a directory" :
					"not a regular file");
}

/* Opens the next directory below *at, which is closed. */
static int step(int *at, const char *part, size_t len)
{
	char name[NAME_MAX + 1];
	struct stat st;
	int next;

	if (len > NAME_MAX || (len == 2 && !memcmp(part, "..", 2)))
		return -ENOENT;
	memcpy(name, part, len);
	name[len] = '\0';
	next = openat(*at, len ? name : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 && errno == ENOTDIR)
		return !fstatat(*at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode) ? -ELOOP : -ENOENT;
	if (next < 0)
		return -errno;
	close(*at);
	*at = next;
	return 0;
}

/* A name: the directory that holds it, its last part, and its type. */
struct place {
	int dir;
	const char *leaf;
	struct stat st;
};

static int walk(const struct folder *folder, const char *name, struct place *ret)
{
	cleanup_fd int at = openat(folder->dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash;
	int err = at < 0 ? -errno : 0;

	for (; !err && (slash = strchr(name, '/')); name = slash + 1)
		err = step(&at, name, (size_t)(slash - name));
	if (err)
		return err;
	ret->leaf = *name ? name : ".";
	if (!strcmp(name, ".."))
		return -ENOENT;
	if (fstatat(at, ret->leaf, &ret->st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	ret->dir = fd_take(&at);
	return 0;
}

static int fail_walk(const struct folder *folder, const char *name, int err, struct fail *fail)
{
	return fail_set(fail, err, "cannot open '%s/%s': %s", folder->path, name, strerror(-err));
}

/* 1: it exists, 0: it does not. */
static int find(const struct folder *folder, const char *name, struct place *ret, struct fail *fail)
{
	int err = walk(folder, name, ret);

	if (err == -ELOOP)
		return refuse(folder, name, S_IFLNK, fail);
	if (err && err != -ENOENT)
		return fail_walk(folder, name, err, fail);
	return !err;
}

int folder_type(const struct folder *folder, const char *name, mode_t *ret, struct fail *fail)
{
	struct place place;
	int err = walk(folder, name, &place);

	if (err && err != -ELOOP && err != -ENOENT)
		return fail_walk(folder, name, err, fail);
	if (!err)
		close(place.dir);
	*ret = err ? err == -ELOOP ? S_IFLNK : 0 : place.st.st_mode & S_IFMT;
	return 0;
}

static int open_file(struct folder *folder, const char *name, struct place *place, int *ret_fd, struct fail *fail)
{
	cleanup_fd int fd = -1;

	if (!S_ISREG(place->st.st_mode))
		return refuse(folder, name, place->st.st_mode, fail);
	if (folder->files++ == FOLDER_FILES_MAX)
		return fail_set(fail, -EFBIG, "'%s' has more than %d files", folder->path, FOLDER_FILES_MAX);
	fd = openat(place->dir, place->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &place->st))
		return fail_set(fail, -errno, "cannot open '%s/%s': %s", folder->path, name, strerror(errno));
	if (!S_ISREG(place->st.st_mode))
		return refuse(folder, name, place->st.st_mode, fail);
	*ret_fd = fd_take(&fd);
	return 1;
}

int folder_file(struct folder *folder, const char *name, int *ret_fd, struct fail *fail)
{
	struct place place;
	int r = find(folder, name, &place, fail);

	if (r <= 0)
		return r;
	r = open_file(folder, name, &place, ret_fd, fail);
	close(place.dir);
	return r;
}

int folder_text(struct folder *folder, const char *name, char **ret, size_t *ret_len, struct fail *fail)
{
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	int r = folder_file(folder, name, &fd, fail);

	if (r <= 0)
		return r;
	if (asprintf(&path, "%s/%s", folder->path, name) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	r = tree_read_fd(fd, path, ret, ret_len, fail);
	if (r)
		return r;
	folder->texts += *ret_len;
	if (folder->texts <= FOLDER_TEXTS_MAX)
		return 1;
	free(*ret);
	return fail_set(fail, -EFBIG, "the texts in '%s' are larger than %d MiB", folder->path, FOLDER_TEXTS_MAX >> 20);
}

int folder_take_pages(struct folder *folder, int fd, const char *name, struct fail *fail)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail_set(fail, -errno, "cannot read '%s/%s': %s", folder->path, name, strerror(errno));
	if ((uint64_t)st.st_size > FOLDER_PAGES_MAX - folder->pages)
		return fail_set(fail, -EFBIG, "the pages in '%s' are larger than %d GiB", folder->path,
				(int)(FOLDER_PAGES_MAX >> 30));
	folder->pages += (uint64_t)st.st_size;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void folder_list_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static int read_names(const struct folder *folder, const char *name, DIR *dir, char ***ret, size_t *ret_count,
		      struct fail *fail)
{
	size_t count = 0;
	struct dirent *entry;
	char **names = NULL, **added;
	int err = 0;

	while (!err && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		if (count == FOLDER_NAMES_MAX) {
			err = fail_set(fail, -EFBIG, "'%s/%s' has more than %d names", folder->path, name,
				       FOLDER_NAMES_MAX);
			break;
		}
		added = vec_push(names, count);
		if (!added || !(*added = strdup(entry->d_name)))
			err = fail_memory(fail);
	}
	if (err) {
		folder_list_free(names, count);
		return err;
	}
	if (count)
		qsort(names, count, sizeof(*names), compare_names);
	*ret = names;
	*ret_count = count;
	return 0;
}

int folder_list(const struct folder *folder, const char *name, char ***ret, size_t *ret_count, struct fail *fail)
{
	struct place place;
	int r = find(folder, name, &place, fail), fd;
	DIR *dir;

	*ret = NULL;
	*ret_count = 0;
	if (r <= 0)
		return r;
	if (S_ISLNK(place.st.st_mode)) {
		close(place.dir);
		return refuse(folder, name, S_IFLNK, fail);
	}
	fd = openat(place.dir, place.leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(place.dir);
	if (fd < 0 && errno == ENOTDIR)
		return 0;
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		r = fail_set(fail, -errno, "cannot open '%s/%s': %s", folder->path, name, strerror(errno));
		cleanup_fd_close(&fd);
		return r;
	}
	r = read_names(folder, name, dir, ret, ret_count, fail);
	closedir(dir);
	return r;
}
