/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_BUFFER_CPU_PIPE_H
#define WEFT_KERNEL_BUFFER_CPU_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;
struct ring_watch;

/*
 * Takes whole sub-buffers out of the ring buffer of one CPU through per_cpu/cpuN/trace_pipe_raw. A sub-buffer that was
 * taken is no longer in the kernel. Only cpu_pipe_wait() blocks. One thread at a time may use a pipe; several pipes are
 * independent. Invariant: every byte count that a function returns is a multiple of page_size, unless the output of
 * cpu_pipe_move() was full. The page that cpu_pipe_read() returns may be partly filled (the commit in its header tells
 * how far).
 */
struct cpu_pipe {
	int fd;
	int in, out; /* the pipe between the two calls of splice() */
	uint32_t cpu;
	uint32_t page_size;
	size_t room;              /* capacity of the pipe in bytes */
	size_t waiting;           /* bytes in the pipe */
	unsigned dry;             /* number of calls in a row that took nothing */
	unsigned quiet;           /* number of times in a row that poll() timed out */
	bool no_splice;           /* this kernel cannot splice: pages are read with read(), also partly filled ones */
	bool no_splice_out;       /* the output of cpu_pipe_move() cannot splice */
	struct ring_watch *watch; /* borrowed, may be NULL; updated whenever cpu_pipe_wait() begins or wakes up */
	/* the CPU had no buffer at the last try; it gets one when it comes online; until then poll() does not work */
	bool absent;
};

int must_check cpu_pipe_open(const struct instance *instance, uint32_t cpu, uint32_t page_size, struct cpu_pipe *ret,
			     struct fail *fail);
/* The same for snapshot_raw, the pages of the snapshot. -EBUSY: a max-latency tracer uses the snapshot. */
int must_check cpu_pipe_open_snapshot(const struct instance *instance, uint32_t cpu, uint32_t page_size,
				      struct cpu_pipe *ret, struct fail *fail);
void cpu_pipe_close(struct cpu_pipe *pipe);
#define CPU_PIPE_INIT                         \
	{                                     \
		.fd = -1, .in = -1, .out = -1 \
	}

/*
 * Sleeps until the buffer is filled to buffer_percent, `wake_fd` (-1: none) is readable, or timeout_ms have passed (<
 * 0: no limit). 1: there may be data; 0: woken by wake_fd or the timeout; -errno.
 */
int must_check cpu_pipe_wait(struct cpu_pipe *pipe, int wake_fd, int timeout_ms, struct fail *fail);

/*
 * Takes only full sub-buffers, up to `size` bytes: cpu_pipe_take() into memory, cpu_pipe_move() to a file without a
 * copy. *ret_len 0: there is none now. An error is from the kernel or from the output (-ENOSPC stays -ENOSPC). Bytes
 * that were taken before an error are returned first; the next call returns the error.
 */
int must_check cpu_pipe_take(struct cpu_pipe *pipe, void *into, size_t size, size_t *ret_len, struct fail *fail);
int must_check cpu_pipe_move(struct cpu_pipe *pipe, int fd, size_t size, size_t *ret_len, struct fail *fail);

/*
 * The same in two steps, for a caller that needs to know the amount first. cpu_pipe_fetch() moves as many full
 * sub-buffers into the pipe as fit; *ret_len is the number of bytes that it moved now, `waiting` the number of all
 * bytes in the pipe. cpu_pipe_send() writes exactly `size` of these bytes to a file at its current position. On a
 * kernel that cannot splice, cpu_pipe_fetch() never moves anything.
 */
int must_check cpu_pipe_fetch(struct cpu_pipe *pipe, size_t *ret_len, struct fail *fail);
int must_check cpu_pipe_send(struct cpu_pipe *pipe, int fd, size_t size, struct fail *fail);

/* Whether the buffer is filled to buffer_percent now. */
bool cpu_pipe_is_ready(const struct cpu_pipe *pipe);

/*
 * Reads one sub-buffer, full or partly filled, at the end of a recording. 1: page_size bytes are in `into`; 0: the
 * buffer is empty; -errno.
 */
int must_check cpu_pipe_read(struct cpu_pipe *pipe, void *into, struct fail *fail);

#endif
