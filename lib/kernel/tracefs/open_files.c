// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/open_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#ifndef STATX_INO
#include <linux/stat.h>
#endif

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/pids.h"
#include "lib/kernel/tracefs/socket_names_internal.h"
#include "lib/kernel/tracefs/task_scan.h"

#ifndef __GLIBC__
/* musl before 1.2.5 has none. */
#define statx(...) syscall(SYS_statx, __VA_ARGS__)
#endif

enum { TARGET_SIZE = 4352, INFO_SIZE = 512, KIND_SIZE = 64 };

/* The number that is the whole name of a directory's entry; -1: it is none. */
static long number_of(const char *name)
{
	char *end;
	long number = *name >= '0' && *name <= '9' ? strtol(name, &end, 10) : -1;

	return number >= 0 && !*end ? number : -1;
}

/* The word after "flags:" in /proc/PID/fdinfo/FD. 0: unknown. */
static unsigned long flags_of(int infos, const char *name)
{
	cleanup_fd int fd = infos < 0 ? -1 : openat(infos, name, O_RDONLY | O_CLOEXEC);
	char text[INFO_SIZE];
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	text[len > 0 ? len : 0] = '\0';
	at = strstr(text, "flags:");
	return at ? strtoul(at + strlen("flags:"), NULL, 8) : 0;
}

/* The device and the inode, as this machine knows them without asking a server. False: it does not say them. */
static bool find_inode(int dir, const char *name, struct statx *ret)
{
	return !statx(dir, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO | STATX_TYPE, ret);
}

/*
 * The name of a socket instead of its number: the kind is the one that the kernel tells of the file, as for strace, and
 * between what it is, where that is known.
 */
static bool put_target(const struct socket_names *sockets, const char *path, const char *target, size_t len,
		       struct buf *into)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *name = NULL;
	char number[32], kind[KIND_SIZE];
	ssize_t size;

	if (len <= 9 || len >= sizeof(number) || memcmp(target, "socket:[", 8))
		return task_scan_text(into, target, len);
	memcpy(number, target + 8, len - 8);
	number[len - 8] = '\0';
	name = socket_names_find(sockets, strtoull(number, NULL, 10));
	size = getxattr(path, "system.sockprotoname", kind, sizeof(kind) - 1);
	kind[size > 0 ? size : 0] = '\0';
	if (!*kind || strchr(kind, ':'))
		return task_scan_text(into, name ? name : target, name ? strlen(name) : len);
	return buf_addf(&text, "%s:%s%s", kind, name ? strchr(name, ':') + 1 : "[", name ? "" : number) &&
	       task_scan_text(into, buf_str(&text), text.len);
}

static bool scan_process(pid_t pid, const struct socket_names *sockets, struct buf *into)
{
	cleanup_fd int infos = -1;
	char path[96], target[TARGET_SIZE];
	struct dirent *entry;
	struct statx inode;
	bool ok = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	infos = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true;
	while (ok && into->len < OPEN_FILES_SIZE && (entry = readdir(dir)) != NULL) {
		long number = number_of(entry->d_name);
		ssize_t len = number < 0 ? -1 : readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));

		if (len <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%ld", (int)pid, number);
		ok = buf_addf(into, "%d %ld %lo", (int)pid, number, flags_of(infos, entry->d_name)) &&
		     (!find_inode(dirfd(dir), entry->d_name, &inode) ||
		      buf_addf(into, " %u:%u:%llu", inode.stx_dev_major, inode.stx_dev_minor,
			       (unsigned long long)inode.stx_ino)) &&
		     buf_add_str(into, "\t") && put_target(sockets, path, target, (size_t)len, into) &&
		     buf_add_str(into, "\n");
	}
	closedir(dir);
	return ok;
}

bool open_files_scan(struct buf *into)
{
	cleanup_pids DIR *all = pids_of_all();
	struct socket_names sockets;
	bool ok = socket_names_read(&sockets);
	pid_t pid;

	/* A process without open files is known to have none. */
	while (ok && into->len < OPEN_FILES_SIZE && (pid = pids_next(all)) != 0)
		ok = buf_addf(into, "%d\n", (int)pid) && scan_process(pid, &sockets, into);
	socket_names_release(&sockets);
	return ok && (into->len < OPEN_FILES_SIZE || buf_add_str(into, "more\n"));
}
