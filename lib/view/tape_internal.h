/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_TAPE_INTERNAL_H
#define WEFT_VIEW_TAPE_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/event/event.h"
#include "lib/view/view.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct out;

/*
 * The events of all buffers of a view from a time on, merged, with their places, the filters of the user, and their
 * text. It reads forward only. An event is valid until the next one is read.
 */
struct tape;

/* Both times included. */
int must_check tape_open(struct view *view, uint64_t since, uint64_t until, struct tape **ret, struct fail *fail);
void tape_free(struct tape *tape);

/* 1: *ret is the next event or gap; 0: there is none. What is damaged ends a buffer: tape_damage(). */
int must_check tape_next(struct tape *tape, struct event *ret, struct walk_place *ret_place, struct fail *fail);

/* Whether the filters of the view let an event pass. To be called once for each event, in their order. */
bool tape_keeps(struct tape *tape, const struct event *event);

/* One more filter, that of a search: tape_matches() is called as tape_keeps(), for each event. */
int must_check tape_search(struct tape *tape, const struct view_filter *filter, struct fail *fail);
bool tape_matches(struct tape *tape, const struct event *event);

/*
 * Makes the sinks for tape_text(), which appends the lines of the event that was read last, as report prints them, each
 * with a newline, and escaped: nothing where the sink leaves the event out.
 */
int must_check tape_print(struct tape *tape, bool color, struct fail *fail);
void tape_text(struct tape *tape, struct event *event, struct out *out);

const char *tape_damage(const struct tape *tape);

/* Reads the event of a place, or the first one after it: the tape is then behind it. 0: there is none. */
int must_check tape_find(struct view *view, struct walk_place place, struct tape **ret_tape, struct event *ret,
			 struct walk_place *ret_place, struct fail *fail);

/* Whether a filter of the user can be used: the message says what is wrong with it. */
int must_check view_filter_check(struct view *view, const struct view_filter *filter, struct fail *fail);

#endif
