/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_FAR_LIVE_H
#define WEFT_KERNEL_LIVE_FAR_LIVE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/live/flow.h"

struct buf;
struct fail;
struct out;
struct reader;
struct trace;

/*
 * What lib/kernel/live/live.h is for this kernel, for one whose pages another process takes: the frames come from a
 * descriptor (lib/meaning/reader/relay_reader.h), and what they say is untrusted. Nothing here opens a file, so the
 * caller may be in the sandbox.
 * Use: far_live_new(), which waits until the buffers are described; far_live_run(); far_live_free().
 */
struct far_live;

/* Borrows the descriptor; `file` is an empty file in memory; borrowed for this call. */
int must_check far_live_new(int fd, int file, struct far_live **ret, struct fail *fail);
void far_live_free(struct far_live *far);

/* It is started, and has a buffer for each instance. */
struct reader *far_live_reader(struct far_live *far);
struct trace *far_live_trace(const struct far_live *far);
struct out *far_live_out(struct far_live *far);
/* As live_texts(). */
int must_check far_live_texts(const struct far_live *far, struct buf *cmdlines, struct buf *kallsyms,
			      struct fail *fail);

/*
 * Gives the consumer the events until the last frame, or until ends() says that nobody waits for that, which is asked
 * ten times a second at least. -ENODATA: the frames end too soon.
 */
int must_check far_live_run(struct far_live *far, const struct flow_consumer *consumer, bool (*ends)(void *arg),
			    void *arg, struct fail *fail);

#endif
