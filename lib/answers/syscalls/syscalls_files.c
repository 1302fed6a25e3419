// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is behind the descriptors of calls, and the names that they have (lib/meaning/follow/files.h). */
#include "lib/answers/syscalls/syscalls_internal.h"

#include <string.h>

#include "lib/answers/syscalls/syscalls_trace_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/types.h"
#include "lib/meaning/follow/files.h"

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The names that the kernel gives to arguments which are descriptors (SYSCALL_DEFINE). */
bool syscalls_is_descriptor(const char *argument)
{
	static const char *const names[] = {
		"fd",    "fildes", "dfd",      "olddfd", "newdfd",   "oldfd", "newfd",       "in_fd", "out_fd",
		"fd_in", "fd_out", "epfd",     "ufd",    "fdin",     "fdout", "pidfd",       "dirfd", "sockfd",
		"mqdes", "fs_fd",  "from_dfd", "to_dfd", "group_fd", "uffd",  "fanotify_fd",
	};

	return is_one_of(argument, names, array_size(names));
}

bool syscalls_returns_descriptor(const char *call)
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

bool syscalls_takes_descriptor(const char *call)
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

bool syscalls_moves_bytes(const char *call)
{
	static const char *const names[] = {
		"copy_file_range", "pread64",  "preadv",     "preadv2", "pwrite64",
		"pwritev",         "pwritev2", "read",       "readv",   "recvfrom",
		"recvmsg",         "sendfile", "sendfile64", "sendmsg", "sendto",
		"splice",          "tee",      "vmsplice",   "write",   "writev",
	};

	return is_one_of(call, names, array_size(names));
}

const char *syscalls_file(const struct event *event, int64_t fd)
{
	const struct context *context = event->type->context;
	uint32_t file;

	if (fd < 0 || fd > INT32_MAX || !files_are_known(context))
		return NULL;
	file = files_is(context, event->pid, (int32_t)fd, event->ts);
	return file == FILES_CLOSED ? NULL : files_text(context, file);
}

const char *syscalls_given_name(const struct event *event, uint64_t pointer)
{
	return files_name(event->type->context, event->pid, pointer, event->ts);
}

bool syscalls_is_of_file(const struct syscalls_analysis *syscalls, const struct event *event, uint32_t file,
			 uint64_t since)
{
	const struct context *context = event->type->context;
	const char *glob = syscalls->options.file, *name;

	if (file != SYSCALLS_NO_FILE && file >= FILES_FIRST && text_glob(glob, files_text(context, file)))
		return true;
	for (size_t i = 0; (name = files_name_in(context, event->pid, since, event->ts, i)); i++)
		if (text_glob(glob, name))
			return true;
	return false;
}
