/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_RELAY_READER_H
#define WEFT_MEANING_READER_RELAY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/stream/relay.h"

struct buf;
struct context;
struct event;
struct fail;
struct reader;
struct trace;

/*
 * The events of running buffers whose pages another process takes out of the kernel (lib/pages/stream/relay.h), as
 * buffers of a reader that never ends by itself. The process may be one of another machine: its frames are untrusted.
 * Use: relay_reader_new(), which waits for what describes the buffers; relay_reader_add() each of them; reader_start();
 * then relay_reader_take() and reader_resume(), until relay_reader_ended(). Nothing here opens a file.
 */
struct relay_reader;

struct relay_reader_options {
	/* The next frame, as relay_pipe_next(). */
	int (*next)(void *arg, uint64_t end_ns, struct relay_head *ret, const uint8_t **ret_data, struct fail *fail);
	void *arg;
	int file;         /* an empty one in memory, for what describes the buffers; borrowed while it is made */
	const char *name; /* of the trace, for messages; borrowed */
};

int must_check relay_reader_new(const struct relay_reader_options *options, struct relay_reader **ret,
				struct fail *fail);
/* After the reader was released. */
void relay_reader_free(struct relay_reader *relay);

/* The trace of the metadata, once: the caller frees it, after the reader was released. */
struct trace *relay_reader_take_trace(struct relay_reader *relay);
size_t relay_reader_buffers(const struct relay_reader *relay);
/* Adds that buffer of the trace, with all its events, as the reader's buffer of this index. */
int must_check relay_reader_add(struct relay_reader *relay, size_t index, struct trace *trace, struct reader *reader,
				struct fail *fail);

/*
 * Takes frames until the sources of the buffers may have events that are certain: 0. -EAGAIN: there are none until
 * `end_ns` of now_ns(); -EINTR: a signal came; -errno. Call it when those there were have been read.
 */
int must_check relay_reader_take(struct relay_reader *relay, uint64_t end_ns, struct fail *fail);
/* All has come. */
bool relay_reader_ended(const struct relay_reader *relay);

/*
 * The sources have nothing more for now. *ret: losses since the last call that no page tells, as events behind what
 * came before them; their number. Valid until the next relay_reader_take().
 */
size_t relay_reader_dry(struct relay_reader *relay, const struct event **ret);

/* The present texts of saved_cmdlines and of kallsyms. */
const struct buf *relay_reader_names(const struct relay_reader *relay);
const struct buf *relay_reader_symbols(const struct relay_reader *relay);

#endif
