/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_READER_WALK_H
#define WEFT_READER_WALK_H

#include "lib/base/cleanup.h"
#include "lib/event/event.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct reader;

/*
 * Walks the events of a reader in both directions, from any time on. It keeps the events around the place where it
 * stands, with their bytes, and reads others when they are asked for, so its memory does not depend on the size of the
 * file, and neither does the time to get anywhere.
 *
 * A place stands before an event and stays the same whenever the same file is read with the same selection: the time
 * of the event and its number among the events of this time. Where the time of a CPU goes back, going back may pass
 * over events.
 */
struct walk_place {
	uint64_t ts;  /* in units of event::ts */
	uint64_t nth; /* of the events of this time, from 0 */
};

static inline int walk_compare(struct walk_place a, struct walk_place b)
{
	if (a.ts != b.ts)
		return a.ts < b.ts ? -1 : 1;
	return a.nth < b.nth ? -1 : a.nth > b.nth;
}

/* Before the first event, and behind the last one. */
#define WALK_START ((struct walk_place){ 0, 0 })
#define WALK_END ((struct walk_place){ UINT64_MAX, UINT64_MAX })

/*
 * An event or a gap. It is valid until the second call after the one that returned it; its type is valid as long as the
 * reader.
 */
struct walk_event {
	struct event event; /* data points to a copy */
	struct walk_place place;
};

struct walk_options {
	/*
	 * Is asked after every few thousand events that were read, with the time of the last one and the direction: -1
	 * or 1. True ends the call with -ECANCELED. May be NULL. So a search stays in the hands of its user.
	 */
	bool (*stop)(void *arg, uint64_t ts, int direction);
	void *arg;
};

struct walk;

/*
 * Stands before the first event. Borrows the reader, which has been started without a thread, a tail or a limit, and
 * which nobody else reads from then on. -EINVAL: its buffers have different clocks, so that their events have no common
 * order; or its selection asks how long things lasted, which needs all events from the first one.
 */
int must_check walk_new(struct reader *reader, const struct walk_options *options, struct walk **ret,
			struct fail *fail);
void walk_free(struct walk *walk);

/* Stands before the first event at this place or after it. Reads nothing yet. */
void walk_seek(struct walk *walk, struct walk_place place);

/*
 * 1: *ret is the event behind the place (next) or before it (previous), and the walk stands on its other side; 0: there
 * is none; -errno. After -ECANCELED and other errors it stands where it stood.
 */
int must_check walk_next(struct walk *walk, const struct walk_event **ret, struct fail *fail);
int must_check walk_previous(struct walk *walk, const struct walk_event **ret, struct fail *fail);

/* The place of the event behind, or, if that has not been read, a place between both neighbours. */
struct walk_place walk_stands(const struct walk *walk);

#endif
