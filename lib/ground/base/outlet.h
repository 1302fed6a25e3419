/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_OUTLET_H
#define WEFT_GROUND_BASE_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/escape.h"

struct out;

/*
 * A file descriptor whose reader may be slow or gone: bytes are written as far as the reader takes them, without
 * blocking. The flags of the descriptor are not changed, because other processes share them: a pipe or terminal is
 * opened a second time, and where that fails, each write is at most as long as poll() promises to fit.
 * Invariant: one outlet has one struct out; bytes that were not taken stay at its front.
 */
struct outlet {
	int fd;       /* for poll(POLLOUT) and write() */
	int own;      /* a descriptor to close at the end, or -1 */
	bool waits;   /* a write may block */
	bool escapes; /* set by the caller: control characters are written as octal (lib/ground/base/escape.h) */
	struct escape escape;
	size_t escaped; /* bytes of the out that are escaped */
	size_t done;    /* bytes of the out that are written */
};

void outlet_init(struct outlet *outlet, int fd);
void outlet_release(struct outlet *outlet);

/*
 * 1: everything is written and the out is empty; 0: the reader takes no more now; -errno: -EPIPE when the reader is
 * gone.
 */
int must_check outlet_write(struct outlet *outlet, struct out *out);

#endif
