/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_RELAY_PIPE_H
#define WEFT_PAGES_STREAM_RELAY_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/stream/relay.h"

struct fail;

/*
 * The reading end of frames (relay.h), whoever writes them. Memory follows from the bytes that have come, and is
 * bounded by the largest frame and a read.
 */
struct relay_pipe {
	int fd; /* borrowed; it may block or not */
	/* Private: */
	uint8_t *data;
	size_t size, from, to; /* of it; what is read and not yet taken */
	bool met;              /* the first frame was there */
};

void relay_pipe_release(struct relay_pipe *pipe);

/*
 * The next frame, which is valid until the next call: 1; 0: there is none until `end_ns` of now_ns() (UINT64_MAX: waits
 * until there is one); -EINTR: a signal came; -ENODATA: the frames end before RELAY_END; -errno.
 */
int must_check relay_pipe_next(struct relay_pipe *pipe, uint64_t end_ns, struct relay_head *ret,
			       const uint8_t **ret_data, struct fail *fail);

#endif
