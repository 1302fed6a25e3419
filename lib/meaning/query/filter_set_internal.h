/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_FILTER_SET_INTERNAL_H
#define WEFT_MEANING_QUERY_FILTER_SET_INTERNAL_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct fail;

/*
 * Filters on recorded events: "EVENT: FILTER" for the events that EVENT names, "FILTER" for all events that have its
 * fields. An event meets the set when a filter of its type matches and no negated filter does; when there are only
 * negated filters, every other event meets it. Borrows the context, and calls context_lacks_memory() when memory runs
 * out. All filters are added before the first event.
 */
struct filter_set;

int must_check filter_set_new(const struct context *context, struct filter_set **ret, struct fail *fail);
void filter_set_free(struct filter_set *set);

/*
 * `negated`: events that match are left out. -ENOENT: no event has this name, or none has the fields; -EINVAL: the
 * filter is wrong.
 */
int must_check filter_set_add(struct filter_set *set, const char *text, bool negated, struct fail *fail);
/* -EINVAL: it is no filter, whatever fields a file has. */
int must_check filter_set_check(const char *text, struct fail *fail);
bool filter_set_keep(struct filter_set *set, const struct event *event);

#endif
