// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/budget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

enum { FREE_PART = 20, FREE_MAX = 1 << 30 };

static const char pattern[] = "-####-##-##T##-##-##.###-", suffix[] = ".dat";

enum { STAMP_LEN = sizeof(pattern) - 1, SUFFIX_LEN = sizeof(suffix) - 1 };

struct file {
	char *name;          /* of the trace, with ".dat" */
	const char *stamp;   /* in it: the time and what follows */
	const char *trigger; /* in it; trigger_len letters */
	size_t trigger_len;
	dev_t dev;
	ino_t ino;
	uid_t owner;
	uint64_t bytes; /* of the disk; 0: the file is gone */
	bool first;     /* of its trigger since the boot */
};

struct budget_files {
	const char *path, *flight;
	int dir; /* while it is looked at */
	char *host;
	struct file *at;
	size_t nr;
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

/* Finds the time in a name, behind that of the host. NULL: a flight of this host has not made this name. */
static const char *find_stamp(const struct budget_files *files, const char *name)
{
	size_t len = strlen(name), host = strlen(files->host);

	if (len <= host + STAMP_LEN + SUFFIX_LEN || strncmp(name, files->host, host) ||
	    strcmp(name + len - SUFFIX_LEN, suffix))
		return NULL;
	for (size_t i = 0; i < STAMP_LEN; i++) {
		char c = name[host + i];

		if (pattern[i] == '#' ? c < '0' || c > '9' : c != pattern[i])
			return NULL;
	}
	return name + host;
}

/* The name of the line beside a file. NULL: memory ran out. */
static char *name_beside(const char *name)
{
	char *beside;

	return asprintf(&beside, "%.*s.json", (int)(strlen(name) - SUFFIX_LEN), name) < 0 ? NULL : beside;
}

static void sign(struct json *json, const char *file, const char *flight)
{
	json_object(json);
	json_key(json, "file");
	json_put_text(json, file);
	json_key(json, "flight");
	json_put_text(json, flight);
}

void budget_begin(struct json *json, const char *file, const char *flight)
{
	sign(json, file, flight);
	json_key(json, "version");
	json_put_u64(json, 1);
}

static bool is_signed(const struct budget_files *files, const char *name, int fd)
{
	struct out wanted;
	struct json json;
	bool is = false;

	if (out_init(&wanted, 0)) {
		cleanup_free char *begin = NULL;
		ssize_t len;

		json_init(&json, &wanted);
		sign(&json, name, files->flight);
		len = (ssize_t)out_len(&wanted);
		begin = malloc((size_t)len);
		is = begin && !wanted.failed && pread(fd, begin, (size_t)len, 0) == len &&
		     !memcmp(begin, wanted.start, (size_t)len);
	}
	out_release(&wanted);
	return is;
}

/* Opens the line beside a file of this owner, if the flight has written it: -1 if it has not. */
static int open_beside(const struct budget_files *files, const char *name, const char *beside, uid_t owner)
{
	cleanup_fd int fd = openat(files->dir, beside, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != owner || !is_signed(files, name, fd))
		return -1;
	return fd_take(&fd);
}

static int add(struct budget_files *files, const char *name, const char *stamp, const struct stat *stat,
	       struct fail *fail)
{
	struct file *added = vec_push(files->at, files->nr);

	if (!added)
		return fail_memory(fail);
	*added = (struct file){ .name = strdup(name), .dev = stat->st_dev, .ino = stat->st_ino, .owner = stat->st_uid };
	if (!added->name) {
		files->nr--;
		return fail_memory(fail);
	}
	added->stamp = added->name + (stamp - name);
	added->trigger = added->stamp + STAMP_LEN;
	added->trigger_len = strlen(added->trigger) - SUFFIX_LEN;
	return 0;
}

/* Adds a file, if this flight has left it. */
static int add_left(struct budget_files *files, const char *name, struct fail *fail)
{
	const char *stamp = find_stamp(files, name);
	cleanup_free char *beside = NULL;
	cleanup_fd int fd = -1, beside_fd = -1;
	struct stat st;

	if (!stamp)
		return 0;
	fd = openat(files->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return 0;
	beside = name_beside(name);
	if (!beside)
		return fail_memory(fail);
	beside_fd = open_beside(files, name, beside, st.st_uid);
	return beside_fd < 0 ? 0 : add(files, name, stamp, &st, fail);
}

static int list(struct budget_files *files, struct fail *fail)
{
	DIR *dir = dir_entries(files->dir);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return fail_set(fail, -errno, "cannot read '%s': %s", files->path, strerror(errno));
	while (!err && (entry = readdir(dir)))
		err = add_left(files, entry->d_name, fail);
	closedir(dir);
	return err;
}

int budget_files_new(const char *dir, const char *flight, struct budget_files **ret, struct fail *fail)
{
	struct budget_files *files = calloc(1, sizeof(*files));
	struct utsname host;
	int err;

	if (!files)
		return fail_memory(fail);
	*files = (struct budget_files){ .path = dir, .flight = flight, .dir = -1 };
	if (!uname(&host))
		files->host = strndup(host.nodename, strcspn(host.nodename, "/."));
	err = files->host ? open_dir(dir, &files->dir, fail) : fail_memory(fail);
	if (!err)
		err = list(files, fail);
	cleanup_fd_close(&files->dir);
	if (err)
		budget_files_free(files);
	else
		*ret = files;
	return err;
}

void budget_files_free(struct budget_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->nr; i++)
		free(files->at[i].name);
	free(files->at);
	free(files->host);
	free(files);
}

int budget_add(struct budget_files *files, const char *path, const struct stat *stat, struct fail *fail)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *stamp = find_stamp(files, name);

	/* The name of the host has changed since the flight began, which the next flight will know. */
	return stamp ? add(files, name, stamp, stat, fail) : 0;
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

/* Whether there is no earlier file of the trigger since the boot. */
static bool is_first(const struct budget_files *files, size_t index, const char *boot)
{
	const struct file *file = &files->at[index];

	if (strcmp(file->stamp, boot) < 0)
		return false;
	while (index--)
		if (strcmp(files->at[index].stamp, boot) >= 0 &&
		    is_of(&files->at[index], file->trigger, file->trigger_len))
			return false;
	return true;
}

/* Looks at each file again: somebody may have removed it. Opens the one that still is what was written. */
static int open_file(const struct budget_files *files, const struct file *file, struct stat *ret)
{
	cleanup_fd int fd = openat(files->dir, file->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret) || ret->st_dev != file->dev || ret->st_ino != file->ino ||
	    ret->st_uid != file->owner)
		return -1;
	return fd_take(&fd);
}

struct sum {
	size_t files;
	uint64_t bytes;
};

/* Measures the files, and forgets those that are gone. */
static struct sum measure(struct budget_files *files)
{
	struct sum sum = { 0 };
	size_t left = 0;

	for (size_t i = 0; i < files->nr; i++) {
		struct file *file = &files->at[i];
		struct stat st;
		cleanup_fd int fd = open_file(files, file, &st);

		if (fd < 0) {
			free(file->name);
			continue;
		}
		/* A file without a block of its own counts as one that is there. */
		file->bytes = st.st_blocks ? (uint64_t)st.st_blocks * 512 : 1;
		sum.bytes += file->bytes;
		files->at[left++] = *file;
	}
	files->nr = left;
	sum.files = left;
	return sum;
}

static bool is_over(const struct budget *budget, const struct sum *sum)
{
	return (budget->max_files && sum->files > budget->max_files) ||
	       (budget->max_bytes && sum->bytes > budget->max_bytes);
}

static int remove_file(struct budget_files *files, struct file *file, struct fail *fail)
{
	cleanup_free char *beside = name_beside(file->name);
	struct stat st;
	cleanup_fd int fd = open_file(files, file, &st), beside_fd = -1;
	int err = fd < 0 ? 0 : dir_remove(files->dir, file->name, fd, 0);

	if (err && err != -ENOENT)
		return fail_set(fail, err, "cannot remove '%s', which is more than may be kept: %s", file->name,
				dir_error(err));
	if (!beside)
		return fail_memory(fail);
	/* It may be missing, if the disk was full. */
	beside_fd = open_beside(files, file->name, beside, file->owner);
	if (beside_fd >= 0)
		(void)!dir_remove(files->dir, beside, beside_fd, 0);
	return 0;
}

/* Removes the oldest files, of the trigger or of all others, until the limits are kept. The newest file stays. */
static int remove_some(const struct budget *budget, struct budget_files *files, const char *name, bool others,
		       struct sum *sum, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i + 1 < files->nr && is_over(budget, sum); i++) {
		struct file *file = &files->at[i];

		if (!file->bytes || file->first || is_of(file, name, strlen(name)) == others)
			continue;
		err = remove_file(files, file, fail);
		if (err)
			break;
		sum->files--;
		sum->bytes -= file->bytes;
		file->bytes = 0;
	}
	return err;
}

static int keep(const struct budget *budget, struct budget_files *files, const char *name, unsigned *ret_removed,
		struct fail *fail)
{
	struct sum sum = measure(files), begin = sum;
	char boot[STAMP_LEN + 1];
	int err;

	if (!is_over(budget, &sum))
		return 0;
	qsort(files->at, files->nr, sizeof(*files->at), compare);
	print_boot(boot);
	for (size_t i = 0; i < files->nr; i++)
		files->at[i].first = is_first(files, i, boot);
	err = remove_some(budget, files, name, false, &sum, fail);
	if (!err)
		err = remove_some(budget, files, name, true, &sum, fail);
	*ret_removed = (unsigned)(begin.files - sum.files);
	return err;
}

int budget_keep(const struct budget *budget, struct budget_files *files, const char *name, unsigned *ret_removed,
		struct fail *fail)
{
	int err = open_dir(files->path, &files->dir, fail);

	*ret_removed = 0;
	if (!err)
		err = keep(budget, files, name, ret_removed, fail);
	cleanup_fd_close(&files->dir);
	files->dir = -1;
	return err;
}
