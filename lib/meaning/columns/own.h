/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_OWN_H
#define WEFT_MEANING_COLUMNS_OWN_H

#include <stdbool.h>

#include "lib/meaning/columns/list.h"
#include "lib/meaning/columns/shape.h"

struct context;
struct event;

/*
 * The columns that every event has, whatever its type, and what they hold. column_own_shape() returns NULL for a column
 * that is not one of these.
 */
const struct column_shape *column_own_shape(enum column_what what);

/* The text of who.h; NULL: unknown. */
const char *column_who_text(enum column_what what, const struct context *context, const struct event *event);

/* The value of such a column; of a gap, only the time, the CPU, the instance, "lost" as its event, and its count. */
void column_own_read(enum column_what what, const struct context *context, const struct event *event,
		     struct column_value *ret);

#endif
