// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/event_copies.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

void event_copies_release(struct event_copies *copies)
{
	free(copies->items);
	buf_release(&copies->records);
	*copies = (struct event_copies){ .items = NULL };
}

bool event_copies_add(struct event_copies *copies, const struct event *event, uint64_t number)
{
	struct event_copy *copy = vec_push(copies->items, copies->nr);

	if (!copy)
		return false;
	*copy = (struct event_copy){ .event = *event, .number = number, .at = copies->records.len };
	return buf_add(&copies->records, event->data, event->len);
}

struct event event_copies_at(const struct event_copies *copies, size_t index, uint64_t *ret_number)
{
	const struct event_copy *copy = &copies->items[index];
	struct event event = copy->event;

	event.data = (const uint8_t *)copies->records.data + copy->at;
	*ret_number = copy->number;
	return event;
}
