// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/buffer/cpu_pipe.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/buffer/ring_watch.h"

enum {
	PIPE_BYTES = 1 << 20,
	POLL_MS = 100, /* the longest sleep in ms, because some kernels forget to wake a reader */
	/* while little happens, the sleep grows up to 2^4 times: the readers' own wakeups would show in the trace */
	QUIET_MAX = 4,
	DRY_MAX = 6, /* dry sleeps last up to 2^(6-1) ms */
};

static int open_raw(const struct instance *instance, const char *name, uint32_t cpu, uint32_t page_size,
		    struct cpu_pipe *ret, struct fail *fail)
{
	struct cpu_pipe pipe = CPU_PIPE_INIT;
	int ends[2], err, room;
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%" PRIu32 "/%s", cpu, name);
	err = instance_open_file(instance, file, O_RDONLY | O_NONBLOCK, &pipe.fd, fail);
	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		err = fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
		close(pipe.fd);
		return err;
	}
	pipe.out = ends[0];
	pipe.in = ends[1];
	pipe.cpu = cpu;
	pipe.page_size = page_size;
	/* Without the right to enlarge the pipe, the default size of 64 KB is used. */
	(void)!fcntl(pipe.in, F_SETPIPE_SZ, PIPE_BYTES);
	room = fcntl(pipe.in, F_GETPIPE_SZ);
	pipe.room = room > 0 ? (size_t)room : 1 << 16;
	pipe.no_splice = pipe.room < page_size;
	*ret = pipe;
	return 0;
}

int cpu_pipe_open(const struct instance *instance, uint32_t cpu, uint32_t page_size, struct cpu_pipe *ret,
		  struct fail *fail)
{
	return open_raw(instance, "trace_pipe_raw", cpu, page_size, ret, fail);
}

int cpu_pipe_open_snapshot(const struct instance *instance, uint32_t cpu, uint32_t page_size, struct cpu_pipe *ret,
			   struct fail *fail)
{
	return open_raw(instance, "snapshot_raw", cpu, page_size, ret, fail);
}

void cpu_pipe_close(struct cpu_pipe *pipe)
{
	cleanup_fd_close(&pipe->fd);
	cleanup_fd_close(&pipe->in);
	cleanup_fd_close(&pipe->out);
	*pipe = (struct cpu_pipe)CPU_PIPE_INIT;
}

static int64_t now_ms(void)
{
	return (int64_t)(now_ns() / 1000000);
}

/*
 * The length of the next sleep in ms; `left` is the time until the timeout, or -1. If the last wakeup brought no full
 * sub-buffer, poll() would return at once again: in a buffer of few sub-buffers, a partly filled one is enough to reach
 * buffer_percent. So the reader then sleeps for a time instead, longer each time.
 */
static int slice_ms(const struct cpu_pipe *pipe, int64_t left)
{
	int64_t slice = POLL_MS << pipe->quiet;

	if (pipe->dry)
		slice = 1 << (pipe->dry - 1);
	return (int)(left >= 0 && left < slice ? left : slice);
}

static void look(struct cpu_pipe *pipe)
{
	if (pipe->watch)
		ring_watch_look(pipe->watch, 0);
}

int cpu_pipe_wait(struct cpu_pipe *pipe, int wake_fd, int timeout_ms, struct fail *fail)
{
	int64_t end = now_ms() + timeout_ms, left = -1;

	if (pipe->waiting)
		return 1;
	look(pipe);
	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = wake_fd, .events = POLLIN },
			{ .fd = pipe->dry ? -1 : pipe->fd, .events = POLLIN },
		};
		int ready;

		if (timeout_ms >= 0) {
			left = end - now_ms();
			left = left < 0 ? 0 : left;
		}
		ready = poll(fds, 2, slice_ms(pipe, left));
		if (ready < 0 && errno != EINTR)
			return fail_set(fail, -errno, "cannot wait for the buffer of CPU %" PRIu32 ": %s", pipe->cpu,
					strerror(errno));
		look(pipe);
		pipe->quiet = ready ? 0 : pipe->quiet < QUIET_MAX ? pipe->quiet + 1 : QUIET_MAX;
		if (ready > 0 && fds[0].revents)
			return 0;
		if ((ready > 0 && fds[1].revents) || (!ready && pipe->dry))
			return 1;
		if (!left)
			return 0;
	}
}

static int refused(const struct cpu_pipe *pipe, int err, struct fail *fail)
{
	return fail_set(fail, err, "cannot read trace_pipe_raw of CPU %" PRIu32 ": %s", pipe->cpu, strerror(-err));
}

/*
 * Notes a CPU without a buffer. A possible CPU that has not been online since the instance was made has files but no
 * buffer (ring_buffer_alloc_read_page()).
 */
static void note_absent(struct cpu_pipe *pipe, ssize_t got)
{
	pipe->absent = got < 0 && errno == ENODEV;
}

/*
 * Splices full sub-buffers from the kernel into the pipe, without copying them. It moves as many as fit, not only those
 * that the caller takes now: that frees room in the ring buffer while earlier sub-buffers are compressed.
 */
static int fill(struct cpu_pipe *pipe, struct fail *fail)
{
	size_t want = pipe->waiting < pipe->room ? pipe->room - pipe->waiting : 0;
	ssize_t got;

	want -= want % pipe->page_size;
	if (!want)
		return 0;
	got = splice(pipe->fd, NULL, pipe->in, NULL, want, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	note_absent(pipe, got);
	if (got > 0)
		pipe->waiting += (size_t)got;
	/* The data in the pipe is taken first. If the error lasts, the next call returns it. */
	if (got >= 0 || pipe->absent || pipe->waiting || errno == EAGAIN || errno == EINTR)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return refused(pipe, -errno, fail);
	pipe->no_splice = true;
	return 0;
}

/* Reads one sub-buffer with read(). 1: read; 0: there is none. */
static int read_page(struct cpu_pipe *pipe, uint8_t *into, struct fail *fail)
{
	ssize_t got = io_again(read(pipe->fd, into, pipe->page_size));

	note_absent(pipe, got);
	if (got < 0 && errno != EAGAIN && !pipe->absent)
		return refused(pipe, -errno, fail);
	if (got <= 0)
		return 0;
	memset(into + got, 0, pipe->page_size - (size_t)got);
	return 1;
}

/* Copies as many bytes from the pipe into memory as both allow. Bytes that were read before an error count. */
static int drain(struct cpu_pipe *pipe, uint8_t *into, size_t size, size_t *ret_len, struct fail *fail)
{
	size_t len = 0;
	int err = 0;

	while (!err && pipe->waiting && len < size) {
		ssize_t got = read(pipe->out, into + len, size - len < pipe->waiting ? size - len : pipe->waiting);

		if (got > 0) {
			len += (size_t)got;
			pipe->waiting -= (size_t)got;
		} else if (!got || errno != EINTR) {
			err = refused(pipe, got ? -errno : -EIO, fail);
		}
	}
	*ret_len = len;
	return err;
}

static void note_taken(struct cpu_pipe *pipe, size_t len)
{
	if (len)
		pipe->dry = 0;
	else if (pipe->dry < DRY_MAX)
		pipe->dry++;
}

/* Takes one more piece of at most `size` bytes, from the pipe first. *ret_len 0: there is none. */
static int take_piece(struct cpu_pipe *pipe, uint8_t *into, size_t size, size_t *ret_len, struct fail *fail)
{
	int err;

	if (!pipe->no_splice && !pipe->waiting) {
		err = fill(pipe, fail);
		if (err)
			return err;
	}
	if (pipe->waiting)
		return drain(pipe, into, size, ret_len, fail);
	*ret_len = 0;
	if (!pipe->no_splice)
		return 0;
	err = read_page(pipe, into, fail);
	if (err > 0)
		*ret_len = pipe->page_size;
	return err < 0 ? err : 0;
}

int cpu_pipe_take(struct cpu_pipe *pipe, void *into, size_t size, size_t *ret_len, struct fail *fail)
{
	size_t len = 0, piece = 1;
	int err = 0;

	size -= size % pipe->page_size;
	while (!err && piece && len < size) {
		piece = 0;
		err = take_piece(pipe, (uint8_t *)into + len, size - len, &piece, fail);
		len += piece;
	}
	note_taken(pipe, len);
	*ret_len = len;
	/* Bytes that were taken must not be lost. If the error lasts, the next call returns it. */
	return len ? 0 : err;
}

static int write_pages(int fd, const uint8_t *data, size_t len, struct fail *fail)
{
	int err = io_write(fd, data, len);

	return err ? fail_set(fail, err, FAIL_WRITE "%s", strerror(-err)) : 0;
}

/* Copies one sub-buffer through memory, for an output or a kernel that cannot splice. */
static int move_copied(struct cpu_pipe *pipe, int fd, size_t *ret_len, struct fail *fail)
{
	cleanup_free uint8_t *page = malloc(pipe->page_size);
	int err;

	if (!page)
		return fail_memory(fail);
	err = take_piece(pipe, page, pipe->page_size, ret_len, fail);
	if (!err)
		err = write_pages(fd, page, *ret_len, fail);
	/* Bytes that did not reach the output must not count as moved: the caller would not notice the error. */
	if (err)
		*ret_len = 0;
	return err;
}

static int move_piece(struct cpu_pipe *pipe, int fd, size_t size, size_t *ret_len, struct fail *fail)
{
	int err = pipe->no_splice ? 0 : fill(pipe, fail);
	ssize_t moved;

	if (err)
		return err;
	if (pipe->no_splice || pipe->no_splice_out)
		return move_copied(pipe, fd, ret_len, fail);
	if (!pipe->waiting)
		return 0;
	moved = splice(pipe->out, NULL, fd, NULL, size < pipe->waiting ? size : pipe->waiting, SPLICE_F_MOVE);
	if (moved < 0 && errno == EINVAL) {
		pipe->no_splice_out = true;
		return move_copied(pipe, fd, ret_len, fail);
	}
	if (moved < 0 && errno != EINTR)
		return fail_set(fail, -errno, FAIL_WRITE "%s", strerror(errno));
	if (moved > 0) {
		pipe->waiting -= (size_t)moved;
		*ret_len = (size_t)moved;
	}
	return 0;
}

int cpu_pipe_move(struct cpu_pipe *pipe, int fd, size_t size, size_t *ret_len, struct fail *fail)
{
	size_t len = 0, piece = 1;
	int err = 0;

	size -= size % pipe->page_size;
	while (!err && piece && len < size) {
		piece = 0;
		err = move_piece(pipe, fd, size - len, &piece, fail);
		len += piece;
	}
	note_taken(pipe, len);
	*ret_len = len;
	return len ? 0 : err;
}

int cpu_pipe_fetch(struct cpu_pipe *pipe, size_t *ret_len, struct fail *fail)
{
	size_t before = pipe->waiting;
	int err = pipe->no_splice ? 0 : fill(pipe, fail);

	*ret_len = pipe->waiting - before;
	if (pipe->waiting)
		pipe->dry = 0;
	return err;
}

static int send_copied(struct cpu_pipe *pipe, int fd, size_t size, struct fail *fail)
{
	cleanup_free uint8_t *data = malloc(pipe->page_size);

	if (!data)
		return fail_memory(fail);
	while (size) {
		size_t len;
		int err = drain(pipe, data, size < pipe->page_size ? size : pipe->page_size, &len, fail);

		if (!err)
			err = write_pages(fd, data, len, fail);
		if (err)
			return err;
		size -= len;
	}
	return 0;
}

int cpu_pipe_send(struct cpu_pipe *pipe, int fd, size_t size, struct fail *fail)
{
	assert(size <= pipe->waiting);
	while (size) {
		ssize_t sent = pipe->no_splice_out ? -1 : splice(pipe->out, NULL, fd, NULL, size, SPLICE_F_MOVE);

		if (pipe->no_splice_out || (sent < 0 && errno == EINVAL)) {
			pipe->no_splice_out = true;
			return send_copied(pipe, fd, size, fail);
		}
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return fail_set(fail, sent ? -errno : -EIO, FAIL_WRITE "%s", strerror(sent ? errno : EIO));
		pipe->waiting -= (size_t)sent;
		size -= (size_t)sent;
	}
	return 0;
}

bool cpu_pipe_is_ready(const struct cpu_pipe *pipe)
{
	struct pollfd fd = { .fd = pipe->fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0 && fd.revents;
}

int cpu_pipe_read(struct cpu_pipe *pipe, void *into, struct fail *fail)
{
	size_t len;
	int err;

	if (!pipe->waiting)
		return read_page(pipe, into, fail);
	err = drain(pipe, into, pipe->page_size, &len, fail);
	if (err)
		return err;
	/* A full output may end with a part of a page, which is not a valid page. */
	if (len < pipe->page_size)
		return fail_set(fail, -EIO, "part of a sub-buffer of CPU %" PRIu32 " is lost", pipe->cpu);
	return 1;
}
