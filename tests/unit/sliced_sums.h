/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_SLICED_SUMS_H
#define WEFT_TESTS_UNIT_SLICED_SUMS_H

#include "lib/ground/base/buf.h"

struct fail;
struct pool;
struct slices;
struct trace;

/*
 * What is added up of all events of the first buffer of a trace, as text: "hist NAME": a histogram of an event with
 * keys, sums, a minimum and percentiles; "pair ...": of the time between two events; "graph", "graph errors": the
 * tables of weft graph. -ENOENT: the trace has no such event.
 */
int sliced_sums_order(struct trace *trace, const char *what, struct buf *ret, struct fail *fail);

/* The same, of the slices' reader, in slices. -EAGAIN: it cannot be made so. */
int sliced_sums(const struct slices *slices, const char *what, struct pool *pool, struct buf *ret, struct fail *fail);

#endif
