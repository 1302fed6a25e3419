/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_EVENT_SELECT_H
#define WEFT_KERNEL_TRACEFS_EVENT_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct buf;
struct fail;

/*
 * The events that this kernel can enable (available_events), grouped by system, in the kernel's order. The catalog does
 * not get events that appear later. Pointers into the catalog are valid until catalog_free().
 */
struct catalog_event {
	const char *system;
	const char *name;
};

struct catalog {
	struct catalog_event *events;
	size_t nr;
	char *text; /* the memory of all names */
};

/* A catalog of "system:event" lines; lines of another form are left out. Copies the text. */
int must_check catalog_of(const char *lines, struct catalog **ret, struct fail *fail);
int must_check catalog_new(const struct tracing *tracing, struct catalog **ret, struct fail *fail);
void catalog_free(struct catalog *catalog);

/* A set of events of one catalog. Zero is the empty set. */
struct event_set {
	const struct catalog *catalog;
	uint8_t *has; /* a byte for each event */
	size_t nr;
};

void event_set_release(struct event_set *set);
static inline bool event_set_has(const struct event_set *set, size_t index)
{
	return set->has && set->has[index];
}

/*
 * Adds the events that a pattern names: "system:event", "system/event", "system" (or "system:"), the bare name of an
 * event, globs in either part, "all", or a list of these separated by commas. A bare word means the system of that
 * name, or if there is none, the events of that name. -ENOENT with similar names: a pattern matches nothing.
 */
int must_check event_set_add(struct event_set *set, const struct catalog *catalog, const char *pattern,
			     struct fail *fail);
void event_set_subtract(struct event_set *set, const struct event_set *others);
/* Both sets must belong to the same catalog. */
int must_check event_set_union(struct event_set *set, const struct event_set *others, struct fail *fail);

/*
 * Appends the text of events/SYSTEM/EVENT/format; if this instance has no such event, that of the top one.
 * -ENOENT: neither has it.
 */
int must_check event_format(const struct instance *instance, const char *system, const char *name, struct buf *buf,
			    struct fail *fail);
/*
 * Calls `each` with the name of each event of events/ftrace. These events have formats but cannot be enabled. An
 * instance without them has those of the top instance. Returns
 * 0, or the first non-zero value of `each`.
 */
int must_check event_each_ftrace(const struct instance *instance, int (*each)(const char *name, void *data), void *data,
				 struct fail *fail);

#endif
