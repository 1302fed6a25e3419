/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BUFFER_CPU_PIPE_H
#define WEFT_BUFFER_CPU_PIPE_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct ring_watch;

/*
 * per_cpu/cpuN/trace_pipe_raw: takes whole sub-buffers out of the ring buffer of one CPU. What it hands out is gone from
 * the kernel. It never blocks but in cpu_pipe_wait(). One thread at a time per pipe; several pipes are independent.
 * Invariant: every byte count it returns is a multiple of page_size, unless an output of cpu_pipe_move() ran full.
 * The last page handed out by cpu_pipe_read() may be partly filled (its header says how far).
 */
struct cpu_pipe {
	int fd;
	int in, out; /* the pipe between splices */
	uint32_t cpu;
	uint32_t page_size;
	size_t room;        /* bytes that the pipe holds */
	size_t waiting;     /* bytes in the pipe */
	unsigned dry;       /* takes in a row that brought nothing */
	unsigned quiet;     /* times in a row that poll() said nothing */
	bool no_splice;     /* this kernel does not splice: pages are read, partly filled ones too */
	bool no_splice_out; /* the output of cpu_pipe_move() does not */
	struct ring_watch *
		watch; /* borrowed; looked at whenever cpu_pipe_wait() begins or wakes up; NULL: nobody wants to know */
	bool absent; /* the CPU had no buffer at the last try: it has none until it comes online, and poll() is no use */
};

int must_check cpu_pipe_open(const struct instance *instance, uint32_t cpu, uint32_t page_size, struct cpu_pipe *ret,
			     struct fail *fail);
/* The same for snapshot_raw, the pages of the snapshot. -EBUSY while a max-latency tracer keeps its worst case there. */
int must_check cpu_pipe_open_snapshot(const struct instance *instance, uint32_t cpu, uint32_t page_size,
				      struct cpu_pipe *ret, struct fail *fail);
void cpu_pipe_close(struct cpu_pipe *pipe);
#define CPU_PIPE_INIT                         \
	{                                     \
		.fd = -1, .in = -1, .out = -1 \
	}

/*
 * Sleeps until the buffer is as full as buffer_percent wants it, or `wake_fd` (may be -1) is readable, or the time is over
 * (timeout_ms < 0: never). 1: there may be data; 0: woken by wake_fd or the time; -errno.
 */
int must_check cpu_pipe_wait(struct cpu_pipe *pipe, int wake_fd, int timeout_ms, struct fail *fail);

/*
 * Full sub-buffers only, as many as there are up to `size` bytes: into memory, or to a file without a copy.
 * *ret_len 0: there is none now. An error is that of the kernel or of the output (-ENOSPC stays -ENOSPC); it is returned
 * by the call that got nothing: bytes that were taken before it are reported first.
 */
int must_check cpu_pipe_take(struct cpu_pipe *pipe, void *into, size_t size, size_t *ret_len, struct fail *fail);
int must_check cpu_pipe_move(struct cpu_pipe *pipe, int fd, size_t size, size_t *ret_len, struct fail *fail);

/*
 * The same in two steps, for who wants to know first how much there is. Fetching brings full sub-buffers into the pipe, as many as it
 * has room for, and says in *ret_len how many bytes the buffer gave now; all that wait there are `waiting`. Sending writes exactly
 * `size` of those to a file, where it stands. Nothing is ever fetched on kernels that do not splice.
 */
int must_check cpu_pipe_fetch(struct cpu_pipe *pipe, size_t *ret_len, struct fail *fail);
int must_check cpu_pipe_send(struct cpu_pipe *pipe, int fd, size_t size, struct fail *fail);

/* Whether the buffer is as full now as cpu_pipe_wait() waits for. */
bool cpu_pipe_is_ready(const struct cpu_pipe *pipe);

/* One sub-buffer, partial ones too: for the end of a recording. 1: page_size bytes are in `into`; 0: empty; -errno. */
int must_check cpu_pipe_read(struct cpu_pipe *pipe, void *into, struct fail *fail);

#endif
