// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/wake.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/switches.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/setup/setup.h"

static const int stopping[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
/*
 * SIGPIPE is also blocked: if the reader of the output goes away, that is an ordinary error, after which settings must
 * still be restored.
 */
static const int blocked[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

int wake_init(struct wake *wake, struct fail *fail)
{
	sigset_t mask, all;

	sigemptyset(&mask);
	for (size_t i = 0; i < array_size(stopping); i++)
		sigaddset(&mask, stopping[i]);
	all = mask;
	sigaddset(&all, SIGPIPE);
	*wake = (struct wake)WAKE_NONE;
	pthread_sigmask(SIG_BLOCK, &all, &wake->old_mask);
	wake->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	wake->failed_fd = eventfd(0, EFD_CLOEXEC);
	if (wake->signal_fd < 0 || wake->failed_fd < 0)
		return fail_set(fail, -errno, "cannot wait for signals: %s", strerror(errno));
	return 0;
}

int wake_leave(struct wake *wake, int sig, struct fail *fail)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < array_size(stopping); i++)
		if (stopping[i] != sig)
			sigaddset(&mask, stopping[i]);
	return signalfd(wake->signal_fd, &mask, 0) < 0 ?
		       fail_set(fail, -errno, "cannot wait for signals: %s", strerror(errno)) :
		       0;
}

static void drop_tasks(struct wake *wake)
{
	for (size_t i = 0; i < wake->nr_tasks; i++)
		if (wake->tasks[i] >= 0)
			close(wake->tasks[i]);
	if (wake->nr_tasks)
		close(wake->tasks_fd);
	free(wake->tasks);
	wake->tasks = NULL;
	wake->nr_tasks = wake->nr_running = 0;
}

/* Adds a task to wait for. False: it cannot be waited for. A task that has ended is not counted. */
static bool add_task(struct wake *wake, pid_t pid)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = wake->nr_tasks };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), *added;

	if (fd < 0)
		return errno == ESRCH;
	added = vec_push(wake->tasks, wake->nr_tasks);
	if (!added) {
		close(fd);
		return false;
	}
	*added = fd;
	wake->nr_running++;
	return !epoll_ctl(wake->tasks_fd, EPOLL_CTL_ADD, fd, &event);
}

static void watch_tasks(struct wake *wake, const struct pid_list *tasks)
{
	bool ok = true;

	wake->tasks_fd = epoll_create1(EPOLL_CLOEXEC);
	if (wake->tasks_fd < 0)
		return;
	for (size_t i = 0; ok && i < tasks->nr; i++)
		ok = add_task(wake, tasks->pids[i]);
	if (!wake->nr_tasks)
		close(wake->tasks_fd);
	if (!ok)
		drop_tasks(wake);
	else if (!wake->nr_tasks)
		(void)!wake_after(wake, 1, NULL);
}

int wake_tasks(struct wake *wake, const struct setup *setup, struct fail *fail)
{
	struct pid_list tasks = { .nr = 0 };
	int err = setup_last_tasks(setup, &tasks, fail);

	if (!err && tasks.nr)
		watch_tasks(wake, &tasks);
	pid_list_release(&tasks);
	return err;
}

/* Notes that a task has ended. True: it was the last one. */
static bool take_task(struct wake *wake)
{
	struct epoll_event event;
	int *fd;

	if (epoll_wait(wake->tasks_fd, &event, 1, 0) != 1)
		return false;
	fd = &wake->tasks[event.data.u64];
	close(*fd);
	*fd = -1;
	return !--wake->nr_running;
}

void wake_release(struct wake *wake)
{
	const int fds[] = { wake->signal_fd, wake->timer_fd, wake->failed_fd, wake->sync_fd, wake->clock.fd };

	for (size_t i = 0; i < array_size(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	drop_tasks(wake);
	/* A second Ctrl-C that is still pending must not kill the process when everything is done. */
	for (size_t i = 0; i < array_size(blocked); i++) {
		struct timespec none = { 0, 0 };
		sigset_t one;

		sigemptyset(&one);
		sigaddset(&one, blocked[i]);
		while (sigtimedwait(&one, NULL, &none) > 0)
			wake->interrupted |= blocked[i] != SIGPIPE;
	}
	pthread_sigmask(SIG_SETMASK, &wake->old_mask, NULL);
}

static int set_timer(int *fd, const struct itimerspec *time, struct fail *fail)
{
	if (*fd < 0)
		*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*fd < 0 || timerfd_settime(*fd, 0, time, NULL))
		return fail_set(fail, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}

int wake_after(struct wake *wake, uint64_t ns, struct fail *fail)
{
	struct itimerspec time = { .it_value = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) } };

	return set_timer(&wake->timer_fd, &time, fail);
}

int wake_every(struct wake *wake, uint64_t ns, struct fail *fail)
{
	struct timespec period = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
	struct itimerspec time = { .it_value = period, .it_interval = period };

	return set_timer(&wake->sync_fd, &time, fail);
}

void wake_for_clocks(struct wake *wake)
{
	if (wake->clock.fd < 0)
		wake->clock = clock_timer_new();
}

/*
 * Reads a signal. True: it means "stop". The terminal sends Ctrl-C to the command as well, and the command decides what
 * to do.
 */
static bool take_signal(struct wake *wake, struct workload *workload)
{
	struct signalfd_siginfo info;

	if (read(wake->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	if (!workload->pid)
		return true;
	if (info.ssi_code != SI_KERNEL)
		workload_signal(workload, (int)info.ssi_signo);
	wake->interrupted |= info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT;
	return info.ssi_signo != SIGINT && info.ssi_signo != SIGQUIT;
}

int wake_poll(struct wake *wake, struct workload *workload, struct pollfd *fds, size_t nr, int timeout_ms,
	      enum wake_reason *ret, int *ret_status, struct fail *fail)
{
	uint64_t count;

	fds[0] = (struct pollfd){ .fd = wake->failed_fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = workload->pid ? workload->pid_fd : -1, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = wake->signal_fd, .events = POLLIN };
	fds[3] = (struct pollfd){ .fd = wake->timer_fd, .events = POLLIN };
	fds[4] = (struct pollfd){ .fd = wake->sync_fd, .events = POLLIN };
	fds[5] = (struct pollfd){ .fd = wake->nr_running ? wake->tasks_fd : -1, .events = POLLIN };
	fds[6] = (struct pollfd){ .fd = wake->clock.fd, .events = POLLIN };
	fds[7] = (struct pollfd){ .fd = wake->ping_fd, .events = POLLIN };
	if (poll(fds, nr, timeout_ms) < 0) {
		for (size_t i = 0; i < nr; i++)
			fds[i].revents = 0;
		if (errno == EINTR)
			return 0;
		return fail_set(fail, -errno, "cannot wait: %s", strerror(errno));
	}
	if (fds[1].revents)
		workload_stamp_end(workload);
	if (fds[0].revents)
		*ret = WAKE_FAILED;
	else if (fds[1].revents)
		*ret = WAKE_COMMAND;
	else if (fds[2].revents && take_signal(wake, workload))
		*ret = WAKE_SIGNAL;
	else if (fds[3].revents)
		*ret = WAKE_TIME;
	else if (fds[5].revents && take_task(wake))
		*ret = WAKE_TIME;
	else if (fds[4].revents && read(wake->sync_fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
		*ret = WAKE_SYNC;
	else if (fds[6].revents)
		*ret = WAKE_CLOCK;
	else if (fds[7].revents)
		*ret = WAKE_PING;
	else
		return 0;
	if (*ret == WAKE_SYNC || *ret == WAKE_CLOCK || *ret == WAKE_PING)
		return 1;
	/*
	 * An error is ignored here: the caller stops the recording, turns tracing off again, and then reports the
	 * error.
	 */
	if (wake->switches && switches_turn(wake->switches, false, fail))
		wake->switches = NULL;
	return *ret != WAKE_COMMAND || workload_ended(workload, ret_status);
}

int wake_wait(struct wake *wake, struct workload *workload, enum wake_reason *ret, int *ret_status, struct fail *fail)
{
	struct pollfd fds[WAKE_FDS];
	int r;

	while (!(r = wake_poll(wake, workload, fds, WAKE_FDS, -1, ret, ret_status, fail)))
		continue;
	return r < 0 ? r : 0;
}
