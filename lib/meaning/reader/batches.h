/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_BATCHES_H
#define WEFT_MEANING_READER_BATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"

struct fail;
struct reader;
struct reader_consumer;

/*
 * The events of a started reader, in order, many at a time. If the reader was started with reader_options::ahead, a
 * thread reads, merges and binds the next events while the caller works on these: batches then use the reader until
 * they have ended or are freed, and the caller must neither ask nor stop it before. It may use what does not change
 * while events are read: contexts, formats and types of events that were handed out.
 */
struct batches;

int must_check batches_new(struct reader *reader, struct batches **ret, struct fail *fail);
void batches_free(struct batches *batches);

/*
 * The number of events at *ret, valid until the next call; 0 at the end; -errno, after all events that could be read.
 * Not for consumers that look ahead (events_peek()).
 */
int must_check batches_next(struct batches *batches, const struct event **ret, struct fail *fail);

/*
 * Another thread has written a batch and its records, so that each is a miss of this core's cache: asks for the record
 * some events behind this one, before it is read, and for the event farther behind, which has the record's address. The
 * fields that analyses read lie behind the common fields. A gap has no record, so the address is a number.
 */
static inline void batches_ask_ahead(const struct event *event, const struct event *end)
{
	enum { EVENTS_AHEAD = 8, FIELDS_AT = 32, FARTHER = 24 };

	__builtin_prefetch((const void *)((uintptr_t)event + FARTHER * sizeof(*event)));
	if (event + EVENTS_AHEAD < end)
		__builtin_prefetch((const void *)((uintptr_t)event[EVENTS_AHEAD].data + FIELDS_AT));
}

/* Shows all events of the reader to a consumer that neither stops the reader nor looks ahead. */
int must_check batches_run(struct reader *reader, const struct reader_consumer *consumer, struct fail *fail);

#endif
