/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_SLICED_H
#define WEFT_TESTS_UNIT_SLICED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"

struct fail;
struct trace;

/* The times of all events of a trace's first buffer, in order; the caller frees *ret. Times of 0 are left out. */
int sliced_times(struct trace *trace, uint64_t **ret, size_t *ret_nr, struct fail *fail);

struct sliced_cuts {
	const uint64_t *times; /* ascending */
	size_t nr;
	unsigned threads;      /* beside the caller's */
	const char *events;    /* the events that are selected; NULL: all */
	const char *to;        /* an exporter, whose notes come after its lines; NULL: the kernel's text */
	uint64_t since, until; /* of the window; until 0: to the end */
	const char *sums;      /* in its place, of all events: what tests/unit/sliced_sums.h knows; NULL: none */
};

/*
 * Prints the first buffer of a trace in slices that begin at these times. *ret_whole: not all could be printed in
 * slices, and the text ends early.
 */
int sliced_print(struct trace *trace, const struct sliced_cuts *cuts, struct buf *ret, bool *ret_whole,
		 struct fail *fail);

#endif
