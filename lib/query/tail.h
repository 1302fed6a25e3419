/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_QUERY_TAIL_H
#define WEFT_QUERY_TAIL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct context;
struct event;
struct events_options;
struct fail;

/*
 * Where the last events of a stream begin. Looks at windows before the end, each eight times as long as the one before, so
 * that the cost follows the number of events wanted and not the size of the file.
 */
struct tail {
	uint64_t since; /* an events_options::since */
	uint64_t skip;  /* events to leave out from there on, to be left with as many as were wanted */
	uint64_t left;  /* how many are left then: fewer than wanted where the stream has fewer */
};

/* `keep` says which events count; NULL: all of them. */
int must_check tail_find(const struct context *context, const struct events_options *options, uint64_t count,
			 bool (*keep)(void *arg, const struct event *event), void *arg, struct tail *ret,
			 struct fail *fail);

#endif
