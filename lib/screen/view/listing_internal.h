/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_LISTING_INTERNAL_H
#define WEFT_SCREEN_VIEW_LISTING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/back.h"
#include "lib/screen/view/view.h"

struct fail;
struct event_cursor;

/*
 * A piece of the list of events around the cursor, which grows at both ends as the user moves, and is cut at the other
 * one, so memory does not follow from the size of the file. Forward it goes on reading where it was; backward it reads
 * windows of time, each before the last one and larger, and keeps their last rows.
 * Work ends when a key waits: `stopped`. It goes on from there the next time.
 */
struct row {
	struct walk_place place;
	uint16_t line; /* of the lines of one event, from 0 */
	uint16_t cpu, buffer;
	uint8_t kind; /* enum event_kind */
	bool close;   /* event_cursor_is_close() */
	uint16_t id;
	int32_t pid;
	char *text;
	uint32_t len;
};

enum { LISTING_SIDE_MAX = 4096 }; /* columns that lines can be moved sideways */

struct listing {
	struct view *view;
	struct row *rows;
	size_t nr;
	struct event_cursor *ahead; /* behind the last row; NULL: not open */
	struct back back;           /* from back.before to the first row everything was read */
	bool at_end, stopped;
};

void listing_init(struct listing *listing, struct view *view);
void listing_release(struct listing *listing);

/* Begins anew with the first event from this place on. */
int must_check listing_seek(struct listing *listing, struct walk_place place, struct fail *fail);
/* Reads on until there are so many more rows, or the end, or a key waits. */
int must_check listing_ahead(struct listing *listing, size_t rows, struct fail *fail);
int must_check listing_back(struct listing *listing, size_t rows, struct fail *fail);

/* The first row whose event is at the place or after it; listing->nr: none. */
size_t listing_find(const struct listing *listing, struct walk_place place);

#endif
