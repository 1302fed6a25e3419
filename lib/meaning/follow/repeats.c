// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

/* All calls of an interrupt have room. If there are more, the last are kept. */
enum { REPEATS_MAX = 1 << 10 };

void repeats_release(struct repeats *repeats)
{
	free(repeats->log.items);
	free(repeats->open.items);
	*repeats = (struct repeats){ .starved = false };
}

static void add(struct repeats *repeats, struct repeat_list *list, const struct repeat *repeat)
{
	struct repeat *added;

	if (list->nr == REPEATS_MAX) {
		list->nr = REPEATS_MAX / 2;
		memmove(list->items, list->items + REPEATS_MAX - list->nr, list->nr * sizeof(*list->items));
	}
	added = vec_push(list->items, list->nr);
	repeats->starved |= !added;
	if (added)
		*added = *repeat;
}

void repeats_forget(struct repeats *repeats, size_t place)
{
	size_t kept = 0;

	for (size_t i = 0; i < repeats->open.nr; i++)
		if (repeats->open.items[i].place != place)
			repeats->open.items[kept++] = repeats->open.items[i];
	repeats->open.nr = kept;
}

bool repeats_begin(struct repeats *repeats, size_t place, uint64_t func)
{
	bool any = false;

	for (size_t i = 0; i < repeats->log.nr; i++) {
		struct repeat *repeat = &repeats->log.items[i];

		if (repeat->func != func || repeat->place)
			continue;
		if (!any)
			repeats_forget(repeats, place);
		any = true;
		repeat->place = place;
		repeat->before = true;
		add(repeats, &repeats->open, repeat);
	}
	repeats->log.nr = 0;
	return any;
}

void repeats_add(struct repeats *repeats, const struct repeat *repeat)
{
	/* A call contains those that it made: they are part of it, and not looked at by themselves. */
	if (repeat->place) {
		while (repeats->open.nr && repeats->open.items[repeats->open.nr - 1].place == repeat->place &&
		       !repeats->open.items[repeats->open.nr - 1].before &&
		       repeats->open.items[repeats->open.nr - 1].start >= repeat->start)
			repeats->open.nr--;
		add(repeats, &repeats->open, repeat);
		return;
	}
	add(repeats, &repeats->log, repeat);
}

static void sum(struct repeat_sum *into, const struct repeat *repeat)
{
	into->calls++;
	into->lasted += repeat->lasted;
	into->interrupted += repeat->interrupted;
}

struct repeats_found repeats_end(struct repeats *repeats, size_t place, const struct repeat *call)
{
	struct repeats_found found = { .inside.calls = 0 };
	uint64_t end = call->start + call->lasted;

	for (size_t i = 0; i < repeats->open.nr; i++) {
		const struct repeat *repeat = &repeats->open.items[i];
		bool inside = repeat->start >= call->start && repeat->start < end;

		if (!place || repeat->place != place || inside != repeat->before)
			continue;
		sum(inside ? &found.inside : &found.outside, repeat);
	}
	for (size_t i = 0; !place && i < repeats->log.nr; i++)
		if (repeats->log.items[i].func == call->func && repeats->log.items[i].start >= call->start &&
		    repeats->log.items[i].start < end)
			sum(&found.inside, &repeats->log.items[i]);
	if (place)
		repeats_forget(repeats, place);
	return found;
}
