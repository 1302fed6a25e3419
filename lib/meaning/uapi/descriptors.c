// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/uapi/descriptors.h"

#include <stddef.h>
#include <string.h>

#include "lib/ground/base/text.h"

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The names that the kernel gives to arguments which are descriptors (SYSCALL_DEFINE). */
bool descriptor_is_argument(const char *argument)
{
	static const char *const names[] = {
		"fd",    "fildes", "dfd",      "olddfd", "newdfd",   "oldfd", "newfd",       "in_fd", "out_fd",
		"fd_in", "fd_out", "epfd",     "ufd",    "fdin",     "fdout", "pidfd",       "dirfd", "sockfd",
		"mqdes", "fs_fd",  "from_dfd", "to_dfd", "group_fd", "uffd",  "fanotify_fd",
	};

	return is_one_of(argument, names, array_size(names));
}

bool descriptor_is_result(const char *call)
{
	static const char *const names[] = {
		"open",
		"openat",
		"openat2",
		"creat",
		"dup",
		"dup2",
		"dup3",
		"socket",
		"accept",
		"accept4",
		"eventfd",
		"eventfd2",
		"epoll_create",
		"epoll_create1",
		"timerfd_create",
		"signalfd",
		"signalfd4",
		"memfd_create",
		"inotify_init",
		"inotify_init1",
		"fanotify_init",
		"pidfd_open",
		"pidfd_getfd",
		"userfaultfd",
		"mq_open",
		"io_uring_setup",
		"open_tree",
		"perf_event_open",
		"fsopen",
		"fsmount",
		"fspick",
		"open_by_handle_at",
		"memfd_secret",
		"landlock_create_ruleset",
	};

	return is_one_of(call, names, array_size(names));
}

bool descriptor_is_first(const char *call)
{
	static const char *const names[] = {
		"accept",
		"accept4",
		"bind",
		"close",
		"connect",
		"copy_file_range",
		"dup",
		"dup2",
		"dup3",
		"epoll_ctl",
		"epoll_pwait",
		"epoll_pwait2",
		"epoll_wait",
		"fadvise64",
		"fallocate",
		"fchdir",
		"fchmod",
		"fchown",
		"fcntl",
		"fdatasync",
		"fgetxattr",
		"flistxattr",
		"flock",
		"fremovexattr",
		"fsetxattr",
		"fstat",
		"fstatfs",
		"fsync",
		"ftruncate",
		"getdents",
		"getdents64",
		"getpeername",
		"getsockname",
		"getsockopt",
		"inotify_add_watch",
		"inotify_rm_watch",
		"io_uring_enter",
		"ioctl",
		"listen",
		"lseek",
		"newfstat",
		"pread64",
		"preadv",
		"preadv2",
		"pwrite64",
		"pwritev",
		"pwritev2",
		"read",
		"readahead",
		"readv",
		"recvfrom",
		"recvmmsg",
		"recvmsg",
		"sendfile",
		"sendfile64",
		"sendmmsg",
		"sendmsg",
		"sendto",
		"setsockopt",
		"shutdown",
		"splice",
		"sync_file_range",
		"syncfs",
		"tee",
		"timerfd_gettime",
		"timerfd_settime",
		"vmsplice",
		"write",
		"writev",
	};

	return is_one_of(call, names, array_size(names));
}

bool descriptor_moves_bytes(const char *call)
{
	static const char *const names[] = {
		"copy_file_range", "pread64",  "preadv",     "preadv2", "pwrite64",
		"pwritev",         "pwritev2", "read",       "readv",   "recvfrom",
		"recvmsg",         "sendfile", "sendfile64", "sendmsg", "sendto",
		"splice",          "tee",      "vmsplice",   "write",   "writev",
	};

	return is_one_of(call, names, array_size(names));
}
