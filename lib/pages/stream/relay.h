/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_RELAY_H
#define WEFT_PAGES_STREAM_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;

/*
 * The pages of running buffers on their way from the process that takes them out of the kernel to one that reads their
 * events: frames on a pipe, each with a head. First what describes the buffers, then RELAY_READY, then pages as they
 * were taken, with marks where rounds end (lib/pages/stream/live_source.h). Both sides are of one byte order and of one
 * version of weft: the first frame says which.
 */
enum relay_kind {
	RELAY_HELLO = 0x54464557, /* the version of the frames, RELAY_VERSION, in `cpu` */
	RELAY_FACTS = 1,          /* a trace.dat without pages */
	RELAY_BUFFER,             /* struct relay_buffer, then the number of each CPU as uint32_t */
	RELAY_SYMBOLS,            /* the text of kallsyms */
	RELAY_READY,              /* nothing that describes the buffers comes any more */
	RELAY_PAGE,               /* of the CPU with the index `cpu` */
	RELAY_ROUND,              /* a round has ended */
	RELAY_TASKS,              /* the present text of saved_cmdlines */
	RELAY_TGIDS,              /* the present text of saved_tgids */
	RELAY_FORMAT,             /* of an event that was made meanwhile: its system, a NUL, the text of its format */
	RELAY_DYNAMIC,            /* the present text of dynamic_events */
	RELAY_CLOCK,              /* all samples of the clock so far (lib/meaning/clock/wall.h) */
	RELAY_LOST,               /* an int64_t: so many events of a CPU were lost, which no page says */
	RELAY_END,                /* all pages have come */
};

enum { RELAY_VERSION = 1, RELAY_FRAME_MAX = 1 << 28 };

struct relay_head {
	uint32_t kind;
	uint32_t buffer; /* its index */
	uint32_t cpu;    /* the index of the CPU in the buffer */
	uint32_t len;    /* bytes behind the head */
};

struct relay_buffer {
	uint32_t page_size; /* bytes of each RELAY_PAGE */
	uint32_t long_size;
	uint32_t nr_cpus;
};

void relay_put(struct out *out, enum relay_kind kind, size_t buffer, size_t cpu, const void *data, size_t len);

/* Whether frames can have this head. -EBADMSG: none has; `first`: or it is not that of RELAY_HELLO. */
int must_check relay_check(const struct relay_head *head, bool first, struct fail *fail);

/*
 * The reading end of frames, whoever writes them. Memory follows from the bytes that have come, and is
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
