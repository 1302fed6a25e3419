// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranges: closes descriptors with close_range(), in its own table, in one that it shares and leaves, and at an exec. In
 * between it asks the kernel with fcntl(F_GETFD) which of the descriptors 10 to 14 of /etc/passwd are open.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void ask(void)
{
	for (int fd = 10; fd < 15; fd++)
		(void)fcntl(fd, F_GETFD);
}

static void close_them(unsigned first, unsigned last, unsigned flags)
{
	if (syscall(SYS_close_range, first, last, flags))
		_exit(1);
	ask();
}

int main(int argc, char **argv)
{
	int file = open("/etc/passwd", O_RDONLY);
	long child;

	ask();
	if (argc > 1)
		return 0;
	for (int fd = 10; fd < 15; fd++)
		if (dup2(file, fd) < 0)
			return 1;
	close_them(11, 12, 0);
	if (dup2(file, 11) < 0)
		return 1;
	child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		close_them(10, 10, CLOSE_RANGE_UNSHARE);
		_exit(0);
	}
	if (child < 0 || waitpid((pid_t)child, NULL, 0) < 0)
		return 1;
	close_them(13, 13, CLOSE_RANGE_CLOEXEC);
	execl("/proc/self/exe", argv[0], "after", (char *)NULL);
	return 1;
}
