// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/ground/base/out.h"

void outlet_init(struct outlet *outlet, int fd)
{
	struct stat st;
	char path[32];

	*outlet = (struct outlet){ .fd = fd, .own = -1, .waits = true };
	if (fstat(fd, &st))
		return;
	/* A write to a regular file does not block, and a second open would lose the position. */
	if (S_ISREG(st.st_mode))
		outlet->waits = false;
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	outlet->own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (outlet->own < 0)
		return;
	outlet->fd = outlet->own;
	outlet->waits = false;
}

void outlet_release(struct outlet *outlet)
{
	cleanup_fd_close(&outlet->own);
	outlet->own = -1;
}

/* Whether PIPE_BUF bytes can be written without blocking. */
static bool is_ready(const struct outlet *outlet)
{
	struct pollfd fd = { .fd = outlet->fd, .events = POLLOUT };

	return poll(&fd, 1, 0) > 0;
}

/* Escapes what was added to the out since the last call. */
static void escape_new(struct outlet *outlet, struct out *out)
{
	size_t len = out_len(out) - outlet->escaped;
	struct out text;

	if (!len)
		return;
	if (!out_init(&text, 2 * len)) {
		out->failed = true;
		return;
	}
	escape_text(&outlet->escape, out->start + outlet->escaped, len, &text);
	out->at = out->start + outlet->escaped;
	out_mem(out, text.start, out_len(&text));
	out->failed |= text.failed;
	outlet->escaped = out_len(out);
	out_release(&text);
}

int outlet_write(struct outlet *outlet, struct out *out)
{
	if (outlet->escapes)
		escape_new(outlet, out);
	if (out->failed)
		return -ENOMEM;
	while (outlet->done < out_len(out)) {
		size_t size = out_len(out) - outlet->done;
		ssize_t wrote;

		if (outlet->waits && !is_ready(outlet))
			return 0;
		if (outlet->waits && size > PIPE_BUF)
			size = PIPE_BUF;
		wrote = write(outlet->fd, out->start + outlet->done, size);
		if (wrote < 0 && errno == EAGAIN)
			return 0;
		if (wrote < 0 && errno != EINTR)
			return -errno;
		if (wrote > 0)
			outlet->done += (size_t)wrote;
	}
	outlet->done = outlet->escaped = 0;
	out_clear(out);
	return 1;
}
