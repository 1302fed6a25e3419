/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_EVENTS_H
#define WEFT_EVENT_EVENTS_H

#include "lib/base/cleanup.h"
#include "lib/event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct context;
struct fail;
struct pool;
struct source;
struct trace;

/*
 * The events of one ring buffer of a file, merged in time: by (ts, cpu), stable within a CPU. Gaps are items too.
 * A damaged CPU ends there: events_damage() tells, the others go on.
 * Ownership: events borrow from blocks. Blocks that no later event can come from pile up until the caller takes them
 * with events_retired(), and must outlive the events handed out before. Whoever does not take them lets
 * events_next() release them, and then an event is valid until the next call only.
 */
struct events;

struct events_options {
	const uint64_t *cpu_mask; /* bit n % 64 of word n / 64 = CPU n; NULL for all */
	size_t cpu_mask_words;
	/*
	 * In units of event::ts, both included; 0 and UINT64_MAX for all. `since` is where to begin: what comes then and is older, on a
	 * CPU whose time goes back, is handed out.
	 */
	uint64_t since, until;
	bool keep_blocks;  /* the caller takes retired blocks */
	struct pool *pool; /* borrowed: reads ahead and decompresses; NULL: the caller's thread does when it asks */
	struct source
		*source; /* pages from elsewhere than the context's file; taken, also on failure. NULL: the file's */
	/* Asked, once for each, about an id that the schema does not have: may add its format there. May be NULL. */
	void (*learn)(void *arg, uint16_t id);
	void *learn_arg;
};

int must_check events_open(const struct context *context, const struct events_options *options, struct events **ret,
			   struct fail *fail);
void events_free(struct events *events);

/* 1 and the next event, 0 at the end, -errno when nothing can go on. */
int must_check events_next(struct events *events, struct event *ret, struct fail *fail);

/* Of a live source: after events_next() gave 0 and the source got more, it may go on; lib/stream/merge.h. */
void events_resume(struct events *events);

/*
 * The event that follows, on the CPU of the event handed out last, without moving on: 1, or 0 at the end of that CPU
 * or before a gap. Valid as long as that event. events_skip() takes it out of the stream.
 */
int events_peek(struct events *events, struct event *ret);
/* The same, but only type, data, len and the common fields are set: for the graph, which takes most of what follows. */
bool events_peek_record(struct events *events, struct event *ret);
void events_skip(struct events *events);

/*
 * When the next record of any CPU happened, or false at the end; gaps do not count. Only after events_peek() and events_skip():
 * they see nothing then, until the next event.
 */
bool events_next_ts(struct events *events, uint64_t *ret);

/*
 * Of several streams that are to be one: whether events_next() has something now; *ret is when that happened, or, without it, a time
 * such that nothing older can come (UINT64_MAX: nothing at all). Ends a look ahead, too.
 */
bool events_due(struct events *events, uint64_t *ret);

/* Where the bytes of these blocks are counted, to be looked at after each event. */
const size_t *events_held(const struct events *events);
/* The chain of blocks retired so far, in order; the caller now owns them and gives them back by events_release(). */
struct block *events_retired(struct events *events);
void events_release(struct events *events, struct block *chain);

/* The time of the last event that these options leave, found without reading what is before it; 0 when there is none. */
int must_check events_end_time(const struct context *context, const struct events_options *options, uint64_t *ret,
			       struct fail *fail);

/* The first damage met: NULL when there was none; one line with CPU and offset. */
const char *events_damage(const struct events *events);

/* Events handed out or skipped so far. */
uint64_t events_count(const struct events *events);

/* The bound types that occurred: false behind the last. */
bool events_type_at(const struct events *events, size_t index, const struct event_type **ret);

#endif
