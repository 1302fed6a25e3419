/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_FILTER_H
#define WEFT_MEANING_QUERY_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct fail;
struct format;
struct near;

/*
 * The kernel's filter language (kernel/trace/trace_events_filter.c) on recorded events: comparisons of fields with
 * numbers, strings, globs and CPUS{LIST}; &&, ||, ! and parentheses. A filter is compiled once for each type of event
 * into a program of comparisons; each names the comparison to continue with. Matching allocates nothing and looks up no
 * name.
 * If the context has plugins, a name that is no field of the event is the field that a plugin decodes from it;
 * decoded.NAME is always that one. An event of which the plugin does not say it meets no comparison with it.
 * Not supported: .function, which needs the kernel's symbols; strings behind a pointer, unless the event holds a copy.
 * Borrows the format and the context.
 */
struct filter;

/* The largest number of comparisons, and the deepest nesting of parentheses. */
enum { FILTER_TERMS_MAX = 256, FILTER_DEPTH_MAX = 64 };

/*
 * -ENOENT: the format has no such field; the names of its fields are offered to `near`, which may be NULL. -EINVAL: the
 * kernel would also refuse the filter, with the same words; the next lines of the text are the filter and a caret under
 * the wrong part.
 */
int must_check filter_new(const char *text, const struct format *format, const struct context *context,
			  struct near *near, struct filter **ret, struct fail *fail);
/* -EINVAL: the text is no filter, whatever fields an event has. */
int must_check filter_check(const char *text, struct fail *fail);
void filter_free(struct filter *filter);

/* Whether the name of the task that runs is compared: comm, which is no field of the event. */
bool filter_needs_task(const struct filter *filter);

/* Offers the names of the format's fields, also of those that plugins decode. */
void filter_offer(const struct format *format, const struct context *context, struct near *near);

bool filter_match(const struct filter *filter, const struct event *event);

#endif
