// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/link_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/remote/wire_internal.h"

enum { READ_SIZE = 256 << 10 };

static const int stopping[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

void link_never_block(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		(void)!fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void link_init(struct link *link, int in, int out)
{
	*link = (struct link){ .in = in, .out = out, .came = BUF_INIT, .going = BUF_INIT };
	link->heard_ns = link->said_ns = now_ns();
	link_never_block(in);
	link_never_block(out);
}

void link_release(struct link *link)
{
	cleanup_fd_close(&link->in);
	cleanup_fd_close(&link->out);
	buf_release(&link->came);
	buf_release(&link->going);
	link->in = link->out = -1;
}

void link_poll(const struct link *link, struct pollfd *fds)
{
	fds[0] = (struct pollfd){ .fd = link->in, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = link_sends(link) ? link->out : -1, .events = POLLOUT };
}

int link_read(struct link *link)
{
	ssize_t got;

	if (link->taken) {
		link->came.len -= link->taken;
		memmove(link->came.data, link->came.data + link->taken, link->came.len);
		link->taken = 0;
	}
	if (!buf_reserve(&link->came, READ_SIZE))
		return -ENOMEM;
	got = io_read(link->in, link->came.data + link->came.len, READ_SIZE);
	if (got == -EAGAIN)
		return 1;
	if (got <= 0)
		return (int)got;
	link->came.len += (size_t)got;
	link->heard_ns = now_ns();
	return 1;
}

struct bytes link_came(const struct link *link)
{
	return bytes_of(link->came.data ? link->came.data + link->taken : "", link->came.len - link->taken, false);
}

void link_took(struct link *link, const struct bytes *rest)
{
	link->taken = link->came.len - rest->left;
}

int link_write(struct link *link)
{
	while (link_sends(link)) {
		ssize_t put = io_again(write(link->out, link->going.data + link->sent, link_sends(link)));

		if (put < 0)
			return errno == EAGAIN ? 0 : -errno;
		link->sent += (size_t)put;
	}
	buf_clear(&link->going);
	link->sent = 0;
	return 0;
}

int link_say_ms(const struct link *link)
{
	uint64_t past = (now_ns() - link->said_ns) / NS_PER_MS;

	if (link_sends(link))
		return -1;
	return past < LINK_HERE_MS ? (int)(LINK_HERE_MS - past) : 0;
}

bool link_say(struct link *link)
{
	if (link_say_ms(link))
		return true;
	link->said_ns = now_ns();
	return wire_add_optional(&link->going, WIRE_HERE, "", 0);
}

uint64_t link_silence_ns(const struct link *link)
{
	return now_ns() - link->heard_ns;
}

bool link_stops(int sig)
{
	for (size_t i = 0; i < array_size(stopping); i++)
		if (sig == stopping[i])
			return true;
	return false;
}

int link_hold_signals(sigset_t *ret_old, int *ret_fd, struct fail *fail)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < array_size(stopping); i++)
		sigaddset(&mask, stopping[i]);
	sigaddset(&mask, SIGPIPE);
	(void)!sigprocmask(SIG_BLOCK, &mask, ret_old);
	sigdelset(&mask, SIGPIPE);
	*ret_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? fail_set(fail, -errno, "cannot wait for signals: %s", strerror(errno)) : 0;
}

void link_release_signals(const sigset_t *old)
{
	const struct timespec none = { 0, 0 };
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	while (sigtimedwait(&pipe, NULL, &none) > 0)
		continue;
	(void)!sigprocmask(SIG_SETMASK, old, NULL);
}
