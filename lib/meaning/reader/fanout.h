/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_FANOUT_H
#define WEFT_MEANING_READER_FANOUT_H

#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct event;
struct fail;
struct reader;

/* Sees all events, in order, many at a time. The events are valid until it returns. */
struct fanout_consumer {
	void (*see)(void *arg, const struct event *events, size_t nr);
	void *arg;
};

enum { FANOUT_CONSUMERS = 4 };

/*
 * Shows all events of a reader that was started with reader_options::ahead to at most so many consumers, which neither
 * stop the reader nor look ahead, and share nothing that changes. Reading and each consumer are work for one thread at
 * a time, but not always the same one: of the caller and reader_options::ahead more threads, each takes up what nobody
 * does and what there is most of. So two CPUs are busy whatever the parts take, and no two threads take turns on one.
 * Consumers use of the reader what they may use beside struct batches. Returns 0 or -errno when all have seen all
 * events that could be read.
 */
int must_check fanout_run(struct reader *reader, const struct fanout_consumer *consumers, size_t nr, struct fail *fail);

#endif
