/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_RENDER_H
#define WEFT_FORMATS_RENDER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct events;
struct fail;
struct pool;
struct sink;

/*
 * Drives a stream through a sink to a file descriptor: decoding, merging and settling on the calling thread, formatting
 * in the pool and on the calling one when that is behind, output in order.
 * Invariant: the bytes do not depend on the number of threads.
 */
struct render_options {
	struct pool *pool;      /* borrowed; NULL for none */
	uint64_t skip;          /* events to leave out first */
	uint64_t limit;         /* events to print; UINT64_MAX for all */
	/* NULL for all; gaps are always kept. Asked in order, on the calling thread. */
	bool (*select)(void *arg, const struct event *event);
	void *select_arg;
	bool escape;            /* the reader is a terminal: what it would obey is written as octal */
};

/* 0, or -errno: -EPIPE when the reader went away. *ret_printed counts the events printed. */
int must_check render(struct events *events, struct sink *sink, const struct render_options *options, int fd,
		      uint64_t *ret_printed, struct fail *fail);

#endif
