/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_IMPORTED_H
#define WEFT_MEANING_EVENT_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;

/*
 * What an imported text (lib/files/import) says about its graph: the graph of a tracer that measures latencies, such as
 * irqsoff, has that tracer's name in its header, and times in whole microseconds since the latency began.
 */

/* Returns the name of the tracer that printed the text, or of the one that made the recording; it is borrowed. */
const char *imported_tracer(const struct context *context, size_t *ret_len);

/*
 * Whether events of this name have only their text: lines of a form that import does not know, or cut ones. `name` is
 * the name of an event, or what it begins with and '*'.
 */
bool imported_lacks_fields(const struct context *context, const char *name);

bool imported_graph_is_relative(const struct context *context);

/* Returns how many lines of a function graph had no time: that of their events is made from order and durations. */
uint64_t imported_without_time(const struct context *context);

#endif
