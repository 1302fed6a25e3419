// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_kind_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/timer_internal.h"
#include "lib/kernel/flight/trigger_hit_internal.h"

#define LONGEST_NS UINT64_C(60000000000)

static int add_fd(const struct watch *watch, int fd, struct fail *fail)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(watch->fd, EPOLL_CTL_ADD, fd, &event))
		return fail_set(fail, -errno, "cannot watch a command: %s", strerror(errno));
	return 0;
}

static int open_command(struct watch *watch, struct fail *fail)
{
	int err;

	watch->fd = epoll_create1(EPOLL_CLOEXEC);
	if (watch->fd < 0)
		return fail_set(fail, -errno, "cannot watch a command: %s", strerror(errno));
	err = timer_new(&watch->timer_fd, fail);
	return err ? err : add_fd(watch, watch->timer_fd, fail);
}

static int start_command(struct watch *watch, struct fail *fail)
{
	return timer_start(watch->timer_fd, watch->condition->every_ns, fail);
}

static int run(struct watch *watch, struct fail *fail)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", watch->condition->text, NULL };
	int err = spawn_start(&watch->spawn, argv, NULL, -1, fail);

	watch->periods = 0;
	watch->killed = false;
	return err ? err : add_fd(watch, watch->spawn.fd, fail);
}

/* A run may take a minute, or a period if that is longer. */
static uint64_t periods_max(const struct condition *condition)
{
	return (LONGEST_NS + condition->every_ns - 1) / condition->every_ns;
}

/* 1: the command has ended and failed; 0: it has succeeded. */
static int reap(struct watch *watch, struct watch_hit *ret)
{
	const struct condition *condition = watch->condition;
	char reason[WATCH_REASON], longest[TEXT_HUMAN];
	/* This ends what the shell has left in the background, too. */
	int status = spawn_end(&watch->spawn);

	if (!watch->killed && WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (watch->killed)
		snprintf(reason, sizeof(reason), "'%.200s' took longer than %s", condition->text,
			 text_time(longest, periods_max(condition) * condition->every_ns));
	else if (WIFEXITED(status))
		snprintf(reason, sizeof(reason), "'%.200s' ended with status %d", condition->text, WEXITSTATUS(status));
	else
		snprintf(reason, sizeof(reason), "'%.200s' was killed by signal %d", condition->text, WTERMSIG(status));
	watch_reason(ret, reason, strlen(reason));
	return 1;
}

static int look_command(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	uint64_t periods;
	int hit = spawn_has_ended(&watch->spawn) ? reap(watch, ret) : 0, err = 0;

	if (read(watch->timer_fd, &periods, sizeof(periods)) != (ssize_t)sizeof(periods))
		return hit;
	/* A command that still runs is not started again. */
	if (!watch->spawn.pid) {
		err = run(watch, fail);
		return err ? err : hit;
	}
	watch->periods += periods;
	if (watch->periods >= periods_max(watch->condition) && !watch->killed) {
		watch->killed = true;
		spawn_kill(&watch->spawn);
	}
	return hit;
}

static int close_command(struct watch *watch, struct fail *fail)
{
	(void)fail;
	(void)spawn_end(&watch->spawn);
	cleanup_fd_close(&watch->timer_fd);
	return 0;
}

const struct watch_ops watch_command_ops = {
	.open = open_command,
	.start = start_command,
	.look = look_command,
	.close = close_command,
};
