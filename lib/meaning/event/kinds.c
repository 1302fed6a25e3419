// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int kinds_init(struct kinds *kinds, size_t nr_buffers, void (*free)(void *kind))
{
	*kinds = (struct kinds){ .buffers = calloc(nr_buffers + 1, sizeof(*kinds->buffers)),
				 .nr_buffers = nr_buffers,
				 .free = free };
	return kinds->buffers ? 0 : -ENOMEM;
}

void kinds_release(struct kinds *kinds)
{
	for (size_t i = 0; kinds->buffers && i < kinds->nr_buffers; i++) {
		for (size_t j = 0; j < kinds->buffers[i].nr; j++)
			if (kinds->buffers[i].at[j])
				kinds->free(kinds->buffers[i].at[j]);
		free(kinds->buffers[i].at);
	}
	free(kinds->buffers);
	kinds->buffers = NULL;
}

bool kinds_set(struct kinds *kinds, const struct event *event, void *kind)
{
	struct kinds_buffer *buffer = &kinds->buffers[event->buffer];
	size_t index = event->type->index;

	if (index >= buffer->nr) {
		size_t nr = index + 64;
		void **at = reallocarray(buffer->at, nr, sizeof(*at));

		if (!at) {
			kinds->free(kind);
			return false;
		}
		memset(at + buffer->nr, 0, (nr - buffer->nr) * sizeof(*at));
		buffer->at = at;
		buffer->nr = nr;
	}
	buffer->at[index] = kind;
	return true;
}
