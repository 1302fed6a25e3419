// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/several.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/remote/link_internal.h"

enum { NO_REPORT = 125 };

/* One of the processes. */
struct one {
	pid_t pid;
	int fd; /* its report; -1: it came, or the process was not started */
};

struct several {
	struct one *ones;
	struct pollfd *fds; /* one for each, and one for signals */
	size_t nr;
	int signal_fd;
	sigset_t old_mask;
	int (*record)(void *arg, size_t index, const sigset_t *mask, struct several_report *ret);
	void *arg;
};

/* A group of its own: a Ctrl-C of the terminal comes from the first process alone, once. */
__attribute__((noreturn)) static void be_one(const struct several *several, size_t index, pid_t parent, int fd)
{
	struct several_report report = { .failed = false };

	(void)!setpgid(0, 0);
	(void)!prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NO_REPORT);
	report.status = several->record(several->arg, index, &several->old_mask, &report);
	fflush(NULL);
	_exit(io_write(fd, &report, sizeof(report)) ? NO_REPORT : report.status);
}

static int start(struct several *several, size_t index, struct fail *fail)
{
	struct one *one = &several->ones[index];
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	one->pid = fork();
	if (!one->pid)
		be_one(several, index, parent, fds[1]);
	close(fds[1]);
	one->fd = fds[0];
	if (one->pid < 0)
		return fail_set(fail, -errno, "cannot start a process: %s", strerror(errno));
	(void)!setpgid(one->pid, one->pid);
	return 0;
}

static void pass_on(const struct several *several)
{
	struct signalfd_siginfo info;

	if (read(several->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	for (size_t i = 0; i < several->nr; i++)
		if (several->ones[i].fd >= 0)
			(void)!kill(several->ones[i].pid, (int)info.ssi_signo);
}

/* Its process writes the report at once, and ends. */
static void take_report(struct one *one, struct several_report *ret)
{
	int status = 0;
	/* A pipe takes and gives so little at once. */
	bool whole = io_read(one->fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);

	cleanup_fd_close(&one->fd);
	one->fd = -1;
	(void)!io_again(waitpid(one->pid, &status, 0));
	ret->why[SEVERAL_WHY - 1] = '\0';
	if (whole)
		return;
	*ret = (struct several_report){ .failed = true, .status = NO_REPORT };
	snprintf(ret->why, sizeof(ret->why), "its process was killed by signal %d",
		 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static int wait_for_all(struct several *several, struct several_report *reports, struct fail *fail)
{
	size_t left = several->nr;

	while (left) {
		for (size_t i = 0; i < several->nr; i++)
			several->fds[i] = (struct pollfd){ .fd = several->ones[i].fd, .events = POLLIN };
		several->fds[several->nr] = (struct pollfd){ .fd = several->signal_fd, .events = POLLIN };
		if (io_again(poll(several->fds, several->nr + 1, -1)) < 0)
			return fail_set(fail, -errno, "cannot wait: %s", strerror(errno));
		if (several->fds[several->nr].revents)
			pass_on(several);
		for (size_t i = 0; i < several->nr; i++) {
			if (several->ones[i].fd < 0 || !several->fds[i].revents)
				continue;
			take_report(&several->ones[i], &reports[i]);
			left--;
		}
	}
	return 0;
}

/* After an error: what was started ends. */
static void stop_all(struct several *several)
{
	for (size_t i = 0; i < several->nr; i++) {
		if (several->ones[i].fd < 0)
			continue;
		cleanup_fd_close(&several->ones[i].fd);
		if (several->ones[i].pid <= 0)
			continue;
		(void)!kill(several->ones[i].pid, SIGKILL);
		(void)!io_again(waitpid(several->ones[i].pid, NULL, 0));
	}
}

int several_run(size_t nr, int (*record)(void *arg, size_t index, const sigset_t *mask, struct several_report *ret),
		void *arg, struct several_report *ret_reports, struct fail *fail)
{
	struct several several = { .ones = calloc(nr, sizeof(*several.ones)),
				   .fds = calloc(nr + 1, sizeof(*several.fds)),
				   .nr = nr,
				   .signal_fd = -1,
				   .record = record,
				   .arg = arg };
	int err = link_hold_signals(&several.old_mask, &several.signal_fd, fail);

	if (!err && (!several.ones || !several.fds))
		err = fail_memory(fail);
	for (size_t i = 0; several.ones && i < nr; i++)
		several.ones[i].fd = -1;
	fflush(NULL);
	for (size_t i = 0; !err && i < nr; i++)
		err = start(&several, i, fail);
	if (!err)
		err = wait_for_all(&several, ret_reports, fail);
	if (err && several.ones)
		stop_all(&several);
	cleanup_fd_close(&several.signal_fd);
	link_release_signals(&several.old_mask);
	free(several.ones);
	free(several.fds);
	return err;
}
