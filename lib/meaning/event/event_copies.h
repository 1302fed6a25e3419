/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_EVENT_COPIES_H
#define WEFT_MEANING_EVENT_EVENT_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/meaning/event/event.h"

/*
 * Events with their records that are looked at once more when more is known: those of a slice of time that depend on
 * what was before it. The types are borrowed. All zero is empty.
 */
struct event_copies {
	struct event_copy {
		struct event event; /* without its record */
		uint64_t number;    /* of the owner's choice */
		size_t at;          /* of the record, in `records` */
	} * items;
	size_t nr;
	struct buf records;
};

void event_copies_release(struct event_copies *copies);

/* False without memory. */
bool event_copies_add(struct event_copies *copies, const struct event *event, uint64_t number);

/* The event is valid until another is added. */
struct event event_copies_at(const struct event_copies *copies, size_t index, uint64_t *ret_number);

#endif
