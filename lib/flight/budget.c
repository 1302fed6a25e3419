// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/budget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "lib/base/dir.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"

enum { FREE_PART = 20, FREE_MAX = 1 << 30 };

static const char pattern[] = "-####-##-##T##-##-##.###-";

enum { STAMP_LEN = sizeof(pattern) - 1 };

struct file {
	char *name;          /* of the trace, with ".dat" */
	const char *stamp;   /* in it: the time and what follows */
	const char *trigger; /* in it; trigger_len letters */
	size_t trigger_len;
	uint64_t bytes;
	bool first; /* of its trigger since the boot */
};

struct files {
	int dir;
	struct file *at;
	size_t nr;
	uint64_t bytes;
};

/* Opens a directory for reading. */
static int open_dir(const char *path, int *ret, struct fail *fail)
{
	cleanup_fd int place = -1;
	int err = dir_open(AT_FDCWD, path, path, &place, fail);

	if (err)
		return err;
	*ret = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret < 0 ? fail_set(fail, -errno, "cannot open '%s': %s", path, strerror(errno)) : 0;
}

int budget_check(const char *dir, uint64_t bytes, struct fail *fail)
{
	char left[TEXT_HUMAN], stays[TEXT_HUMAN];
	uint64_t free_bytes, keep;
	cleanup_fd int fd = -1;
	struct statvfs vfs;
	int err = open_dir(dir, &fd, fail);

	if (err)
		return err;
	if (fstatvfs(fd, &vfs))
		return 0;
	keep = (uint64_t)vfs.f_blocks * vfs.f_frsize / FREE_PART;
	keep = keep > FREE_MAX ? FREE_MAX : keep;
	free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (free_bytes >= keep && free_bytes - keep >= bytes)
		return 0;
	return fail_set(fail, -ENOSPC, "'%s' has %s of space left, of which %s stay free", dir,
			text_size(left, free_bytes), text_size(stays, keep));
}

/* Finds the time in the name, which may come after any name of a host. NULL: no flight has made this name. */
static const char *find_stamp(const char *name)
{
	size_t len = strlen(name);

	for (size_t at = 1; at + STAMP_LEN < len; at++) {
		size_t i = 0;

		while (i < STAMP_LEN &&
		       (pattern[i] == '#' ? name[at + i] >= '0' && name[at + i] <= '9' : name[at + i] == pattern[i]))
			i++;
		if (i == STAMP_LEN)
			return name + at;
	}
	return NULL;
}

/* Adds a file, if a flight has made it. */
static int add_file(struct files *files, const char *name, struct fail *fail)
{
	static const char suffix[] = ".dat";
	size_t len = strlen(name), suffix_len = strlen(suffix);
	const char *stamp = find_stamp(name);
	cleanup_fd int fd = -1;
	struct file *added;
	struct stat st;

	if (!stamp || len < suffix_len || strcmp(name + len - suffix_len, suffix))
		return 0;
	fd = openat(files->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	added = vec_push(files->at, files->nr);
	if (!added)
		return fail_memory(fail);
	added->name = strdup(name);
	if (!added->name) {
		files->nr--;
		return fail_memory(fail);
	}
	added->stamp = added->name + (stamp - name);
	added->trigger = added->stamp + STAMP_LEN;
	added->trigger_len = strlen(added->trigger) - suffix_len;
	added->bytes = (uint64_t)st.st_size;
	files->bytes += added->bytes;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->stamp, ((const struct file *)b)->stamp);
}

static bool is_of(const struct file *file, const char *trigger, size_t len)
{
	return file->trigger_len == len && !memcmp(file->trigger, trigger, len);
}

/* The time of the boot, as it would be in a name. */
static void print_boot(char into[STAMP_LEN + 1])
{
	struct timespec up;
	struct tm tm;
	time_t boot;

	clock_gettime(CLOCK_BOOTTIME, &up);
	boot = time(NULL) - up.tv_sec;
	*into = '\0';
	if (gmtime_r(&boot, &tm))
		(void)!strftime(into, STAMP_LEN + 1, "-%Y-%m-%dT%H-%M-%S", &tm);
}

/* Marks the first file of each trigger since the boot. */
static void mark_first(struct files *files)
{
	char boot[STAMP_LEN + 1];

	print_boot(boot);
	for (size_t i = 0; i < files->nr; i++) {
		struct file *file = &files->at[i];

		file->first = strcmp(file->stamp, boot) >= 0;
		for (size_t j = 0; file->first && j < i; j++)
			file->first = !(files->at[j].first && is_of(&files->at[j], file->trigger, file->trigger_len));
	}
}

static int list(struct files *files, const char *path, struct fail *fail)
{
	struct dirent *entry;
	int fd, err = open_dir(path, &files->dir, fail);
	DIR *dir;

	if (err)
		return err;
	fd = dup(files->dir);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno));
		cleanup_fd_close(&fd);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		err = add_file(files, entry->d_name, fail);
	closedir(dir);
	if (files->nr)
		qsort(files->at, files->nr, sizeof(*files->at), compare);
	mark_first(files);
	return err;
}

static int remove_one(const struct files *files, const char *name)
{
	cleanup_fd int fd = openat(files->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : dir_remove(files->dir, name, fd, 0);
}

static int remove_file(struct files *files, size_t index, struct fail *fail)
{
	struct file *file = &files->at[index];
	cleanup_free char *beside = NULL;
	int err = remove_one(files, file->name);

	if (err && err != -ENOENT)
		return fail_set(fail, err, "cannot remove '%s', which is more than may be kept: %s", file->name,
				dir_error(err));
	if (asprintf(&beside, "%.*s.json", (int)(strlen(file->name) - strlen(".dat")), file->name) < 0) {
		beside = NULL;
		return fail_memory(fail);
	}
	/* It may be missing, if the disk was full. */
	(void)!remove_one(files, beside);
	files->bytes -= file->bytes;
	free(file->name);
	files->nr--;
	memmove(file, file + 1, (files->nr - index) * sizeof(*file));
	return 0;
}

static bool is_over(const struct budget *budget, const struct files *files)
{
	return (budget->max_files && files->nr > budget->max_files) ||
	       (budget->max_bytes && files->bytes > budget->max_bytes);
}

/* The file to remove next; files->nr: there is none. The newest file is the one that was just written. */
static size_t choose(const struct files *files, const char *name)
{
	for (size_t i = 0; i + 1 < files->nr; i++)
		if (!files->at[i].first && is_of(&files->at[i], name, strlen(name)))
			return i;
	for (size_t i = 0; i + 1 < files->nr; i++)
		if (!files->at[i].first)
			return i;
	return files->nr;
}

int budget_keep(const struct budget *budget, const char *dir, const char *name, unsigned *ret_removed,
		struct fail *fail)
{
	struct files files = { .dir = -1 };
	unsigned removed = 0;
	int err = list(&files, dir, fail);

	while (!err && is_over(budget, &files)) {
		size_t index = choose(&files, name);

		if (index == files.nr)
			break;
		err = remove_file(&files, index, fail);
		removed += !err;
	}
	for (size_t i = 0; i < files.nr; i++)
		free(files.at[i].name);
	free(files.at);
	cleanup_fd_close(&files.dir);
	*ret_removed = removed;
	return err;
}
