/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_READER_H
#define WEFT_MEANING_READER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"

struct block;
struct context;
struct fail;
struct pool;
struct selection;
struct trace;

/*
 * Reads the events of any number of buffers as one stream: of one file, of several files, or of live sources. The order
 * is by time and then by the order in which the buffers were added; event::buffer is the index of the event's buffer.
 * Times of different clocks cannot be compared, so buffers with different clocks follow one another
 * (reader_is_merged()).
 *
 * Use: reader_add() each buffer; limit it in its struct reader_buffer; reader_start(); then reader_run(), or
 * reader_next() until it returns 0. A buffer with an error ends there; the other buffers go on, and the error is
 * returned at the end.
 *
 * Ownership: the reader owns contexts, selections and events, and borrows traces. An event is valid until the next one
 * is read.
 */
struct reader_buffer {
	struct context *context;
	/* since, until, CPUs, and a source, which the reader owns from then on */
	struct events_options window;
	/* the events to hand out; NULL: all. Gaps of lost events are always handed out */
	struct selection *selection;
	struct selection *shown; /* the events that reader_shows(); NULL: all */
	struct events *events;   /* valid after reader_start() */
	uint64_t skip;           /* number of events to skip first; set by reader_tail() */
	/* Private to the reader: */
	bool borrowed;      /* the context belongs to another reader */
	bool looked, ready; /* looked: `due` is valid; ready: the next event has been read */
	uint64_t due;       /* the time of the next event, or a time before which no event can come */
};

struct reader {
	struct reader_buffer *buffers;
	size_t nr_buffers;
	uint64_t skip; /* number of merged events to skip first; set by reader_tail() */
	bool limited;  /* set by reader_limit(): */
	uint64_t left; /* number of events that are still handed out */
	/* Private to the reader: */
	struct events *only; /* the events if there is only one buffer; NULL: there are several */
	bool apart;          /* the buffers have different clocks and follow one another */
	bool keeps_all;      /* there is no selection and nothing to skip */
	unsigned ahead;      /* reader_options::ahead */
	bool stopped;        /* set by reader_stop() */
	bool fails_at_once;
	bool tells_ends;      /* the caller asked for EVENT_LOST_REST */
	int failed;           /* error of the first buffer that failed, or 0 */
	struct fail *failure; /* its text */
};

struct reader_options {
	struct pool *pool; /* borrowed; its threads read ahead; NULL: the caller's thread reads */
	/* the caller takes retired blocks with reader_retired(); events stay valid until it gives the blocks back */
	bool keep_blocks;
	bool entered; /* the caller begins with reader_enter() */
	/*
	 * A CPU whose data ends early ends with a loss (EVENT_LOST_REST): for those who ask what each task did, and
	 * must not take what is missing for sleep.
	 */
	bool tells_ends;
	/*
	 * threads beside the caller's, of struct batches (lib/meaning/reader/batches.h) or fanout_run(): only they
	 * read
	 */
	unsigned ahead;
	/* the first error of a buffer ends the stream: for live sources, which never end by themselves */
	bool fails_at_once;
};

void reader_init(struct reader *reader);
void reader_release(struct reader *reader);

/*
 * Adds a buffer of a trace with all its events, as reader->buffers[nr_buffers - 1]. After an error the reader is
 * unchanged.
 */
int must_check reader_add(struct reader *reader, struct trace *trace, size_t buffer, struct fail *fail);
/* Adds those buffers of a trace that have events. */
int must_check reader_add_trace(struct reader *reader, struct trace *trace, struct fail *fail);
/*
 * Adds the buffers of another reader, but without what is selected of them; of their windows what is between both times
 * (included). Borrows their contexts: the other reader must outlive this one. Not for live sources.
 */
int must_check reader_share(struct reader *reader, const struct reader *other, uint64_t since, uint64_t until,
			    struct fail *fail);
/* Removes the buffer that was added last. Call it before reader_start(). */
void reader_drop(struct reader *reader);

/* What is known of the kernel that recorded an event, or lost it. */
static inline const struct context *reader_context(const struct reader *reader, const struct event *event)
{
	return reader->buffers[event->buffer].context;
}

/*
 * For a consumer that needs all events and counts some: whether this one is chosen. To be asked once for each event and
 * each loss, in their order, by one thread. reader_chooses() is the part for a reader that does not show all.
 */
bool reader_chooses(const struct reader_buffer *buffer, const struct event *event);

static inline bool reader_shows(const struct reader *reader, const struct event *event)
{
	const struct reader_buffer *buffer = &reader->buffers[event->buffer];

	return __builtin_expect(!buffer->shown, 1) || reader_chooses(buffer, event);
}

/* Limits the stream to the last `count` events of all buffers together. Call it before reader_start(). */
int must_check reader_tail(struct reader *reader, uint64_t count, struct fail *fail);

/*
 * Ends the stream after this many events; UINT64_MAX: not. Call it before reader_start(). Drivers that use
 * reader_step() count by themselves.
 */
void reader_limit(struct reader *reader, uint64_t count);

int must_check reader_start(struct reader *reader, const struct reader_options *options, struct fail *fail);

/* False: the buffers follow one another because their clocks differ. Valid after reader_start(). */
static inline bool reader_is_merged(const struct reader *reader)
{
	return !reader->apart;
}

/*
 * Returns 0 if all buffers are of one recording. -EINVAL: the file was merged from several, whose CPUs and tasks have
 * nothing to do with each other although their numbers are the same; `fail` names them.
 */
int must_check reader_is_of_one(const struct reader *reader, struct fail *fail);

/* 1: *ret is the next selected event; 0: there is none, or a live source may still bring an older one; -errno. */
int must_check reader_next(struct reader *reader, struct event *ret, struct fail *fail);

/*
 * The same for several events at once, at most `max`; returns their number. The events are valid until the next call.
 * For callers whose consumers neither stop the reader nor look ahead.
 */
int must_check reader_batch(struct reader *reader, struct event *ret, size_t max, struct fail *fail);

/*
 * For slices of time (lib/meaning/reader/slices.h): events_enter() and events_pause() of lib/meaning/event/events.h for
 * all buffers. reader_can_enter(): whether all can be entered, and are one stream.
 */
bool reader_can_enter(const struct reader *reader);
int must_check reader_enter(struct reader *reader, uint64_t ts, struct fail *fail);
void reader_pause(struct reader *reader, uint64_t last);
/* From the next reader_enter() on, only this CPU is read; -1: all again. */
void reader_only(struct reader *reader, int64_t cpu);

/* Continues after reader_next() returned 0, because live sources may have more events now. */
void reader_resume(struct reader *reader);

/* A consumer sees every event of a pass. It keeps its own notes about types, events and tasks. */
struct reader_consumer {
	void (*see)(void *arg, const struct event *event);
	void *arg;
};

/* Shows all events to all consumers in one pass. */
int must_check reader_run(struct reader *reader, const struct reader_consumer *consumers, size_t nr_consumers,
			  struct fail *fail);

/* For a consumer: ends the pass. reader_run() returns 0 after all consumers have seen this event. */
void reader_stop(struct reader *reader);

/* The first damage found in any buffer, and in *ret_path its file. NULL: none. */
const char *reader_damage(const struct reader *reader, const char **ret_path);
/* Whether a part of any file could not be read: one of its events, or what says where its pages are. */
bool reader_is_damaged(const struct reader *reader);
/* The number of events handed out or skipped so far. */
uint64_t reader_count(const struct reader *reader);

/*
 * For drivers that keep events. reader_step() returns the next event, selected or not. reader_keeps() then tells
 * whether it is selected; call it once for each event, because it counts skipped events. The bytes of a kept event are
 * in blocks that the reader retires later: reader_retired() gives them to the driver, one chain for each buffer, and
 * reader_give_back() takes them back.
 */
int must_check reader_step_merged(struct reader *reader, struct event *ret, struct fail *fail);
bool reader_wants(struct reader *reader, const struct event *event);
size_t reader_held_merged(const struct reader *reader);
void reader_retired(struct reader *reader, struct block **chains);
void reader_give_back(struct reader *reader, struct block **chains);

/* Whether an event that is not kept stands between the lines of kept ones: the sink is then shown it, too. */
bool reader_passes(const struct reader *reader, const struct event *event);

static inline int reader_step(struct reader *reader, struct event *ret, struct fail *fail)
{
	ret->buffer = 0;
	return __builtin_expect(reader->only != NULL, 1) ? events_next(reader->only, ret, fail) :
							   reader_step_merged(reader, ret, fail);
}

static inline bool reader_keeps(struct reader *reader, const struct event *event)
{
	return __builtin_expect(reader->keeps_all, 1) || reader_wants(reader, event);
}

#endif
