// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/switches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/setup/late.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/change.h"

/* Descriptors in one message. The kernel's limit SCM_MAX_FD is 253. */
enum { SEND_MAX = 200, TEXT_MAX = 4096 - 2 };

/*
 * "1" or "0" with the descriptors of switches: whether it is the last message. Or with one descriptor: "t" and the text
 * that is to be written, "k" for one that is only kept open, "m" for a trace_marker.
 */
struct message {
	struct msghdr head;
	struct iovec text;
	char bytes[TEXT_MAX + 2];
	_Alignas(struct cmsghdr) char fds[CMSG_SPACE(SEND_MAX * sizeof(int))];
};

/*
 * A max-latency tracer keeps only a latency above a limit. If tracing_thresh is set, tracing_max_latency is not used
 * (trace_irqsoff.c, report_latency()).
 */
static const char *const limit_files[] = {
	[SWITCHES_MAX_LATENCY] = "tracing_max_latency",
	[SWITCHES_THRESH] = "tracing_thresh",
};

struct limit {
	int fd;       /* -1: there is no limit to raise */
	char was[32]; /* the value before it was raised */
};

struct armed {
	int fd;
	char *text, *stop; /* stop: NULL if nothing is written when tracing is turned off */
};

struct one_switch {
	int on; /* descriptor of tracing_on */
	struct limit limits[array_size(limit_files)];
};

static const char file[] = "tracing_on", longest[] = "9223372036854775";

static int hold(struct instance *instance, const char *name, int flags, int *ret, struct fail *fail)
{
	int err = instance->kind == INSTANCE_PRIVATE ? 0 : instance_remember(instance, name, fail);

	return err ? err : instance_open_file(instance, name, flags, ret, fail);
}

/* tracing_thresh is one value for all instances, and 0 unless somebody has set it. */
static int hold_limits(struct instance *instance, struct one_switch *one, struct fail *fail)
{
	struct instance top = instance_top(instance->tracing), *const of[] = { instance, &top };
	int err = 0;

	top.undo = instance->undo;
	for (size_t i = 0; !err && i < array_size(limit_files); i++) {
		char word[32] = "";

		if (!instance_has(of[i], limit_files[i]))
			continue;
		if (of[i] == &top)
			err = instance_read_word(&top, limit_files[i], word, sizeof(word), fail);
		if (!err && strcmp(word, "0"))
			err = hold(of[i], limit_files[i], O_RDWR, &one->limits[i].fd, fail);
	}
	return err;
}

static struct one_switch *add_one(struct switches *switches, struct fail *fail)
{
	struct one_switch *one = vec_push(switches->items, switches->nr);

	if (one)
		*one = (struct one_switch){ .on = -1, .limits = { { .fd = -1 }, { .fd = -1 } } };
	else
		fail_memory(fail);
	return one;
}

int switches_add(struct switches *switches, struct instance *instance, bool keeps_worst, struct fail *fail)
{
	struct one_switch *one = add_one(switches, fail);
	int err;

	if (!one)
		return -ENOMEM;
	err = hold(instance, file, O_WRONLY, &one->on, fail);
	return err || !keeps_worst ? err : hold_limits(instance, one, fail);
}

static int arm(struct switches *switches, int fd, const char *text)
{
	struct armed *armed = vec_push(switches->armed, switches->nr_armed);

	if (!armed)
		return -ENOMEM;
	*armed = (struct armed){ .fd = fd, .text = strdup(text) };
	return armed->text ? 0 : -ENOMEM;
}

int switches_arm(struct switches *switches, struct instance *instance, const char *name, const char *text,
		 const char *stop, struct fail *fail)
{
	cleanup_fd int fd = -1;
	struct armed *armed;
	int err;

	/* The text of one message. A trigger that is longer than a page is refused by the kernel. */
	if (strlen(text) >= TEXT_MAX)
		return fail_set(fail, -E2BIG, "'%.40s...' is longer than a page", text);
	err = instance_open_file(instance, name, O_WRONLY | O_APPEND, &fd, fail);
	if (err)
		return err;
	if (arm(switches, fd_take(&fd), text))
		return fail_memory(fail);
	armed = &switches->armed[switches->nr_armed - 1];
	armed->stop = stop ? strdup(stop) : NULL;
	return stop && !armed->stop ? fail_memory(fail) : 0;
}

int switches_arm_late(struct switches *switches, const struct late *late, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < late->nr; i++) {
		const struct late_item *item = &late->items[i];

		err = switches_arm(switches, item->instance, item->file, item->text, item->stop, fail);
	}
	return err;
}

static int keep(struct switches *switches, int fd)
{
	int *kept = vec_push(switches->kept, switches->nr_kept);

	if (kept)
		*kept = fd;
	return kept ? 0 : -ENOMEM;
}

int switches_keep(struct switches *switches, struct instance *instance, const char *name, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int err = instance_open_file(instance, name, O_WRONLY, &fd, fail);

	if (!err && keep(switches, fd))
		err = fail_memory(fail);
	if (!err)
		fd_take(&fd);
	return err;
}

void switches_mark(struct switches *switches, const struct instance *instance)
{
	if (!switches->has_marker && !instance_open_file(instance, "trace_marker", O_WRONLY, &switches->marker, NULL))
		switches->has_marker = true;
}

void switches_drop_kept(struct switches *switches)
{
	for (size_t i = 0; i < switches->nr_kept; i++)
		cleanup_fd_close(&switches->kept[i]);
	free(switches->kept);
	switches->kept = NULL;
	switches->nr_kept = 0;
}

/* The kernel acts on a line of set_ftrace_filter when it has its newline, or when the file is closed. */
static int write_armed(const struct armed *armed, const char *what, struct fail *fail)
{
	char text[TEXT_MAX + 2];
	int len = snprintf(text, sizeof(text), "%s\n", what);

	if (write(armed->fd, text, (size_t)len) >= 0)
		return 0;
	return fail_set(fail, -errno, "cannot set '%s', although it was tried before: %s", what, strerror(errno));
}

static int raise_limit(struct limit *limit, const char *name, struct fail *fail)
{
	ssize_t len;

	if (limit->fd < 0 || *limit->was)
		return 0;
	len = pread(limit->fd, limit->was, sizeof(limit->was) - 1, 0);
	limit->was[len < 0 ? 0 : len] = '\0';
	if (len < 0 || write(limit->fd, longest, strlen(longest)) < 0)
		return fail_set(fail, -errno, "cannot protect the tracer's worst case from being replaced: '%s': %s",
				name, strerror(errno));
	return 0;
}

static int turn(struct one_switch *one, bool on, struct fail *fail)
{
	struct fail later;
	int err = 0, turned = 0;

	for (size_t i = 0; !on && i < array_size(limit_files); i++) {
		int failed = raise_limit(&one->limits[i], limit_files[i], &later);

		err = fail_first(err, failed, fail, &later);
	}
	if (write(one->on, on ? "1" : "0", 1) < 0)
		turned = fail_set(&later, -errno, "cannot turn tracing %s: '%s': %s", on ? "on" : "off", file,
				  strerror(errno));
	return fail_first(err, turned, fail, &later);
}

int switches_turn(struct switches *switches, bool on, struct fail *fail)
{
	struct fail later;
	int err = 0;

	/* What is stopped may be gone by now. */
	for (size_t i = 0; !on && i < switches->nr_armed; i++)
		if (switches->armed[i].stop)
			(void)!write_armed(&switches->armed[i], switches->armed[i].stop, NULL);
	for (size_t i = 0; i < switches->nr; i++) {
		int failed = turn(&switches->items[i], on, &later);

		err = fail_first(err, failed, fail, &later);
	}
	for (size_t i = 0; on && !err && i < switches->nr_armed; i++)
		err = write_armed(&switches->armed[i], switches->armed[i].text, fail);
	return err;
}

int switches_limit(const struct switches *switches, size_t index, enum switches_limit limit, struct buf *into,
		   struct fail *fail)
{
	if (index >= switches->nr || buf_add_str(into, switches->items[index].limits[limit].was))
		return 0;
	return fail_memory(fail);
}

static void message_init(struct message *message, size_t nr)
{
	memset(message, 0, sizeof(*message));
	message->text = (struct iovec){ .iov_base = message->bytes, .iov_len = 1 };
	message->head = (struct msghdr){ .msg_iov = &message->text, .msg_iovlen = 1 };
	if (!nr)
		return;
	message->head.msg_control = message->fds;
	/* The type of msg_controllen differs between C libraries. */
	message->head.msg_controllen = (__typeof__(message->head.msg_controllen))CMSG_SPACE(nr * sizeof(int));
}

/* Puts descriptors into a message: `fds`, or the descriptors of `items`. */
static void put_fds(struct message *message, const int *fds, const struct one_switch *items, size_t nr)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(&message->head);

	*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS,
				  .cmsg_len = (__typeof__(head->cmsg_len))CMSG_LEN(nr * sizeof(int)) };
	for (size_t i = 0; i < nr; i++)
		memcpy(CMSG_DATA(head) + i * sizeof(int), fds ? &fds[i] : &items[i].on, sizeof(int));
}

static int send_message(struct message *message, int socket, struct fail *fail)
{
	if (sendmsg(socket, &message->head, MSG_NOSIGNAL) < 0)
		return fail_set(fail, -errno, "cannot start the command: %s", strerror(errno));
	return 0;
}

int switches_send(const struct switches *switches, int socket, struct fail *fail)
{
	struct message message;
	size_t sent = 0, nr;
	int err = 0;

	for (size_t i = 0; !err && i < switches->nr_armed; i++) {
		message_init(&message, 1);
		put_fds(&message, &switches->armed[i].fd, NULL, 1);
		message.bytes[0] = 't';
		message.text.iov_len = strlen(switches->armed[i].text) + 1;
		memcpy(message.bytes + 1, switches->armed[i].text, message.text.iov_len - 1);
		err = send_message(&message, socket, fail);
	}
	for (size_t i = 0; !err && i < switches->nr_kept; i++) {
		message_init(&message, 1);
		put_fds(&message, &switches->kept[i], NULL, 1);
		message.bytes[0] = 'k';
		err = send_message(&message, socket, fail);
	}
	if (!err && switches->has_marker) {
		message_init(&message, 1);
		put_fds(&message, &switches->marker, NULL, 1);
		message.bytes[0] = 'm';
		err = send_message(&message, socket, fail);
	}
	if (err)
		return err;
	do {
		nr = switches->nr - sent < SEND_MAX ? switches->nr - sent : SEND_MAX;
		message_init(&message, nr);
		message.bytes[0] = sent + nr == switches->nr ? '1' : '0';
		if (nr)
			put_fds(&message, NULL, switches->items + sent, nr);
		err = send_message(&message, socket, fail);
		if (err)
			return err;
		sent += nr;
	} while (sent < switches->nr);
	return 0;
}

static bool take_marker(struct switches *switches, int fd)
{
	char number[16];

	switches->marker = fd;
	switches->has_marker = true;
	snprintf(number, sizeof(number), "%d", fd);
	return !fcntl(fd, F_SETFD, 0) && !setenv("WEFT_MARKER_FD", number, 1);
}

bool switches_receive(struct switches *switches, int socket, bool *ret_last)
{
	struct message message;
	const struct cmsghdr *head;
	ssize_t len;
	size_t nr;

	message_init(&message, SEND_MAX);
	message.text.iov_len = sizeof(message.bytes) - 1;
	len = recvmsg(socket, &message.head, MSG_CMSG_CLOEXEC);
	if (len <= 0)
		return false;
	message.bytes[len] = '\0';
	*ret_last = message.bytes[0] == '1';
	head = CMSG_FIRSTHDR(&message.head);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return true;
	nr = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < nr; i++) {
		struct one_switch *one;
		int fd;

		memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
		if (message.bytes[0] == 't')
			return !arm(switches, fd, message.bytes + 1);
		/* The program that is executed inherits it. */
		if (message.bytes[0] == 'k')
			return !fcntl(fd, F_SETFD, 0) && !keep(switches, fd);
		if (message.bytes[0] == 'm')
			return take_marker(switches, fd);
		one = add_one(switches, NULL);
		if (!one)
			return false;
		one->on = fd;
	}
	return true;
}

void switches_release(struct switches *switches)
{
	for (size_t i = 0; i < switches->nr; i++) {
		cleanup_fd_close(&switches->items[i].on);
		for (size_t j = 0; j < array_size(limit_files); j++)
			cleanup_fd_close(&switches->items[i].limits[j].fd);
	}
	for (size_t i = 0; i < switches->nr_armed; i++) {
		cleanup_fd_close(&switches->armed[i].fd);
		free(switches->armed[i].text);
		free(switches->armed[i].stop);
	}
	if (switches->has_marker)
		cleanup_fd_close(&switches->marker);
	switches_drop_kept(switches);
	free(switches->armed);
	free(switches->items);
	*switches = (struct switches){ .nr = 0 };
}
