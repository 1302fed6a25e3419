// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/switches.h"

#include "lib/base/fail.h"
#include "lib/kernel/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of one message; the kernel's SCM_MAX_FD is 253. */
enum { SEND_MAX = 200 };

struct message {
	struct msghdr head;
	struct iovec text;
	char last;
	_Alignas(struct cmsghdr) char fds[CMSG_SPACE(SEND_MAX * sizeof(int))];
};

static const char file[] = "tracing_on";

int switches_add(struct switches *switches, struct instance *instance, struct fail *fail)
{
	int *grown = reallocarray(switches->fds, switches->nr + 1, sizeof(*grown));
	int err;

	if (!grown)
		return fail_memory(fail);
	switches->fds = grown;
	err = instance->kind == INSTANCE_PRIVATE ? 0 : instance_remember(instance, file, fail);
	if (!err)
		err = instance_open_file(instance, file, O_WRONLY, &grown[switches->nr], fail);
	if (!err)
		switches->nr++;
	return err;
}

int switches_turn(const struct switches *switches, bool on, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; i < switches->nr; i++)
		if (write(switches->fds[i], on ? "1" : "0", 1) < 0 && !err)
			err = fail_set(fail, -errno, "cannot turn tracing %s: '%s': %s", on ? "on" : "off", file, strerror(errno));
	return err;
}

static void message_init(struct message *message, size_t nr)
{
	memset(message, 0, sizeof(*message));
	message->text = (struct iovec){ .iov_base = &message->last, .iov_len = 1 };
	message->head = (struct msghdr){ .msg_iov = &message->text, .msg_iovlen = 1 };
	if (!nr)
		return;
	message->head.msg_control = message->fds;
	message->head.msg_controllen = CMSG_SPACE(nr * sizeof(int));
}

int switches_send(const struct switches *switches, int socket, struct fail *fail)
{
	struct message message;
	size_t sent = 0, nr;

	do {
		nr = switches->nr - sent < SEND_MAX ? switches->nr - sent : SEND_MAX;
		message_init(&message, nr);
		message.last = sent + nr == switches->nr;
		if (nr) {
			struct cmsghdr *head = CMSG_FIRSTHDR(&message.head);

			*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(nr * sizeof(int)) };
			memcpy(CMSG_DATA(head), switches->fds + sent, nr * sizeof(int));
		}
		if (sendmsg(socket, &message.head, MSG_NOSIGNAL) < 0)
			return fail_set(fail, -errno, "cannot let the command run: %s", strerror(errno));
		sent += nr;
	} while (sent < switches->nr);
	return 0;
}

bool switches_receive(struct switches *switches, int socket, bool *ret_last)
{
	struct message message;
	const struct cmsghdr *head;
	size_t nr;
	int *grown;

	message_init(&message, SEND_MAX);
	if (recvmsg(socket, &message.head, MSG_CMSG_CLOEXEC) != 1)
		return false;
	*ret_last = message.last;
	head = CMSG_FIRSTHDR(&message.head);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return true;
	nr = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	grown = reallocarray(switches->fds, switches->nr + nr, sizeof(*grown));
	if (!grown)
		return false;
	memcpy(grown + switches->nr, CMSG_DATA(head), nr * sizeof(int));
	switches->fds = grown;
	switches->nr += nr;
	return true;
}

void switches_release(struct switches *switches)
{
	for (size_t i = 0; i < switches->nr; i++)
		close(switches->fds[i]);
	free(switches->fds);
	*switches = (struct switches){ .nr = 0 };
}
