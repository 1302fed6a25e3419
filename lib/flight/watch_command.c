// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/watch_kind_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/flight/condition.h"
#include "lib/flight/hit_internal.h"
#include "lib/record/cruise.h"

static int add_fd(const struct watch *watch, int fd, struct fail *fail)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(watch->fd, EPOLL_CTL_ADD, fd, &event))
		return fail_set(fail, -errno, "cannot watch a command: %s", strerror(errno));
	return 0;
}

static int open_command(struct watch *watch, struct fail *fail)
{
	watch->fd = epoll_create1(EPOLL_CLOEXEC);
	watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->fd < 0 || watch->timer_fd < 0)
		return fail_set(fail, -errno, "cannot make a timer: %s", strerror(errno));
	return add_fd(watch, watch->timer_fd, fail);
}

static int start_command(struct watch *watch, struct fail *fail)
{
	uint64_t ns = watch->condition->every_ns;
	struct timespec period = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	struct itimerspec time = { .it_value = period, .it_interval = period };

	if (timerfd_settime(watch->timer_fd, 0, &time, NULL))
		return fail_set(fail, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}

/* Runs the command with the signals of an ordinary process and without the terminal. */
static int spawn(struct watch *watch, struct fail *fail)
{
	char *argv[] = { (char *)"sh", (char *)"-c", watch->condition->text, NULL };
	char *env[] = { (char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&watch->pid, "/bin/sh", &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (err) {
		watch->pid = 0;
		return fail_set(fail, -err, "cannot run '%s': %s", watch->condition->text, strerror(err));
	}
	watch->pid_fd = (int)syscall(SYS_pidfd_open, watch->pid, 0);
	if (watch->pid_fd < 0)
		return fail_set(fail, -errno, "cannot wait for '%s': %s", watch->condition->text, strerror(errno));
	return add_fd(watch, watch->pid_fd, fail);
}

/* 1: the command has ended and failed; 0: it runs, or has succeeded. */
static int reap(struct watch *watch, struct watch_hit *ret)
{
	char reason[WATCH_REASON];
	int status = 0;

	if (io_again(waitpid(watch->pid, &status, WNOHANG)) != watch->pid)
		return 0;
	watch->pid = 0;
	close(watch->pid_fd);
	watch->pid_fd = -1;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status))
		snprintf(reason, sizeof(reason), "'%.200s' ended with status %d", watch->condition->text,
			 WEXITSTATUS(status));
	else
		snprintf(reason, sizeof(reason), "'%.200s' was killed by signal %d", watch->condition->text,
			 WTERMSIG(status));
	ret->time = cruise_now(watch->cruise);
	watch_reason(ret, reason, strlen(reason));
	return 1;
}

static int look_command(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	uint64_t times;
	int hit = watch->pid ? reap(watch, ret) : 0, err = 0;

	/* A command that still runs is not started again. */
	if (read(watch->timer_fd, &times, sizeof(times)) == (ssize_t)sizeof(times) && !watch->pid)
		err = spawn(watch, fail);
	return err ? err : hit;
}

static int close_command(struct watch *watch, struct fail *fail)
{
	(void)fail;
	if (watch->pid) {
		kill(-watch->pid, SIGKILL);
		(void)!io_again(waitpid(watch->pid, NULL, 0));
	}
	cleanup_fd_close(&watch->pid_fd);
	cleanup_fd_close(&watch->timer_fd);
	return 0;
}

const struct watch_ops watch_command_ops = {
	.open = open_command,
	.start = start_command,
	.look = look_command,
	.close = close_command,
};
