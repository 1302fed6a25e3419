/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_QUERY_FILTER_H
#define WEFT_QUERY_FILTER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct context;
struct event;
struct fail;
struct format;
struct near;

/*
 * The kernel's filter language (kernel/trace/trace_events_filter.c), asked of events that were recorded: comparisons of fields
 * with numbers, strings, globs and CPUS{LIST}; &&, ||, ! and parentheses. It is compiled once for each type of event into a program of
 * comparisons, each with the comparison to go on with; matching allocates nothing and looks up no name.
 * Not supported: .function, which needs the kernel's symbols; strings that only a pointer leads to, but where the event keeps a copy of it.
 * Borrows the format and the context.
 */
struct filter;

/* A filter may have as many comparisons, and parentheses as deep. */
enum { FILTER_TERMS_MAX = 256, FILTER_DEPTH_MAX = 64 };

/*
 * -ENOENT: the format has no such field; the names of its own are offered to `near`, which may be NULL. -EINVAL: the kernel would refuse
 * it as well, with the same words; below them stand the filter and a caret under the culprit.
 */
int must_check filter_new(const char *text, const struct format *format, const struct context *context,
			  struct near *near, struct filter **ret, struct fail *fail);
void filter_free(struct filter *filter);

bool filter_match(const struct filter *filter, const struct event *event);

#endif
