// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into weft: at the first read in the sandbox it tries what code that a file has taken over could try, and
 * prints a line for each call: its name and "refused" or "done". VICTIM is the PID of another process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void said(const char *what, long result)
{
	dprintf(STDERR_FILENO, "inside: %s %s\n", what, result < 0 ? "refused" : "done");
}

static void try_calls(void)
{
	const char *victim = getenv("VICTIM");
	int pid = victim ? (int)strtol(victim, NULL, 10) : 1, pipes = open("/dev/null", O_RDONLY);
	struct stat st;

	said("open", pipes);
	said("signal to another", syscall(SYS_tgkill, pid, pid, 0));
	said("signal to itself", syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0));
	said("owner of signals", fcntl(STDIN_FILENO, F_SETOWN, pid));
	said("choice of signal", fcntl(STDIN_FILENO, F_SETSIG, SIGTERM));
	said("signals", fcntl(STDIN_FILENO, F_SETFL, O_ASYNC));
	said("flags", fcntl(STDIN_FILENO, F_GETFL));
	said("path", stat("/etc/passwd", &st));
	said("descriptor of the caller", fcntl(9, F_GETFD));
}

ssize_t pread64(int fd, void *into, size_t len, off64_t at)
{
	static ssize_t (*next)(int, void *, size_t, off64_t);
	static int tried;

	if (!next)
		next = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
	/* The filter refuses this question; without a filter the answer is 0. */
	errno = 0;
	if (!tried && prctl(PR_GET_SECCOMP) && errno == EPERM) {
		tried = 1;
		try_calls();
	}
	return next(fd, into, len, at);
}
