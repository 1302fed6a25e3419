/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_MARK_AT_H
#define WEFT_MEANING_FOLLOW_MARK_AT_H

#include <stdint.h>

struct context;

/*
 * The name of the innermost span that a thread had marked and not ended at a time (lib/meaning/follow/marks.h); of
 * several marks at that time the last one counts. NULL: it was in none, or that is not known. Spans of processes are in
 * none of their threads.
 *
 * The events of the recording are read once, when the first question is asked. Memory grows with the number of spans,
 * MARK_AT_MAX at most; later ones are in no answer. Any thread may ask. The name lives as long as the context.
 */
enum { MARK_AT_MAX = 1 << 22 };
const char *mark_at(const struct context *context, int32_t pid, uint64_t ts);

#endif
