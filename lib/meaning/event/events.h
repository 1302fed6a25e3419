/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_EVENTS_H
#define WEFT_MEANING_EVENT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"

struct block;
struct cursor_place;
struct context;
struct fail;
struct pool;
struct source;
struct trace;

/*
 * The events of one ring buffer of a file, merged in time: by (ts, cpu), stable within a CPU. Gaps are also items. The
 * events of a CPU end where its data is damaged: events_damage() reports it, and the other CPUs go on.
 * Ownership: events borrow their bytes from blocks. A caller that sets keep_blocks takes the retired blocks, from which
 * no later event comes, with events_retired(), and keeps them as long as it uses events handed out before. Without
 * keep_blocks events_next() releases them, and an event is valid only until the next call.
 */
struct events;

struct events_options {
	const uint64_t *cpu_mask; /* bit n % 64 of word n / 64 = CPU n; NULL for all */
	size_t cpu_mask_words;
	/*
	 * In units of event::ts, both included; 0 and UINT64_MAX for all. Reading begins at `since`: on a CPU whose
	 * time goes back, later records that are older than `since` are handed out.
	 */
	uint64_t since, until;
	bool keep_blocks; /* the caller takes retired blocks */
	bool entered;     /* the caller begins with events_enter() or events_time_at() */
	/* a CPU whose data ends early ends with a loss, EVENT_LOST_REST, after its last event; not if `entered` */
	bool tells_ends;
	/* borrowed: its threads read ahead and decompress; NULL: the caller's thread does it in events_next() */
	struct pool *pool;
	/* another source of pages than the context's file; taken, also on failure; NULL: the file */
	struct source *source;
	/* Of running buffers, whose events are seen once: gets each before events_next() returns it. May be NULL. */
	void (*see)(void *arg, const struct event *event);
	void *see_arg;
	/* Called once for each id that the schema lacks; it may add the format to the schema. May be NULL. */
	void (*learn)(void *arg, uint16_t id);
	void *learn_arg;
};

int must_check events_open(const struct context *context, const struct events_options *options, struct events **ret,
			   struct fail *fail);
void events_free(struct events *events);

/* 1 and the next event, 0 at the end, -errno when nothing can go on. */
int must_check events_next(struct events *events, struct event *ret, struct fail *fail);

/*
 * The next events at once, up to `max`: returns their number, 0 at the end, -errno. The events are valid until the next
 * call or, with keep_blocks, as long as the caller has the blocks. Not for a caller that looks ahead.
 */
int must_check events_batch(struct events *events, struct event *ret, size_t max, struct fail *fail);

/*
 * For a live source: continues after events_next() returned 0 and the source got more pages;
 * lib/pages/stream/merge.h.
 */
void events_resume(struct events *events);

/*
 * Looks at the next event on the CPU of the last event without consuming it: 1, or 0 at the end of that CPU or before a
 * gap. Valid as long as the last event. events_skip() removes it from the stream.
 */
int events_peek(struct events *events, struct event *ret);
/*
 * Like events_peek(), but sets only type, data, len and the common fields: a faster call for the function graph, which
 * looks ahead often.
 */
bool events_peek_record(struct events *events, struct event *ret);
void events_skip(struct events *events);

/* Whether the event of events_peek() comes before the records of all other CPUs: events_next() would return it. */
bool events_follows(const struct events *events);

/*
 * The time of the next record of any CPU, or false at the end; gaps do not count. Call it only after events_peek() and
 * events_skip(), which then return nothing until the next event.
 */
bool events_next_ts(struct events *events, uint64_t *ret);

/*
 * For merging several streams: whether events_next() has an event now. *ret is its time; without an event, a time such
 * that no older event can come (UINT64_MAX: no event at all). events_peek() and events_skip() then return nothing until
 * the next event.
 */
bool events_due(struct events *events, uint64_t *ret);

/* A pointer to the number of bytes in the retired blocks, for a caller that checks it after each event. */
const size_t *events_held(const struct events *events);
/* The chain of blocks retired so far, in order; the caller now owns them and returns them with events_release(). */
struct block *events_retired(struct events *events);
void events_release(struct events *events, struct block *chain);

/* The time of the last event within the options, found without reading all events before it; 0 when there is none. */
int must_check events_end_time(const struct context *context, const struct events_options *options, uint64_t *ret,
			       struct fail *fail);

/*
 * For reading in slices of time (lib/meaning/reader/slices.h): a file's events, opened without a pool, can be entered
 * anywhere and as often as wanted. events_enter() goes to the pages that may hold ts (0: to the start) and hands out
 * these pages' events from their first one on. The caller has given all blocks back.
 */
bool events_can_enter(const struct events *events);
int must_check events_enter(struct events *events, uint64_t ts, struct fail *fail);
/* From the next events_enter() on, only this CPU is read; -1: all again. */
void events_only(struct events *events, int64_t cpu);
/*
 * events_next() returns 0 before events that are later than `last`, and goes on after another events_pause().
 * events_peek() and events_skip() see these events.
 */
void events_pause(struct events *events, uint64_t last);
/* The time at which part `part` of `parts` of a CPU's bytes in the file begins: 1, or 0 when there is none. */
int must_check events_time_at(struct events *events, size_t cpu_index, uint64_t part, uint64_t parts, uint64_t *ret,
			      struct fail *fail);
/*
 * Where each CPU stands: the same in two readers that are before the same events. Valid after events_next() returned 0.
 */
size_t events_nr_places(const struct events *events);
void events_places(const struct events *events, struct cursor_place *ret);
/*
 * Whether only a reader of all events can tell what comes here: there is damage, a text depends on all records before,
 * or a slice of so many has suspiciously many events.
 */
bool events_need_all(const struct events *events, uint64_t parts);

/* The first damage, in one line with CPU and offset; NULL when there was none. */
const char *events_damage(const struct events *events);

/* Events handed out or skipped so far. */
uint64_t events_count(const struct events *events);

/* The bound types that occurred: false after the last. */
bool events_type_at(const struct events *events, size_t index, const struct event_type **ret);

#endif
