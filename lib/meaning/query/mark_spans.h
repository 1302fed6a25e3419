/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_MARK_SPANS_H
#define WEFT_MEANING_QUERY_MARK_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct fail;

/*
 * When each thread and process was inside a span that it marked (lib/meaning/follow/marks.h) with one of some names:
 * of a thread what the thread did is inside, of a process what any of its threads did. One that was broken by lost
 * events lasts as long as it is known to; one that has not ended lasts to the end.
 */
struct mark_spans;

enum { MARK_SPANS_MAX = 1 << 22 };

/* An empty set for the globs, which are borrowed. NULL without memory. */
struct mark_spans *mark_spans_new(const char *const *globs, size_t nr_globs);
void mark_spans_free(struct mark_spans *spans);

/*
 * Adds those of a buffer, whose events are read for that. -E2BIG: there are too many. mark_spans_end(): after the last
 * buffer, before mark_spans_cover().
 */
int must_check mark_spans_add(struct mark_spans *spans, const struct context *context, struct fail *fail);
void mark_spans_end(struct mark_spans *spans);

/* Their number, and how long the longest one lasts, or is known to, in ns. */
size_t mark_spans_count(const struct mark_spans *spans);
uint64_t mark_spans_longest(const struct mark_spans *spans);

/* Whether a thread (of this process, 0: not known) was inside one at a moment from `from` to `to`. */
bool mark_spans_cover(const struct mark_spans *spans, int32_t pid, int32_t tgid, uint64_t from, uint64_t to);

#endif
