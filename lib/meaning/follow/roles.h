/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_ROLES_H
#define WEFT_MEANING_FOLLOW_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/event.h"

/*
 * A consumer's role for each type of event: a small number, looked up once by the names of the type. An event of one
 * name counts in one buffer only, the first in which it occurs: if several instances recorded the same event, it is
 * counted once.
 * Borrows the formats. 0 is ROLE_NONE: an event that the consumer does not use.
 */
enum { ROLE_NONE = 0, ROLES_MAX = 254 };

/* An array of these ends with a NULL name. Either part may end with '*'. */
struct role_name {
	const char *system, *name;
	uint8_t role; /* 1 to ROLES_MAX */
};

uint8_t role_named(const struct role_name *names, const struct format *format);

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

/* Looks up the role of a type. *ret_fresh: this is its first event. */
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
