/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_API_LIVE_INTERNAL_H
#define WEFT_API_LIVE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/stream/relay.h"

struct fail;

/* The frames (lib/pages/stream/relay.h) that a process writes, and the process. */
struct live_pipe {
	int fd;      /* that it writes to */
	int said_fd; /* a file in memory with what it says; -1: none */
	pid_t pid;   /* 0: the caller has opened the descriptor */
	uint8_t *data;
	size_t size, from, to; /* of it; what is read and not yet taken */
	bool met;              /* the first frame was there */
};

/* Starts "PROGRAM stream --pages -q WORDS..."; `env` NULL: with a PATH only. */
int must_check live_pipe_start(struct live_pipe *pipe, const char *program, const char *const *env,
			       const char *const *words, size_t nr, struct fail *fail);
int must_check live_pipe_open(struct live_pipe *pipe, int fd, struct fail *fail);

/* Closes it, whereupon the process restores everything, and waits for that. */
void live_pipe_close(struct live_pipe *pipe);

/* Asks the process to end: what is left comes before RELAY_END. -ENOTSUP: it is not one of this pipe. */
int must_check live_pipe_stop(const struct live_pipe *pipe, struct fail *fail);

/*
 * The next frame, which is valid until the next call: 1; 0: there is none until `end_ns` of now_ns() (UINT64_MAX: waits
 * until there is one); -EINTR: a signal came; -errno: with what the process has said.
 */
int must_check live_pipe_next(struct live_pipe *pipe, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data,
			      struct fail *fail);

#endif
