/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_READER_READER_H
#define WEFT_READER_READER_H

#include "lib/base/cleanup.h"
#include "lib/event/event.h"
#include "lib/event/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct context;
struct fail;
struct pool;
struct selection;
struct trace;

/*
 * One door to the events of any number of buffers: of one file or of several, or of sources that are still filled. They come as one
 * stream, by (time, buffer in the order in which they were added), and event::buffer says whose each is. Times of different clocks cannot
 * be compared: buffers that have them follow one another (reader_is_merged()).
 * Use: reader_add() each buffer; narrow what is wanted in its struct reader_buffer; reader_start(); then reader_run(), or
 * reader_next() again and again. A buffer that fails later ends there; the others go on, and the failure comes at the end.
 * Ownership: the reader owns contexts, selections and events, and borrows traces. Events are valid until the next one.
 */
struct reader_buffer {
	struct context *context;
	struct events_options
		window; /* since, until, CPUs; a source of its own, which is the reader's once it is here */
	struct selection *selection; /* the events wanted; NULL: all. Gaps are always handed out */
	struct events *events;       /* from reader_start() on */
	uint64_t skip;               /* events to leave out first; reader_tail() sets it */
	/* The reader's own: */
	bool looked, ready; /* whether `due` is known; whether an event is there */
	uint64_t due;       /* when that happened, or a time such that nothing older can come */
};

struct reader {
	struct reader_buffer *buffers;
	size_t nr_buffers;
	uint64_t skip; /* of the merged events, the first to leave out; reader_tail() sets it */
	/* The reader's own: */
	struct events *only; /* of the only buffer; NULL: there are several */
	bool apart;          /* the clocks differ */
	bool keeps_all;      /* no selection, nothing to skip */
	bool stopped;        /* reader_stop() */
	bool fails_at_once;
	int failed;           /* of the first buffer that failed; 0 */
	struct fail *failure; /* its words */
};

struct reader_options {
	struct pool *pool; /* borrowed: reads ahead; NULL: the caller's thread reads */
	bool keep_blocks;  /* the caller takes retired blocks, and events are valid until it gives them back */
	bool fails_at_once; /* the first buffer that fails ends all, as it should where the others have no end of their own */
};

void reader_init(struct reader *reader);
void reader_release(struct reader *reader);

/* Adds a buffer of a trace, all of it; reader->buffers[nr_buffers - 1] then. On failure the reader is as before. */
int must_check reader_add(struct reader *reader, struct trace *trace, size_t buffer, struct fail *fail);
/* Adds those of a trace that have events. */
int must_check reader_add_trace(struct reader *reader, struct trace *trace, struct fail *fail);
/* Takes the last one out again. Only before reader_start(). */
void reader_drop(struct reader *reader);

/* Leaves the last `count` of the events that all buffers together would give. Before reader_start(). */
int must_check reader_tail(struct reader *reader, uint64_t count, struct fail *fail);

int must_check reader_start(struct reader *reader, const struct reader_options *options, struct fail *fail);

/* False when the buffers follow one another, for their clocks differ. From reader_start() on. */
static inline bool reader_is_merged(const struct reader *reader)
{
	return !reader->apart;
}

/* 1 and the next event that is wanted; 0: there is none, or none that is known to be next, of sources that may bring more; -errno. */
int must_check reader_next(struct reader *reader, struct event *ret, struct fail *fail);

/* After 0: more may have come. */
void reader_resume(struct reader *reader);

/* Somebody who sees every event of a pass. What a consumer knows of types, events and tasks is its own. */
struct reader_consumer {
	void (*see)(void *arg, const struct event *event);
	void *arg;
};

/* Shows all events to all consumers, in one pass. */
int must_check reader_run(struct reader *reader, const struct reader_consumer *consumers, size_t nr_consumers,
			  struct fail *fail);

/* From a consumer: no more events are needed, reader_run() returns 0 once all consumers have seen this one. */
void reader_stop(struct reader *reader);

/* The first damage met in any buffer, with the file it is in; NULL. */
const char *reader_damage(const struct reader *reader, const char **ret_path);
/* Events handed out or passed over so far. */
uint64_t reader_count(const struct reader *reader);

/*
 * For drivers that hold events: the next event whether it is wanted or not, and whether it is. Each event is asked about once.
 * What they hold is the bytes of retired blocks, which they take as a chain for each buffer and give back later.
 */
int must_check reader_step_merged(struct reader *reader, struct event *ret, struct fail *fail);
bool reader_wants(struct reader *reader, const struct event *event);
size_t reader_held_merged(const struct reader *reader);
void reader_retired(struct reader *reader, struct block **chains);
void reader_give_back(struct reader *reader, struct block **chains);

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
