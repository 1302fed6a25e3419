/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_QUERY_FILTER_SET_H
#define WEFT_QUERY_FILTER_SET_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct context;
struct event;
struct fail;

/*
 * Filters of the types of events that they are asked of: "EVENT: FILTER" of those that EVENT names, "FILTER" of all that have its fields.
 * An event meets the set when one of the filters of its type matches, and no negated one; without filters other than negated ones, the
 * rest does.
 * Borrows the context.
 */
struct filter_set;

int must_check filter_set_new(const struct context *context, struct filter_set **ret, struct fail *fail);
void filter_set_free(struct filter_set *set);

/* `negated`: what meets it is left out. -ENOENT: no event is called so, or none has the fields; -EINVAL: the filter is wrong. */
int must_check filter_set_add(struct filter_set *set, const char *text, bool negated, struct fail *fail);
bool filter_set_keep(const struct filter_set *set, const struct event *event);

#endif
