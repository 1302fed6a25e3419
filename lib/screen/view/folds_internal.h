/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_FOLDS_INTERNAL_H
#define WEFT_SCREEN_VIEW_FOLDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/back.h"

struct event;
struct fail;
struct view;

/*
 * Which calls of function graphs are folded in the list of events: of a folded call only its first and its last line
 * are shown. A fold is the time between the two, so that it can be told of each event, whichever way one reads.
 * Only lines of the function graph are hidden; other events of the task stay.
 */
enum { FOLDS_MAX = 256 };

struct folds {
	struct fold {
		struct walk_place from, to; /* of the entry and the exit */
		uint16_t buffer, cpu;
		int32_t pid, depth;
		bool open; /* the call is unfolded, although all are folded */
	} at[FOLDS_MAX];
	size_t nr;
	bool all; /* only calls that no other one contains are shown, and what is open */
};

/* Whether the list leaves an event out. */
bool folds_hide(const struct folds *folds, const struct event *event, struct walk_place place);
/* Whether a call that begins here is folded by itself. */
bool folds_begin(const struct folds *folds, struct walk_place place);

/*
 * Folds the call whose entry or exit is at the cursor, or unfolds it, and moves the cursor to its entry. What cannot be
 * folded is told to the user.
 */
int must_check folds_toggle(struct folds *folds, struct view *view, struct fail *fail);

#endif
