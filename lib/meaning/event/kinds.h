/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_KINDS_H
#define WEFT_MEANING_EVENT_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/event.h"

/*
 * A consumer's data for each type of event of each buffer: one pointer. The consumer defines the data; the kinds own
 * the array and free each entry. The types of a buffer are numbered from 0, so most arrays are short.
 */
struct kinds {
	struct kinds_buffer {
		void **at;
		size_t nr;
	} * buffers;
	size_t nr_buffers;
	void (*free)(void *kind);
};

/* `free` frees a kind. */
int must_check kinds_init(struct kinds *kinds, size_t nr_buffers, void (*free)(void *kind));
void kinds_release(struct kinds *kinds);

/* The kind of an event, or NULL as long as none was set. */
static inline void *kinds_find(const struct kinds *kinds, const struct event *event)
{
	const struct kinds_buffer *buffer = &kinds->buffers[event->buffer];

	return event->type->index < buffer->nr ? buffer->at[event->type->index] : NULL;
}

/* Takes ownership of a kind; false without memory: then the kind was freed. */
bool kinds_set(struct kinds *kinds, const struct event *event, void *kind);

#endif
