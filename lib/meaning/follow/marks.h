/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_MARKS_H
#define WEFT_MEANING_FOLLOW_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/mark.h"

struct event;

/*
 * The spans that marks begin and end (lib/meaning/event/mark.h): those of a thread are inside one another, the last one
 * that began ends first; those of a process have a track, or a name, and a cookie. What losses of events make uncertain
 * ends as MARKS_LOST: never a wrong pair. Memory is bounded by MARKS_OPEN_MAX spans.
 */
enum { MARKS_OPEN_MAX = 1 << 16 };

/* The same numbers as enum runs_end of lib/meaning/timeline. */
enum marks_end {
	MARKS_KNOWN,
	MARKS_LOST, /* it may have ended later */
	MARKS_OPEN, /* it goes on when the trace ends */
};

/* Texts have no NUL. */
struct marks_span {
	bool async; /* of a process; else of a thread */
	int32_t pid;
	int32_t tgid; /* as the mark says it; 0: it does not */
	uint32_t cpu; /* where it began */
	uint64_t start, to;
	enum marks_end end;
	uint32_t depth;           /* of a thread's: how many spans are around it */
	const char *name, *track; /* track NULL: that of the thread, or of the name */
	size_t name_len, track_len;
	int64_t cookie;
	void *note; /* marks_calls::note bytes, all zero at first, that belong to the consumer */
};

struct marks_calls {
	void *arg;
	size_t note;
	/* Either may be NULL. A span that ends is the one that began, with its note. */
	void (*begin)(void *arg, const struct marks_span *span);
	void (*end)(void *arg, const struct marks_span *span);
	/*
	 * A number that changes when it is not known what the thread did meanwhile. Of the thread of the event; after
	 * the last event NULL. NULL: after a loss on any CPU nothing is known of any thread.
	 */
	uint64_t (*unknown)(const void *arg, int32_t pid, const struct event *event);
};

struct marks {
	struct marks_calls calls;
	struct u64_map threads; /* struct marks_thread */
	struct u64_map asyncs;  /* struct marks_open, by a hash */
	size_t nr_open;
	uint64_t losses, last_loss;
	uint64_t *lost_from; /* of the first losses */
	size_t nr_lost_from;
	/* The numbers of ends without a begin, and of begins for which there was no room or whose key was open. */
	uint64_t unbegun, dropped, again;
	bool starved;
	/* For marks_take(): */
	struct u64_map sources; /* by buffer and event_type::index: struct mark_source; of none if it has no marks */
	struct out scratch;     /* of the text that is read; made at the first event */
};

void marks_init(struct marks *marks, const struct marks_calls *calls);
void marks_release(struct marks *marks);

/* Takes a mark of any kind, in order. */
void marks_see(struct marks *marks, const struct mark *mark, const struct event *event);
/* The same for any event: its mark if it has one, and a gap as a loss. */
void marks_take(struct marks *marks, const struct event *event);
/* Events were lost after the time `from`. */
void marks_lose(struct marks *marks, uint64_t from);
/* A new task has this PID: what the one before has not ended never ends. */
void marks_renew(struct marks *marks, int32_t pid, uint64_t ts);
/* Gives what is still open, after the last event. */
void marks_end(struct marks *marks, uint64_t ts);

/* Shows the spans that are open: those of each thread from the outermost on. */
void marks_each(const struct marks *marks, void (*see)(void *arg, const struct marks_span *span), void *arg);

static inline bool marks_starved(const struct marks *marks)
{
	return marks->starved || marks->threads.starved || marks->asyncs.starved || marks->sources.starved ||
	       marks->scratch.failed;
}

#endif
