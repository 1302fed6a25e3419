/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_EVENT_SELECT_H
#define WEFT_TRACEFS_EVENT_SELECT_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;

/*
 * The events that this kernel can enable, by system (available_events). A snapshot: events that appear later are
 * not in it. Entries are grouped by system, in the kernel's order; pointers into it live as long as it does.
 */
struct catalog_event {
	const char *system;
	const char *name;
};

struct catalog {
	struct catalog_event *events;
	size_t nr;
	char *text; /* what the names point into */
};

int must_check catalog_new(const struct tracing *tracing, struct catalog **ret, struct fail *fail);
void catalog_free(struct catalog *catalog);

/* A set of events of one catalog. Zero is the empty one. */
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
 * Adds the events of a pattern: "system:event", "system/event", "system" (and "system:"), a bare event name, globs in either
 * part, "all", or several of these with commas. A bare word is a system where one has that name, else an event. -ENOENT: one of them
 * matches nothing; near names.
 */
int must_check event_set_add(struct event_set *set, const struct catalog *catalog, const char *pattern,
			     struct fail *fail);
void event_set_subtract(struct event_set *set, const struct event_set *others);
/* Both are of one catalog. */
int must_check event_set_union(struct event_set *set, const struct event_set *others, struct fail *fail);

/* Appends the text of events/SYSTEM/EVENT/format. -ENOENT when there is none. */
int must_check event_format(const struct instance *instance, const char *system, const char *name, struct buf *buf,
			    struct fail *fail);
/* The events of events/ftrace, which can't be enabled but have formats: each call of `each` gets one name. */
int must_check event_each_ftrace(const struct instance *instance, int (*each)(const char *name, void *data), void *data,
				 struct fail *fail);

#endif
