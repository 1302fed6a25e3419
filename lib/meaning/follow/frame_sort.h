/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_FRAME_SORT_H
#define WEFT_MEANING_FOLLOW_FRAME_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol;
struct symbols;

/* What a function of the kernel is in a stack that was stored with an event. */
enum frame_sort { FRAME_OTHER, FRAME_TRACING, FRAME_SCHEDULER, FRAME_TIMERLAT, FRAME_TIMER, FRAME_FAULT };

enum frame_sort frame_sort(const struct symbol *symbol);

/*
 * Whether the event itself is in this frame, all inner ones having been so. *timer: the timer's interrupt is the event,
 * too; so it is for the tracer timerlat, whose frame sets it.
 */
bool frame_is_event(enum frame_sort sort, bool *timer);

/* How many of the frames, which begin with the innermost, belong to an event in the timer's interrupt. */
size_t frames_of_timer(const struct symbols *symbols, const uint64_t *addresses, size_t nr);

#endif
