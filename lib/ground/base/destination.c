// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/destination.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/major.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/random.h"
#include "lib/ground/base/trust.h"

enum { LINKS_MAX = 40 };

/* The time that a reader started together with this process may take to open the FIFO. */
enum { READER_TRIES = 50, READER_NAP_MS = 20 };

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

/* Follows the symbolic link `link`, which was opened as such. */
static int follow(struct destination *destination, int link, uid_t owner, struct fail *fail)
{
	char *leaf, to[PATH_MAX];
	ssize_t len;
	int dir, err;

	if (!trust_is_ours(owner))
		return fail_set(
			fail, -EPERM,
			"'%s' is a symbolic link that belongs to another user (uid %u), who may have chosen any "
			"target; remove it or name another file",
			destination->path, owner);
	len = readlinkat(link, "", to, sizeof(to) - 1);
	if (len < 0)
		return fail_set(fail, -errno, "cannot follow '%s': %s", destination->path, strerror(errno));
	to[len] = '\0';
	err = dir_above(destination->dir, to, destination->path, &dir, &leaf, fail);
	if (err)
		return err;
	close(destination->dir);
	free(destination->leaf);
	destination->dir = dir;
	destination->leaf = leaf;
	return 0;
}

/* Looks at the name. Returns 1 if it was a link, which was followed; 0 at the end. */
static int look_once(struct destination *destination, struct fail *fail)
{
	cleanup_fd int fd = openat(destination->dir, destination->leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0 && errno == ENOENT && *destination->leaf)
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return fail_set(fail, -errno, "cannot write '%s': %s", destination->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fail_set(fail, -EISDIR, "'%s' is a directory; name a file in it", destination->path);
	if (S_ISLNK(st.st_mode) && !dir_is_in_proc(destination->dir)) {
		err = follow(destination, fd, st.st_uid, fail);
		return err ? err : 1;
	}
	destination->exists = true;
	destination->kind = S_ISREG(st.st_mode) ? DESTINATION_FILE : DESTINATION_SPECIAL;
	return 0;
}

static int look(struct destination *destination, struct fail *fail)
{
	int r = 1;

	for (unsigned links = 0; r > 0 && links < LINKS_MAX; links++)
		r = look_once(destination, fail);
	return r > 0 ? fail_set(fail, -ELOOP, "cannot follow '%s': %s", destination->path, strerror(ELOOP)) : r;
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
		err = dir_above(AT_FDCWD, path, path, &destination.dir, &destination.leaf, fail);
		if (!err)
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

/*
 * Opens the file only as a place (O_PATH), which waits for nobody, and looks at it. A name below /proc stands for an
 * open file, so it is followed.
 */
static int find_special(const struct destination *destination, int *ret_fd, struct stat *ret, struct fail *fail)
{
	int flags = dir_is_in_proc(destination->dir) ? 0 : O_NOFOLLOW;
	cleanup_fd int fd = openat(destination->dir, destination->leaf, O_PATH | O_CLOEXEC | flags);

	if (fd < 0 || fstat(fd, ret))
		return fail_set(fail, -errno, "cannot open '%s': %s", destination->path, strerror(errno));
	if (flags && (S_ISREG(ret->st_mode) || S_ISLNK(ret->st_mode)))
		return fail_set(fail, -EPERM, "'%s' was replaced by another file meanwhile", destination->path);
	if (S_ISFIFO(ret->st_mode) && !trust_is_ours(ret->st_uid))
		return fail_set(fail, -EPERM,
				"'%s' is a FIFO that belongs to another user (uid %u); name a file of your own",
				destination->path, ret->st_uid);
	*ret_fd = fd_take(&fd);
	return 0;
}

int destination_special_check(const struct destination *destination, struct fail *fail)
{
	cleanup_fd int fd = -1;
	struct stat st;
	int r = find_special(destination, &fd, &st, fail);

	if (!r && faccessat(destination->dir, destination->leaf, W_OK, AT_EACCESS))
		r = fail_set(fail, -errno, "cannot write '%s': %s", destination->path, strerror(errno));
	return r;
}

int destination_special(const struct destination *destination, int *ret_fd, struct fail *fail)
{
	const struct timespec nap = { .tv_nsec = READER_NAP_MS * 1000000L };
	cleanup_fd int place = -1, fd = -1;
	struct stat st;
	int flags, r = find_special(destination, &place, &st, fail);

	if (r)
		return r;
	/* Without O_NONBLOCK this process would sleep in open() until somebody reads the FIFO. */
	r = -ENXIO;
	for (int i = 0; r == -ENXIO && i < READER_TRIES; i++) {
		if (i)
			nanosleep(&nap, NULL);
		r = dir_reopen(destination->dir, destination->leaf, place, O_WRONLY | O_NONBLOCK | O_NOCTTY, &fd);
		if (!S_ISFIFO(st.st_mode))
			break;
	}
	if (r == -ENXIO && S_ISFIFO(st.st_mode))
		return fail_set(fail, r, "nobody reads the FIFO '%s'; start the reader first, or name a file",
				destination->path);
	if (r)
		return fail_set(fail, r, "cannot open '%s': %s", destination->path, dir_error(r));
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		return fail_set(fail, -errno, "cannot write '%s': %s", destination->path, strerror(errno));
	*ret_fd = fd_take(&fd);
	return 0;
}

int destination_draft(const struct destination *destination, struct draft *ret, struct fail *fail)
{
	int r = draft_new(destination->dir, ret);

	return r ? fail_set(fail, r, "cannot create a temporary file beside '%s': %s", destination->path,
			    strerror(-r)) :
		   0;
}

int destination_place(const struct destination *destination, struct draft *draft, mode_t mode, bool keep,
		      struct fail *fail)
{
	/* The file was made with 0600. Some filesystems support no other mode. */
	int err = mode != 0600 && fchmod(draft->fd, mode) ? -errno : 0;

	if (err)
		return fail_set(fail, err, "cannot give '%s' the mode %03o: %s", destination->path, mode,
				strerror(-err));
	err = draft_name(draft, destination->dir, destination->leaf, keep);
	if (err == -EEXIST)
		return fail_set(fail, err, "'%s' exists; choose another file with -o", destination->path);
	return err ? fail_set(fail, err, "cannot name the finished file '%s': %s", destination->path, dir_error(err)) :
		     0;
}

static int write_file(const struct destination *destination, mode_t mode, bool keep,
		      int (*write)(void *arg, int fd, struct fail *fail), void *arg, struct fail *fail)
{
	struct draft draft;
	int r = destination_draft(destination, &draft, fail);

	if (r)
		return r;
	r = write(arg, draft.fd, fail);
	if (!r)
		r = destination_place(destination, &draft, mode, keep, fail);
	draft_discard(&draft);
	return r;
}

int destination_write(const struct destination *destination, mode_t mode, bool keep,
		      int (*write)(void *arg, int fd, struct fail *fail), void *arg, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r;

	if (destination->kind == DESTINATION_FILE) {
		r = write_file(destination, mode, keep, write, arg, fail);
	} else if (destination->kind == DESTINATION_STDOUT) {
		r = write(arg, STDOUT_FILENO, fail);
	} else {
		r = destination_special(destination, &fd, fail);
		if (!r)
			r = write(arg, fd, fail);
	}
	return fail_writing(fail, r, destination->path);
}

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
	DIR *dir = dir_entries(fd);
	struct dirent *entry;
	int only = 1;

	if (!dir)
		return -errno;
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
static int folder_look(const struct destination_folder *folder, struct fail *fail)
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
	if (dir_is_empty(place) <= 0)
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
		r = folder_look(&folder, fail);
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
	DIR *dir = dir_entries(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return -errno;
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
