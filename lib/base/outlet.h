/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_OUTLET_H
#define WEFT_BASE_OUTLET_H

#include "lib/base/cleanup.h"
#include "lib/base/escape.h"

#include <stdbool.h>
#include <stddef.h>

struct out;

/*
 * A file descriptor whose reader may be slow or gone: bytes go as far as it takes them, and nobody waits here. Flags of the
 * descriptor are not changed, for other processes share them: a pipe or terminal is opened once more, and where that does
 * not work no more is written at once than poll() promises to fit.
 * Invariant: one outlet, one struct out: what was not taken stays in front of it.
 */
struct outlet {
	int fd;       /* to be polled for POLLOUT, and written to */
	int own;      /* to be closed; -1 */
	bool waits;   /* writing may sleep */
	bool escapes; /* set by the caller: what a terminal would obey is written as octal */
	struct escape escape;
	size_t escaped; /* bytes of the out that are */
	size_t done;    /* bytes of the out that are written */
};

void outlet_init(struct outlet *outlet, int fd);
void outlet_release(struct outlet *outlet);

/* 1: all is written, and the out is empty; 0: the reader takes no more now; -errno: -EPIPE when it is gone. */
int must_check outlet_write(struct outlet *outlet, struct out *out);

#endif
