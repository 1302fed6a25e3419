/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_EVENT_CURSOR_INTERNAL_H
#define WEFT_SCREEN_VIEW_EVENT_CURSOR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"
#include "lib/screen/view/view.h"

struct apart_other;
struct fail;
struct out;
struct reader;

/*
 * The events of all buffers of a view from a time on, merged, with their places, the filters of the user, and their
 * text. It reads forward only. An event is valid until the next one is read.
 */
struct event_cursor;

/* Both times included. */
int must_check event_cursor_open(struct view *view, uint64_t since, uint64_t until, struct event_cursor **ret,
				 struct fail *fail);
/* For event_cursor_text() alone, of events that another reader of the view's buffers reads, which outlives it. */
int must_check event_cursor_beside(struct view *view, const struct reader *reader, struct event_cursor **ret,
				   struct fail *fail);
void event_cursor_free(struct event_cursor *event_cursor);

/* 1: *ret is the next event or gap; 0: there is none. What is damaged ends a buffer: event_cursor_damage(). */
int must_check event_cursor_next(struct event_cursor *event_cursor, struct event *ret, struct walk_place *ret_place,
				 struct fail *fail);

/* Whether the filters of the view let an event pass. To be called once for each event, in their order. */
bool event_cursor_keeps(struct event_cursor *event_cursor, const struct event *event);

/*
 * Whether the event that was kept, or found, last may have happened before one of another machine above it
 * (lib/meaning/clock/apart.h); and what is known beside each other machine, false after the last one.
 */
bool event_cursor_is_close(const struct event_cursor *event_cursor);
bool event_cursor_other(const struct event_cursor *event_cursor, const struct event *event, size_t index,
			struct apart_other *ret);

/* One more filter, that of a search: event_cursor_matches() is called as event_cursor_keeps(), for each event. */
int must_check event_cursor_search(struct event_cursor *event_cursor, const struct view_filter *filter,
				   struct fail *fail);
bool event_cursor_matches(struct event_cursor *event_cursor, const struct event *event);

/*
 * Makes the sinks for event_cursor_text(), which appends the lines of the event that was read last, as report prints
 * them, each with a newline, and escaped: nothing where the sink leaves the event out.
 */
int must_check event_cursor_print(struct event_cursor *event_cursor, bool color, struct fail *fail);
void event_cursor_text(struct event_cursor *event_cursor, struct event *event, struct out *out);
/* After event_cursor_print(): whether the text of an event depends on no other one. */
bool event_cursor_texts_alone(const struct event_cursor *event_cursor);

const char *event_cursor_damage(const struct event_cursor *event_cursor);

/* Reads the event of a place, or the first one after it: the cursor is then behind it. 0: there is none. */
int must_check event_cursor_find(struct view *view, struct walk_place place, struct event_cursor **ret_tape,
				 struct event *ret, struct walk_place *ret_place, struct fail *fail);

/* Whether a filter of the user can be used: the message says what is wrong with it. */
int must_check view_filter_check(struct view *view, const struct view_filter *filter, struct fail *fail);

#endif
