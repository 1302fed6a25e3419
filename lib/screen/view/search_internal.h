/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_SEARCH_INTERNAL_H
#define WEFT_SCREEN_VIEW_SEARCH_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"
#include "lib/screen/view/view.h"

struct fail;
struct event_cursor;
struct slices;

/* What is looked for: asked about each event that the filters let pass, or with `all` about each one. */
struct search {
	bool (*wants)(void *arg, struct event_cursor *event_cursor, struct event *event);
	/* Is called whenever reading begins anew, as it does for each window of time backward; or NULL. */
	int (*begin)(void *arg, struct event_cursor *event_cursor, struct fail *fail);
	void *arg;
	bool all;
	uint64_t most;    /* events that are read at most; 0: all */
	const char *what; /* for the line of progress */
	/*
	 * Forward, before the cursor is read: looks from a time on with all CPUs. 1: *ret is the time of the first one;
	 * 0: there is none; -ECANCELED: a key waits, and up to *ret there is none; -EAGAIN: only the cursor can tell.
	 * NULL: nobody looks.
	 */
	int (*ahead)(void *arg, struct view *view, uint64_t since, uint64_t *ret);
};

struct search_found {
	struct walk_place place;
	struct event event;        /* without its bytes and its type */
	char name[64];             /* of its type; "": a gap */
	struct walk_place stopped; /* how far it looked */
};

/*
 * The next event behind the place, or before it. 1: found; 0: there is none; -ECANCELED: a key waits, or `most` events
 * were read; ret->stopped is set then.
 */
int must_check search_find(struct view *view, struct walk_place from, bool forward, const struct search *search,
			   struct search_found *ret, struct fail *fail);

/* What `/` was given: a text, or a filter as "-f EXPRESSION". Goes to the next one, or says that there is none. */
int must_check search_text(struct view *view, const char *text, bool forward, struct fail *fail);

/* Whether a line has the text; `any_case`: the text has no capitals, and the line may have them. */
bool search_has(const char *line, size_t len, const char *text, bool any_case);
/* What search::ahead says of a text. */
int must_check search_ahead(struct view *view, uint64_t since, const char *text, bool any_case, uint64_t *ret);
/* The same in these slices, whose reader has the buffers of the view. */
int must_check search_slices(struct view *view, const struct slices *slices, const char *text, bool any_case,
			     uint64_t *ret);

/* Goes to the next event of the same type ('t'), task ('p') or CPU ('c'). */
int must_check search_alike(struct view *view, char what, bool forward, struct fail *fail);

/*
 * Goes to where the task with this PID, on the machine of the context, next, or last, got a CPU later than so many ns
 * after its waking.
 */
int must_check search_late(struct view *view, const struct context *context, int32_t pid, uint64_t ns, bool forward,
			   struct fail *fail);

/*
 * Returns 1 if the event at `waking` began the wakeup after which the task of the context's machine came to do what is
 * at the other place.
 */
int must_check search_woke(struct view *view, const struct context *context, struct walk_place waking,
			   struct walk_place at, int32_t pid, struct fail *fail);

/* Goes to what was found, or says that there is nothing: `r` is what search_find() returned. */
int must_check search_go(struct view *view, int r, const struct search_found *found, bool forward, const char *what,
			 struct fail *fail);
struct search_found search_found_of(struct walk_place place, const struct event *event);

/* Reads what an option of report is: "-f EXPRESSION", "-e EVENT", "--pid N"; a text without a dash is an expression. */
bool search_option(const char *text, struct view_filter *ret);

#endif
