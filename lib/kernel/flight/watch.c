// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/watch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/flight/watch_kind_internal.h"
#include "lib/kernel/record/flight_recording.h"

/* The largest record of /dev/kmsg: PRINTK_MESSAGE_MAX is 2048, and escapes may make four bytes of one. */
enum { KMSG_MAX = 8192 };

static int open_psi(struct watch *watch, struct fail *fail)
{
	const struct condition *condition = watch->condition;
	struct statfs fs;
	char text[64];
	int len = snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64, condition->full ? "full" : "some",
			   condition->stall_ns / 1000, condition->window_ns / 1000);

	watch->fd = open(condition->text, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	watch->events = POLLPRI;
	if (watch->fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s%s", condition->text, strerror(errno),
				errno == ENOENT || errno == EOPNOTSUPP ?
					"; it needs CONFIG_PSI, and psi=1 if that is off by default" :
					"");
	/* In any other file the text would overwrite what is there. */
	if (fstatfs(watch->fd, &fs) || (fs.f_type != PROC_SUPER_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC))
		return fail_set(fail, -EINVAL, "'%s' is no pressure file of a cgroup", condition->text);
	if (write(watch->fd, text, (size_t)len + 1) < 0)
		/* unprivileged users of psi_write() in kernel/sched/psi.c */
		return fail_set(fail, -errno, "'%s' refuses '%s': %s%s", condition->text, text, strerror(errno),
				errno == EINVAL && condition->window_ns % 2000000000 ?
					"; without CAP_SYS_RESOURCE the window is a multiple of 2s" :
					"");
	return 0;
}

static int look_psi(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	struct pollfd poll_fd = { .fd = watch->fd, .events = POLLPRI };
	char text[512];
	ssize_t len;

	/* The poll() before has taken the event: psi_trigger_poll(). This one only shows that the file is gone. */
	if (poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & POLLERR)
		return fail_set(fail, -ENODEV, "'%s' is gone", watch->condition->text);
	len = io_pread(watch->fd, text, sizeof(text), 0);
	if (len > 0) {
		const char *line = watch->condition->full ? memmem(text, (size_t)len, "full", 4) : text;

		line = line ? line : text;
		watch_reason(ret, line, (size_t)(text + len - line));
	}
	return 1;
}

static const struct watch_ops psi_ops = { .open = open_psi, .look = look_psi };

static int open_kmsg(struct watch *watch, struct fail *fail)
{
	watch->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (watch->fd < 0)
		return fail_set(fail, -errno, "cannot read the kernel's log, '/dev/kmsg': %s", strerror(errno));
	if (regcomp(&watch->regex, watch->condition->text, REG_EXTENDED | REG_NOSUB))
		return fail_set(fail, -EINVAL, "'%s' is no regular expression", watch->condition->text);
	watch->compiled = true;
	return 0;
}

/* What is in the log already does not count. */
static int start_kmsg(struct watch *watch, struct fail *fail)
{
	if (lseek(watch->fd, 0, SEEK_END) < 0)
		return fail_set(fail, -errno, "cannot find the end of '/dev/kmsg': %s", strerror(errno));
	return 0;
}

static int look_kmsg(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	char record[KMSG_MAX + 1];
	int hits = 0;

	for (;;) {
		ssize_t len = io_again(read(watch->fd, record, KMSG_MAX));
		char *text, *newline;

		/* EPIPE: records were overwritten before they were read; the next ones follow. */
		if (len < 0 && errno == EPIPE)
			continue;
		if (len < 0 && errno != EAGAIN)
			return fail_set(fail, -errno, "cannot read '/dev/kmsg': %s", strerror(errno));
		if (len <= 0)
			return hits;
		record[len] = '\0';
		text = strchr(record, ';');
		text = text ? text + 1 : record;
		newline = strchr(text, '\n');
		if (newline)
			*newline = '\0';
		if (regexec(&watch->regex, text, 0, NULL, 0))
			continue;
		if (hits++)
			ret->more++;
		else
			watch_reason(ret, text, strlen(text));
	}
}

static int close_kmsg(struct watch *watch, struct fail *fail)
{
	(void)fail;
	if (watch->compiled)
		regfree(&watch->regex);
	return 0;
}

static const struct watch_ops kmsg_ops = {
	.open = open_kmsg,
	.start = start_kmsg,
	.look = look_kmsg,
	.close = close_kmsg,
};

static const struct watch_ops *const ops[] = {
	[CONDITION_EVENT] = &watch_event_ops, [CONDITION_LATENCY] = &watch_latency_ops,
	[CONDITION_NOISE] = &watch_noise_ops, [CONDITION_PSI] = &psi_ops,
	[CONDITION_KMSG] = &kmsg_ops,         [CONDITION_COMMAND] = &watch_command_ops,
	[CONDITION_MARK] = &watch_mark_ops,
};

/* The kernel does not know to whom a task belongs. */
static const struct watch_ops *ops_of(const struct condition *condition)
{
	return condition->kind == CONDITION_EVENT && condition->of.word ? &watch_whose_ops : ops[condition->kind];
}

int watch_new(struct flight_recording *recording, const struct condition *condition, unsigned number,
	      void (*tell)(const char *text), struct watch **ret, struct fail *fail)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return fail_memory(fail);
	*watch = (struct watch){ .ops = ops_of(condition),
				 .condition = condition,
				 .recording = recording,
				 .tell = tell,
				 .number = number,
				 .fd = -1,
				 .events = POLLIN,
				 .pipe_fd = -1,
				 .on_fd = -1,
				 .timer_fd = -1,
				 .spawn = SPAWN_NONE };
	err = watch->ops->open(watch, fail);
	if (err) {
		watch_free(watch, NULL);
		return err;
	}
	*ret = watch;
	return 0;
}

int watch_start(struct watch *watch, struct fail *fail)
{
	watch->since = flight_recording_now(watch->recording);
	return watch->ops->start ? watch->ops->start(watch, fail) : 0;
}

int watch_free(struct watch *watch, struct fail *fail)
{
	int err;

	if (!watch)
		return 0;
	err = watch->ops->close ? watch->ops->close(watch, fail) : 0;
	cleanup_fd_close(&watch->fd);
	free(watch);
	return err;
}

const struct condition *watch_condition(const struct watch *watch)
{
	return watch->condition;
}

int watch_fd(const struct watch *watch, short *ret_events)
{
	*ret_events = watch->events;
	return watch->fd;
}

int watch_look(struct watch *watch, struct watch_hit *ret, struct fail *fail)
{
	int r;

	*ret = (struct watch_hit){ .time = 0 };
	r = watch->ops->look(watch, ret, fail);
	if (r > 0 && !ret->time)
		ret->time = flight_recording_now(watch->recording);
	return r;
}
