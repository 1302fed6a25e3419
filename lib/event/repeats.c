// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/repeats.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* All calls of an interrupt have room. Of more, the last are kept. */
enum { REPEATS_MAX = 1 << 10 };

void repeats_release(struct repeats *repeats)
{
	free(repeats->log);
	free(repeats->open);
	*repeats = (struct repeats){ .log = NULL };
}

/* Returns the array with one more, or without memory as it was. */
static struct repeat *add(struct repeats *repeats, struct repeat *items, size_t *nr, const struct repeat *repeat)
{
	struct repeat *added;

	if (*nr == REPEATS_MAX) {
		*nr = REPEATS_MAX / 2;
		memmove(items, items + REPEATS_MAX - *nr, *nr * sizeof(*items));
	}
	added = vec_push(items, *nr);
	repeats->starved |= !added;
	if (added)
		*added = *repeat;
	return items;
}

static void wait_for(struct repeats *repeats, const struct repeat *repeat)
{
	repeats->open = add(repeats, repeats->open, &repeats->nr_open, repeat);
}

void repeats_forget(struct repeats *repeats, size_t place)
{
	size_t kept = 0;

	for (size_t i = 0; i < repeats->nr_open; i++)
		if (repeats->open[i].place != place)
			repeats->open[kept++] = repeats->open[i];
	repeats->nr_open = kept;
}

bool repeats_begin(struct repeats *repeats, size_t place, uint64_t func, bool in_interrupt)
{
	bool any = false;

	if (in_interrupt)
		return false;
	for (size_t i = 0; i < repeats->nr_log; i++) {
		struct repeat *repeat = &repeats->log[i];

		if (repeat->func != func || repeat->place)
			continue;
		if (!any)
			repeats_forget(repeats, place);
		any = true;
		repeat->place = place;
		repeat->before = true;
		wait_for(repeats, repeat);
	}
	repeats->nr_log = 0;
	return any;
}

void repeats_add(struct repeats *repeats, const struct repeat *repeat)
{
	/* A call contains those that it made: they are part of it, and not looked at by themselves. */
	if (repeat->place) {
		while (repeats->nr_open && repeats->open[repeats->nr_open - 1].place == repeat->place &&
		       !repeats->open[repeats->nr_open - 1].before &&
		       repeats->open[repeats->nr_open - 1].start >= repeat->start)
			repeats->nr_open--;
		wait_for(repeats, repeat);
		return;
	}
	repeats->log = add(repeats, repeats->log, &repeats->nr_log, repeat);
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

	for (size_t i = 0; i < repeats->nr_open; i++) {
		const struct repeat *repeat = &repeats->open[i];
		bool inside = repeat->start >= call->start && repeat->start < end;

		if (!place || repeat->place != place || inside != repeat->before)
			continue;
		sum(inside ? &found.inside : &found.outside, repeat);
	}
	for (size_t i = 0; !place && i < repeats->nr_log; i++)
		if (repeats->log[i].func == call->func && repeats->log[i].start >= call->start &&
		    repeats->log[i].start < end)
			sum(&found.inside, &repeats->log[i]);
	if (place)
		repeats_forget(repeats, place);
	return found;
}
