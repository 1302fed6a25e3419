/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_CALLS_WITHOUT_CALLER_H
#define WEFT_MEANING_TIMELINE_CALLS_WITHOUT_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CALLS_WITHOUT_CALLER_MAX: calls that wait for the end of their caller. */
enum { CALLS_WITHOUT_CALLER_MAX = 1 << 12 };

/* A call of which only the exit is in the trace. */
struct calls_without_caller_call {
	uint64_t func;
	uint64_t calltime, rettime; /* of the record, whatever the clock of the trace is */
	uint64_t start, end;        /* in the time of the trace */
	uint64_t from;              /* of calls_without_caller_from() */
	int32_t depth;
	uint16_t cpu;
	bool whole;
	uint32_t child, next; /* private: number + 1, of the calls inside it */
};

/* The calls of a track: those that wait for the end of their caller, and where a picture has room for them. */
struct calls_without_caller {
	struct calls_without_caller_call *calls; /* in the order of their ends */
	size_t nr;
	/* calls that have ended and whose caller has not, by depth; calls of one depth are one */
	struct calls_without_caller_ended {
		uint64_t start, end;
		int32_t depth;
	} * ended;
	size_t nr_ended, size_ended;
};

void calls_without_caller_release(struct calls_without_caller *uncalled);

/* False without memory. Not more than CALLS_WITHOUT_CALLER_MAX calls. */
bool calls_without_caller_add(struct calls_without_caller *uncalled, const struct calls_without_caller_call *call);

/* Notes any call of the track that ends, so that later ones do not cross it. False without memory. */
bool calls_without_caller_note(struct calls_without_caller *uncalled, int32_t depth, uint64_t start, uint64_t end);

/*
 * When a call that ends now and seems to have begun at `start` begins in a picture in which no call crosses another:
 * before the calls inside it, and not before the end of the one before it, nor before `least`. The kernel may take the
 * time in which a task slept off the start of a call. 0: there is no such time.
 */
uint64_t calls_without_caller_from(const struct calls_without_caller *uncalled, int32_t depth, uint64_t start,
				   uint64_t least);

struct calls_without_caller_calls {
	bool (*enter)(void *arg,
		      const struct calls_without_caller_call *call); /* false: neither the call nor those inside it */
	void (*leave)(void *arg, const struct calls_without_caller_call *call);
	void *arg;
};

/* Enters and leaves the calls that wait, the outer ones first, and forgets them. */
void calls_without_caller_put(struct calls_without_caller *uncalled, const struct calls_without_caller_calls *calls);

#endif
