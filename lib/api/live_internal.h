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
	struct relay_pipe frames; /* its descriptor is the pipe's own */
	int said_fd;              /* a file in memory with what it says; -1: none */
	pid_t pid;                /* 0: the caller has opened the descriptor */
};

/* Starts "PROGRAM stream --pages -q WORDS..."; `env` NULL: with a PATH only. */
int must_check live_pipe_start(struct live_pipe *pipe, const char *program, const char *const *env,
			       const char *const *words, size_t nr, struct fail *fail);
int must_check live_pipe_open(struct live_pipe *pipe, int fd, struct fail *fail);

/* Closes it, whereupon the process restores everything, and waits for that. */
void live_pipe_close(struct live_pipe *pipe);

/* Asks the process to end: what is left comes before RELAY_END. -ENOTSUP: it is not one of this pipe. */
int must_check live_pipe_stop(const struct live_pipe *pipe, struct fail *fail);

/* relay_pipe_next(); when the frames end too soon, with what the process has said. */
int must_check live_pipe_next(struct live_pipe *pipe, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data,
			      struct fail *fail);

#endif
