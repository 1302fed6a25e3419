/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_TAIL_H
#define WEFT_MEANING_QUERY_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct events_options;
struct fail;

/*
 * Finds where the last events of a stream begin. It looks at windows before the end, each eight times as long as the
 * one before, so the cost depends on the number of events wanted and not on the size of the file.
 */
struct tail {
	uint64_t since; /* a value for events_options::since */
	uint64_t skip;  /* events to skip from there on, so that the wanted number is left */
	uint64_t left;  /* the number left: fewer than wanted when the stream has fewer */
};

/* `keep` shows which events count; NULL: all of them. */
int must_check tail_find(const struct context *context, const struct events_options *options, uint64_t count,
			 bool (*keep)(void *arg, const struct event *event), void *arg, struct tail *ret,
			 struct fail *fail);

#endif
