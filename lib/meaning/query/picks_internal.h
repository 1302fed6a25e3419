/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_PICKS_INTERNAL_H
#define WEFT_MEANING_QUERY_PICKS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct durations;
struct event;
struct events_options;
struct fail;

/*
 * Which calls of the function graph a selection keeps: a first reading of the events finds them, because the entry of a
 * call says neither how long the call will last nor what it will call. Two bits are kept for each entry, in the order
 * of the stream.
 * A call is wanted if it meets a filter by duration, or if it calls one that is. It is out if it meets a negated filter
 * or ran in an interrupt of a kind that is left out: its entry or its exit says so, or it is one of the functions with
 * which the kernel enters interrupts (__irq_entry, __softirq_entry) and which have no flag yet, or its caller is out.
 * The second reading must have the same events in the same order, but exits may be missing.
 */
struct picks;

enum pick { PICK_WANTED = 1, PICK_OUT = 2 };

/* What picks the calls. */
struct picks_wish {
	const struct context *context;
	struct durations *durations; /* NULL: none */
	uint8_t flags_out;           /* enum event_flags */
};

int must_check picks_find(const struct picks_wish *wish, const struct events_options *window, struct picks **ret,
			  struct fail *fail);
void picks_free(struct picks *picks);

/* Whether the first reading had an event that ends something whose duration is known. */
bool picks_measured(const struct picks *picks);
/* Whether the first reading had an event. */
bool picks_any(const struct picks *picks);

/* For every event and gap of the second reading. False: it neither begins nor ends a call. *ret: bits of enum pick. */
bool picks_see(struct picks *picks, const struct event *event, unsigned *ret);

#endif
