/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_FILTER_HINT_INTERNAL_H
#define WEFT_KERNEL_SETUP_FILTER_HINT_INTERNAL_H

#include <stdbool.h>

struct buf;
struct event_fields;

/*
 * A filter that the kernel accepts and that nearly never matches: `FIELD ~ "*TEXT"` compares TEXT with the last bytes
 * of the field, and in a field of a fixed size (comm, prev_comm[16]) these lie behind the end of the string
 * (regex_match_end() in trace_events_filter.c). A pattern with a second star goes to glob_match(), which ends at the
 * end of the string, and means the same.
 */

/*
 * Prints "FIELD ~ "**TEXT"", what the user should write instead, for the first such term of the filter, and returns
 * true. False: there is none, or no memory.
 */
bool filter_hint(const char *filter, const struct event_fields *fields, struct buf *buf);

#endif
