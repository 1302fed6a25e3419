/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_ROLES_H
#define WEFT_EVENT_ROLES_H

#include "lib/event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a consumer makes of the events of a reader: a small number for each type, looked up by its names once. An event of one name counts in
 * one buffer only, the first in which it occurs, so that a file whose instances recorded the same event does not tell it twice.
 * Borrows the formats. 0 is ROLE_NONE: an event that the consumer has no use for.
 */
enum { ROLE_NONE = 0, ROLES_MAX = 254 };

/* Ends with a name of NULL. Either part may end with '*'. */
struct role_name {
	const char *system, *name;
	uint8_t role; /* 1 to ROLES_MAX */
};

struct roles {
	const struct role_name *names;
	struct roles_buffer {
		uint8_t *at; /* by event_type::index: the role + 1; 0: not looked up */
		size_t nr;
	} * buffers;
	size_t nr_buffers;
	struct roles_owner {
		const struct format *format;
		uint16_t buffer;
	} * owners;
	size_t nr_owners;
	bool failed; /* no memory: events were left out */
};

void roles_init(struct roles *roles, const struct role_name *names);
void roles_release(struct roles *roles);

/* Looks a type up. *ret_fresh: the role was found now. */
uint8_t roles_look_up(struct roles *roles, const struct event *event, bool *ret_fresh);

/* The role of an EVENT_RECORD. *ret_fresh: it is the first event of its type, whose places can be bound. */
static inline uint8_t roles_of(struct roles *roles, const struct event *event, bool *ret_fresh)
{
	uint16_t index = event->type->index;

	if (__builtin_expect(event->buffer < roles->nr_buffers, 1)) {
		const struct roles_buffer *buffer = &roles->buffers[event->buffer];

		if (__builtin_expect(index < buffer->nr && buffer->at[index], 1)) {
			*ret_fresh = false;
			return (uint8_t)(buffer->at[index] - 1);
		}
	}
	return roles_look_up(roles, event, ret_fresh);
}

#endif
