// SPDX-License-Identifier: GPL-2.0-only
/*
 * passes CALLS: two processes of two threads each make so many calls of read() and write() together, by descriptors
 * that they open, dup, dup over another, close, send to themselves and to the other process, and share with the other
 * thread. The file of a call has the length of the call as its number: a call of 5 bytes is about /tmp/passes.5. So
 * whoever watches the calls can tell whether he knows their files.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 40, SLOTS = 24, THREADS = 2 };

struct slot {
	int fd, file;
};

struct worker {
	pthread_t thread;
	unsigned long calls;
	unsigned long long random;
	int own[2], other[2]; /* sockets: to itself, and from and to the other process */
	struct slot slots[SLOTS];
};

static unsigned pick(struct worker *worker, unsigned below)
{
	worker->random = worker->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(worker->random >> 33) % below;
}

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static struct slot open_file(struct worker *worker)
{
	struct slot slot = { .file = 1 + (int)pick(worker, FILES) };
	char path[32];

	snprintf(path, sizeof(path), "/tmp/passes.%d", slot.file);
	slot.fd = open(path, O_RDWR | O_CLOEXEC);
	if (slot.fd < 0)
		fail("open");
	return slot;
}

static void send_slot(int to, struct slot slot)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec vector = { &slot.file, sizeof(slot.file) };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};

	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), &slot.fd, sizeof(int));
	if (sendmsg(to, &message, 0) < 0)
		fail("sendmsg");
}

static struct slot receive_slot(int from)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct slot slot;
	struct iovec vector = { &slot.file, sizeof(slot.file) };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};

	if (recvmsg(from, &message, 0) != (ssize_t)sizeof(slot.file))
		fail("recvmsg");
	memcpy(&slot.fd, CMSG_DATA(&control.head), sizeof(int));
	return slot;
}

/* One of the two processes sends, and the other one receives, at the same of its calls. */
static void change(struct worker *worker)
{
	struct slot *slot = &worker->slots[pick(worker, SLOTS)], *from = &worker->slots[pick(worker, SLOTS)],
		    made = *from;

	switch (pick(worker, 4)) {
	case 0:
		made = open_file(worker);
		break;
	case 1:
		made.fd = dup(from->fd);
		break;
	case 2:
		if (slot != from && dup2(from->fd, slot->fd) < 0)
			fail("dup2");
		slot->file = from->file;
		return;
	case 3:
		send_slot(worker->own[0], *from);
		made = receive_slot(worker->own[1]);
		break;
	}
	if (made.fd < 0)
		fail("dup");
	close(slot->fd);
	*slot = made;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	char bytes[FILES];

	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < SLOTS; i++)
		worker->slots[i] = open_file(worker);
	for (unsigned long i = 0; i < worker->calls; i++) {
		const struct slot *slot = &worker->slots[pick(worker, SLOTS)];

		if ((pick(worker, 2) ? read(slot->fd, bytes, (size_t)slot->file) :
				       write(slot->fd, bytes, (size_t)slot->file)) < 0)
			fail("read or write");
		if (i % 16 == 15)
			change(worker);
		if (i % 1024 == 1023) {
			struct slot *given = &worker->slots[pick(worker, SLOTS)], made;

			send_slot(worker->other[0], *given);
			made = receive_slot(worker->other[1]);
			close(given->fd);
			*given = made;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	int between[THREADS][2], status = 0;
	static struct worker workers[THREADS];
	pid_t child;

	for (int i = 1; i <= FILES; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/tmp/passes.%d", i);
		close(open(path, O_RDWR | O_CREAT | O_TRUNC, 0644));
	}
	for (int i = 0; i < THREADS; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, between[i]))
			fail("socketpair");
	child = fork();
	for (int i = 0; i < THREADS; i++) {
		workers[i].calls = calls / (2 * THREADS);
		workers[i].random = (unsigned long long)i * 77 + !child * 1234567 + 99;
		workers[i].other[0] = workers[i].other[1] = between[i][!child];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, workers[i].own) ||
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			fail("thread");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	if (!child)
		return 0;
	return waitpid(child, &status, 0) != child || status;
}
